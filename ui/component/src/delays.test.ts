import assert from "node:assert/strict";
import { test } from "node:test";

import { chart, measured, median, seconds, summary } from "./delays";
import { callOf, heard, speaking, spoken } from "./testing";

const FRAME = { left: 30, top: 10, width: 300, height: 100 };
const call = callOf(
  [0, speaking(null, null)],
  [0, spoken("Welcome.")],
  [1, heard("Hello.", 2_000)],
  [1, speaking(500, 1_000)],
  [2, heard("Two guests.", null)],
  [3, heard("Yes.", 1_000)],
  [3, speaking(700, null)],
);

test("a delay is read in seconds, and a dash where it was not measured", () => {
  assert.equal(seconds(1_234), "1.23 s");
  assert.equal(seconds(0), "0.00 s");
  assert.equal(seconds(null), "–");
});

test("turns are counted as the caller took them; those without figures are left out", () => {
  assert.deepEqual(
    measured(call).map(({ number }) => number),
    [1, 3],
  );
});

test("a median is of the turns that were measured, and says of how many", () => {
  assert.equal(median([]), null);
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.deepEqual(summary(measured(call), "final_to_speech_ms"), {
    latest: 700,
    median: 600,
    count: 2,
  });
  assert.deepEqual(summary(measured(call), "gap_ms"), { latest: null, median: 1_000, count: 1 });
});

test("bars stand on the axis, as high as their delay, within the frame", () => {
  const { bars, ticks } = chart(measured(call), FRAME);
  const bottom = FRAME.top + FRAME.height;
  for (const bar of bars) {
    assert.ok(Math.abs(bar.y + bar.height - bottom) < 1e-9);
    assert.ok(bar.y >= FRAME.top && bar.x >= FRAME.left);
    assert.ok(bar.x + bar.width <= FRAME.left + FRAME.width);
  }
  const [two_s, half_s] = [bars[0]!, bars[1]!];
  assert.ok(Math.abs(two_s.height / half_s.height - 4) < 1e-9);
  assert.equal(ticks[0]?.y, bottom);
  assert.equal(ticks.at(-1)?.y, FRAME.top);
});

test("what was not measured has no bar", () => {
  const drawn = chart(measured(call), FRAME).bars.map(({ turn, field }) => `${turn} ${field}`);
  assert.ok(drawn.includes("3 final_to_speech_ms"));
  assert.ok(!drawn.includes("3 gap_ms"));
});
