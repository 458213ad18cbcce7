import assert from "node:assert/strict";
import { test } from "node:test";

import { parts } from "./testing";
import { NO_MOMENTS, readParts, segments, total } from "./waterfall";

const shown = (...args: Parameters<typeof segments>) =>
  segments(...args).map(({ key, from_ms, ms, growing }) => [key, from_ms, ms, growing]);

test("parts are those of their gap, or none", () => {
  const told = { end_of_speech: 200, first_audio: 310.5, network: null, unexplained: 90 };
  const read = readParts(told, 600);
  assert.equal(read?.first_audio, 310.5);
  assert.equal(read?.network, null);
  assert.equal(read?.playout, null); // untold is unknown, not zero
  for (const [bad, gap_ms] of [
    [told, 700],
    [told, null],
    [{ ...told, check: -5 }, 600],
    [{ ...told, check: "5" }, 600],
    ["told", 600],
    [null, 600],
  ] as const)
    assert.equal(readParts(bad, gap_ms), null, JSON.stringify(bad));
});

test("each part begins where the one before it ended, and all end with the gap", () => {
  const gap = parts({ end_of_speech: 200, end_of_turn: 100, network: null, unexplained: 50 });
  const drawn = segments(gap, NO_MOMENTS);
  assert.deepEqual(
    drawn.filter(({ ms }) => ms !== 0).map(({ key, from_ms, ms }) => [key, from_ms, ms]),
    [
      ["end_of_speech", 0, 200],
      ["end_of_turn", 200, 100],
      ["network", 300, null],
      ["unexplained", 300, 50],
    ],
  );
  assert.equal(total(drawn), 350);
});

test("a turn's segments appear as its events do, and the last one grows", () => {
  const ended = { ...NO_MOMENTS, speech_ended: 1_000 };
  assert.deepEqual(shown(null, NO_MOMENTS, 1_500), []);
  assert.deepEqual(shown(null, ended, 1_200), [["final_transcript", 0, 200, true]]);
  const final = { ...ended, final_transcript: 1_300 };
  assert.deepEqual(shown(null, final, 1_400), [
    ["final_transcript", 0, 300, false],
    ["reply_started", 300, 100, true],
  ]);
  const started = { ...final, reply_started: 1_350 };
  assert.deepEqual(shown(null, started, 1_400).at(-1), ["agent_speaking", 350, 50, true]);
  assert.deepEqual(shown(null, { ...started, agent_speaking: 1_900 }).at(-1), [
    "agent_speaking",
    350,
    550,
    false,
  ]);
});

test("a reply that was begun before the final words took no time of its own", () => {
  const moments = { speech_ended: 1_000, final_transcript: 1_300, reply_started: 1_100 };
  assert.deepEqual(shown(null, { ...moments, agent_speaking: 1_500 }), [
    ["final_transcript", 0, 300, false],
    ["reply_started", 300, 0, false],
    ["agent_speaking", 300, 200, false],
  ]);
});

test("a step that nobody told of belongs to the next, and a silent end grows no more", () => {
  const moments = { ...NO_MOMENTS, speech_ended: 1_000, final_transcript: 1_300 };
  assert.deepEqual(shown(null, { ...moments, agent_speaking: 2_000 }), [
    ["final_transcript", 0, 300, false],
    ["agent_speaking", 300, 700, false],
  ]);
  assert.deepEqual(shown(null, moments), [["final_transcript", 0, 300, false]]);
});
