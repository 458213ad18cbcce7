import assert from "node:assert/strict";
import { test } from "node:test";

import { completeTo, hasGap, merge } from "./log";
import { events } from "./testing";

const four = events(
  [0, { type: "speech_started" }],
  [0, { type: "speech_ended" }],
  [1, { type: "speech_started" }],
  [1, { type: "speech_ended" }],
);
const at = (...seqs: number[]) => seqs.map((seq) => four[seq - 1]!);
const seqs = (log: readonly { seq: number }[]) => log.map(({ seq }) => seq);

test("events come to their places whatever the order that they arrive in", () => {
  assert.deepEqual(seqs(merge(merge([], at(4, 1)), at(3, 2))), [1, 2, 3, 4]);
});

test("an event that comes twice is kept once", () => {
  const log = merge([], at(1, 2, 2));
  assert.deepEqual(seqs(log), [1, 2]);
  assert.equal(merge(log, at(1, 2)), log);
});

test("a gap is found, at the beginning too, and where it begins", () => {
  const known = (...here: number[]) => [completeTo(at(...here)), hasGap(at(...here))];
  assert.deepEqual(known(), [0, false]);
  assert.deepEqual(known(1, 2, 3), [3, false]);
  assert.deepEqual(known(2, 3), [0, true]);
  assert.deepEqual(known(1, 2, 4), [2, true]);
});
