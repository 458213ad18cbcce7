import assert from "node:assert/strict";
import { test } from "node:test";

import { endBetween, reading } from "./network";

const stats = (delay_s: number, emitted: number) => [
  { type: "candidate-pair", nominated: false, currentRoundTripTime: 9 },
  { type: "candidate-pair", nominated: true, currentRoundTripTime: 0.02 },
  { type: "inbound-rtp", jitterBufferDelay: delay_s, jitterBufferEmittedCount: emitted },
];

test("what the jitter buffer holds is of the samples that came out in between", () => {
  const [before, now] = [reading(stats(4_800, 48_000))!, reading(stats(8_640, 96_000))!];
  assert.deepEqual(endBetween(before, now), { round_trip_ms: 20, jitter_buffer_ms: 80 });
  assert.equal(endBetween(now, now), null);
});

test("a figure that is missing makes none", () => {
  assert.equal(reading(stats(1, 1).slice(0, 2)), null);
  assert.equal(reading(stats(1, 1).slice(2)), null);
});
