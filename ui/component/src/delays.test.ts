import assert from "node:assert/strict";
import { test } from "node:test";

import { chart, latestTurn, measured, median, seconds, summary } from "./delays";
import { callOf, heard, parts, speaking, spoken } from "./testing";

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

test("a column is as high as its gap, of parts that stand on each other", () => {
  const split = callOf(
    [1, heard("Hello.", 2_000)],
    [1, speaking(500, 1_000, parts({ end_of_speech: 300, first_token: 500, unexplained: 200 }))],
    [2, heard("Two guests.", null)],
    [2, speaking(200, 500)],
  );
  const { bars, ticks } = chart(measured(split), {}, FRAME);
  const bottom = FRAME.top + FRAME.height;
  const column = (turn: number) => bars.filter((bar) => bar.turn === turn);
  assert.deepEqual(
    column(1).map(({ key, kind }) => [key, kind]),
    [
      ["end_of_speech", "hearing"],
      ["first_token", "wording"],
      ["unexplained", "unexplained"],
    ],
  );
  const height = (turn: number) => column(turn).reduce((sum, bar) => sum + bar.height, 0);
  assert.ok(Math.abs(height(1) / height(2) - 2) < 1e-9);
  for (const turn of [1, 2]) {
    assert.ok(Math.abs(column(turn)[0]!.y + column(turn)[0]!.height - bottom) < 1e-9);
    assert.ok(column(turn).at(-1)!.y >= FRAME.top);
    assert.ok(column(turn)[0]!.x + column(turn)[0]!.width <= FRAME.left + FRAME.width);
  }
  assert.equal(ticks[0]?.y, bottom);
});

test("what was not measured has no bar, and a gap without parts is one whole", () => {
  const drawn = chart(measured(call), {}, FRAME).bars;
  assert.deepEqual(
    drawn.map(({ turn, key }) => `${turn} ${key}`),
    ["1 gap"],
  );
});

test("a gap that was heard here is a line in its turn's column", () => {
  const { heard: lines, bars } = chart(measured(call), { "0.1": 1_040, "0.9": 5 }, FRAME);
  assert.deepEqual(
    lines.map(({ turn, ms }) => [turn, ms]),
    [[1, 1_040]],
  );
  assert.ok(lines[0]!.y < bars[0]!.y);
});

test("the turn that is shown is the last of which words were heard", () => {
  assert.equal(latestTurn(callOf([0, speaking()])), null);
  assert.equal(latestTurn(call)?.number, 3);
  assert.equal(latestTurn(callOf([1, heard("Yes.")], [2, { type: "speech_started" }]))?.number, 1);
});
