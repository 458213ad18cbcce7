import assert from "node:assert/strict";
import { test } from "node:test";

import { BLOCK_MS, Gaps, Pairing } from "./heard";

const QUIET = -65;
const VOICE = -20;

type Spans = readonly (readonly [from_ms: number, to_ms: number])[];

/** The gaps that are found where each side sounds in these spans. */
function found(caller: Spans, agent: Spans, room_dbfs = QUIET) {
  const gaps = new Gaps();
  const until_ms = 6_000;
  const level = (spans: Spans, at_ms: number, quiet_dbfs: number): number =>
    spans.some(([from, to]) => at_ms >= from && at_ms < to) ? VOICE : quiet_dbfs;
  const heard = [];
  for (let at_ms = 0; at_ms < until_ms; at_ms += BLOCK_MS) {
    const caller_dbfs = level(caller, at_ms, room_dbfs);
    const one = { at_ms, caller_dbfs, agent_dbfs: level(agent, at_ms, QUIET) };
    heard.push(gaps.hear(one));
  }
  return heard.filter((gap) => gap !== null);
}

test("a gap is from the caller's last audible block to the agent's first", () => {
  assert.deepEqual(found([[1_000, 2_000]], [[2_730, 4_000]]), [{ at_ms: 2_730, gap_ms: 730 }]);
});

test("pauses between words end nothing, and the agent's own pauses begin nothing", () => {
  const caller: Spans = [
    [1_000, 1_400],
    [1_550, 2_000],
  ];
  const agent: Spans = [
    [2_500, 3_000],
    [3_600, 4_200],
  ];
  assert.deepEqual(found(caller, agent), [{ at_ms: 2_500, gap_ms: 500 }]);
});

test("a click is no sound", () => {
  assert.deepEqual(
    found(
      [
        [1_000, 2_000],
        [2_300, 2_320],
      ],
      [[2_600, 3_000]],
    ),
    [{ at_ms: 2_600, gap_ms: 600 }],
  );
  assert.deepEqual(found([[1_000, 2_000]], [[2_300, 2_320]]), []);
});

test("in a loud room, what stands out of its noise is what the caller says", () => {
  const spans: Spans = [[1_000, 2_000]];
  assert.deepEqual(found(spans, [[2_730, 4_000]], -40), [{ at_ms: 2_730, gap_ms: 730 }]);
});

test("a greeting and a caller who still speaks have no gap", () => {
  assert.deepEqual(found([], [[500, 1_500]]), []);
  assert.deepEqual(found([[1_000, 3_000]], [[2_000, 2_800]]), []);
});

test("what was heard before a hole counts no more", () => {
  const gaps = new Gaps();
  for (let at_ms = 0; at_ms < 500; at_ms += BLOCK_MS)
    gaps.hear({ at_ms, caller_dbfs: VOICE, agent_dbfs: QUIET });
  gaps.forget();
  for (let at_ms = 9_000; at_ms < 9_500; at_ms += BLOCK_MS)
    assert.equal(gaps.hear({ at_ms, caller_dbfs: QUIET, agent_dbfs: VOICE }), null);
});

test("a gap finds its turn, whichever comes first, and each only once", () => {
  const gap = { at_ms: 10_000, gap_ms: 700 };
  const sound_first = new Pairing();
  assert.equal(sound_first.heard(gap), null);
  assert.deepEqual(sound_first.answered("0.1", 9_900), gap);
  assert.equal(sound_first.answered("0.2", 10_100), null);
  const word_first = new Pairing();
  assert.equal(word_first.answered("0.1", 9_900), null);
  assert.equal(word_first.heard(gap), "0.1");
  assert.equal(word_first.heard({ ...gap, at_ms: 10_200 }), null);
  const apart = new Pairing();
  assert.equal(apart.answered("0.1", 5_000), null);
  assert.equal(apart.heard(gap), null);
});
