import assert from "node:assert/strict";
import { test } from "node:test";

import {
  besides,
  callAfter,
  clock,
  knownAt,
  markAt,
  placeOf,
  seqAt,
  stateAt,
  tapeOf,
  wordsAt,
} from "./player";
import { heard, speaking, spoken } from "./testing";
import type { Body, TimelineEvent } from "./timeline";

const at = (t_ms: number, turn: number, body: Body) => ({ t_ms, turn, body });
const tape = tapeOf(
  [
    at(100, 0, { type: "call_started", call_id: "c" }),
    at(1_000, 0, speaking()),
    at(3_000, 0, spoken("Good day to you.")),
    at(5_000, 1, { type: "speech_started" }),
    at(6_000, 1, heard("Two guests.", 1_000)),
    at(5_800, 1, { type: "speech_ended" }), // told late
    at(6_700, 1, speaking(700, 900)),
    at(9_000, 1, spoken("Two guests.")),
    at(9_500, 2, { type: "speech_started" }),
    at(10_000, 2, { type: "call_ended", reason: "user" }),
  ].map(({ t_ms, turn, body }, index): TimelineEvent => ({ seq: index + 1, turn, t_ms, ...body })),
);

test("what is told late is known when it was told, and not before", () => {
  assert.equal(knownAt(tape, 5_900), 4);
  assert.equal(knownAt(tape, 6_000), 6);
  assert.equal(tape.length_ms, 10_000);
});

test("a moment shows what was known then, and nothing later", () => {
  assert.deepEqual(
    callAfter(tape, knownAt(tape, 5_500)).turns.map(({ heard }) => heard),
    [null, null],
  );
  const later = callAfter(tape, knownAt(tape, 6_800));
  assert.equal(later.turns[1]?.heard?.text, "Two guests.");
  assert.equal(later.turns[1]?.delays.gap_ms, 900);
  assert.deepEqual(later.turns[1]?.spoken, []);
});

test("the agent's words come while it speaks, and stand once it has spoken", () => {
  assert.deepEqual(wordsAt(tape, 500), []);
  assert.equal(wordsAt(tape, 2_000)[0]?.text, "Good day");
  assert.equal(wordsAt(tape, 2_999)[0]?.text, "Good day to you.");
  assert.deepEqual(wordsAt(tape, 3_000), []);
});

test("the state is that of the moment", () => {
  const state = (at_ms: number) => stateAt(callAfter(tape, knownAt(tape, at_ms)), at_ms, tape);
  assert.deepEqual([50, 1_500, 5_500, 6_200, 7_000, 10_000].map(state), [
    "connecting",
    "speaking",
    "listening",
    "thinking",
    "speaking",
    "ended",
  ]);
});

test("a link leads to its event, else to its turn, else to the beginning", () => {
  assert.equal(placeOf(tape, { turn: 0, seq: 7 }), 6_700);
  assert.equal(placeOf(tape, { turn: 1, seq: null }), 5_000);
  assert.equal(placeOf(tape, { turn: 1, seq: 99 }), 5_000);
  assert.equal(placeOf(tape, { turn: 9, seq: null }), 0);
  assert.equal(placeOf(tape, null), 0);
  assert.equal(seqAt(tape, 6_800), 7);
  assert.equal(seqAt(tape, 0), null);
});

test("turns are counted as people count them, with the gap of each", () => {
  assert.deepEqual(
    tape.marks.map(({ turn, number, gap_ms }) => [turn, number, gap_ms]),
    [
      [0, null, null],
      [1, 1, 900],
      [2, null, null],
    ],
  );
  assert.equal(markAt(tape, 5_001)?.turn, 1);
  assert.equal(markAt(tape, 50), null);
});

test("one step goes to the next turn, or back to the one before", () => {
  assert.equal(besides(tape, 200, 1), 5_000);
  assert.equal(besides(tape, 9_800, 1), 10_000);
  assert.equal(besides(tape, 8_000, -1), 5_000);
  assert.equal(besides(tape, 5_400, -1), 100);
});

test("a moment is shown in minutes and seconds", () => {
  assert.deepEqual([0, 65_400, -5].map(clock), ["0:00", "1:05", "0:00"]);
});
