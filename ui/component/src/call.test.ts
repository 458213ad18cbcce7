import assert from "node:assert/strict";
import { test } from "node:test";

import { fold } from "./call";
import { andThen, callOf, events, heard, parts, speaking, spoken } from "./testing";
import type { Body } from "./timeline";

const booked = (
  values: Extract<Body, { type: "booking_updated" }>["booking"],
  changes: Extract<Body, { type: "booking_updated" }>["changes"] = [],
): Body => ({ type: "booking_updated", booking: values, missing: [], changes });

test("a partial evolves into the final, and goes on where the caller does", () => {
  const partial = callOf([1, { type: "partial_transcript", text: "I would" }]);
  assert.deepEqual(partial.turns[0]?.heard, { text: "I would", final: false });
  const final = andThen(partial, 1, heard("I would like a room."));
  assert.deepEqual(final.turns[0]?.heard, { text: "I would like a room.", final: true });
  const more = andThen(final, 1, { type: "partial_transcript", text: "I would like a room. For" });
  assert.deepEqual(more.turns[0]?.heard, { text: "I would like a room. For", final: false });
});

test("a partial that came to nothing is taken back when the agent answers", () => {
  const call = callOf(
    [1, heard("Two guests.")],
    [1, { type: "partial_transcript", text: "Two guests. Hm" }],
    [1, speaking()],
  );
  assert.deepEqual(call.turns[0]?.heard, { text: "Two guests.", final: true });
});

test("each turn carries its own delays, and keeps unknown what was not measured", () => {
  const call = callOf([1, heard("Two.", 900)], [1, speaking(600, 1_100)], [2, heard("Yes.", null)]);
  assert.deepEqual(
    call.turns.map((turn) => turn.delays),
    [
      { speech_to_final_ms: 900, final_to_speech_ms: 600, gap_ms: 1_100 },
      { speech_to_final_ms: null, final_to_speech_ms: null, gap_ms: null },
    ],
  );
});

test("a reply that pauses and goes on is timed by its first sound", () => {
  const call = callOf([1, speaking(600, 1_100)], [1, spoken("One.")], [1, speaking(4_000, 5_000)]);
  assert.equal(call.turns[0]?.delays.gap_ms, 1_100);
});

test("a corrected value keeps the one before it, and other values stand", () => {
  const call = callOf(
    [1, booked({ check_in: "2026-10-16", guests: 2 })],
    [
      2,
      booked({ check_in: "2026-10-18", guests: 2 }, [
        { field: "check_in", old: "2026-10-16", new: "2026-10-18", words: "the eighteenth" },
      ]),
    ],
  );
  assert.deepEqual(call.booking.check_in, {
    value: "2026-10-18",
    previous: "2026-10-16",
    words: "the eighteenth",
    revision: 2,
  });
  assert.deepEqual(call.booking.guests, { value: 2, previous: null, words: null, revision: 1 });
});

test("a value that was taken back is open again", () => {
  const call = callOf([1, booked({ guests: 2 })], [2, booked({ guests: null })]);
  assert.deepEqual(call.booking.guests, { value: null, previous: 2, words: null, revision: 2 });
});

test("a component's trouble is over when it works again, and not before", () => {
  const broken = callOf(
    [1, { type: "component_error", component: "stt", message: "reset", recoverable: true }],
    [1, { type: "component_error", component: "tts", message: "refused", recoverable: true }],
  );
  assert.deepEqual(Object.keys(broken.troubles), ["stt", "tts"]);
  assert.deepEqual(Object.keys(andThen(broken, 1, heard("Yes.")).troubles), ["tts"]);
  assert.deepEqual(Object.keys(andThen(broken, 1, speaking()).troubles), ["stt"]);
});

test("a language model's trouble is not over because code gave the answer, but with the turn", () => {
  const broken = callOf([
    1,
    { type: "component_error", component: "llm", message: "late", recoverable: true },
  ]);
  const bySource = (source: string) =>
    Object.keys(andThen(broken, 1, { type: "reply_started", source }).troubles);
  assert.deepEqual(bySource("code"), ["llm"]);
  assert.deepEqual(bySource("llm"), []);
  assert.deepEqual(Object.keys(andThen(broken, 2, heard("Yes.")).troubles), []);
});

test("a second agent's turns follow the first's, and the request stays", () => {
  const first = events([1, heard("Two guests.")], [1, booked({ guests: 2 })]);
  const second = events([0, spoken("I am back.")], [1, heard("A double.")]);
  const call = fold([first, second]);
  assert.deepEqual(
    call.turns.map(({ key }) => key),
    ["0.1", "1.0", "1.1"],
  );
  assert.equal(call.booking.guests.value, 2);
});

test("a turn has the moments of its last silence, and the parts of its first answer", () => {
  const went_on = callOf(
    [1, { type: "speech_started" }],
    [1, { type: "speech_ended" }],
    [1, heard("Two")],
    [1, { type: "speech_started" }],
  );
  assert.equal(went_on.turns[0]?.moments.speech_ended, null);
  const gap = parts({ end_of_speech: 500 });
  const call = callOf(
    [1, { type: "speech_ended" }], // at 0 ms, and each other 100 ms later
    [1, heard("Two guests.")],
    [1, { type: "reply_started", source: "code" }],
    [1, speaking(400, 500, gap)],
    [1, { type: "speech_ended" }],
    [1, speaking(400, 900, parts({ end_of_speech: 900 }))],
  );
  assert.deepEqual(call.turns[0]?.moments, {
    speech_ended: 0,
    final_transcript: 100,
    reply_started: 200,
    agent_speaking: 300,
  });
  assert.equal(call.turns[0]?.waterfall, gap);
  assert.deepEqual(call.told, { leg: 0, t_ms: 500 });
});

test("what cannot be true is told with its turn", () => {
  const call = fold([
    [{ seq: 1, turn: 2, t_ms: 0, impossible: ["gap_ms of 200000"], ...speaking() }],
  ]);
  assert.deepEqual(call.impossible, ["turn 2: gap_ms of 200000"]);
});
