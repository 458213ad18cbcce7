import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING_YET, heardOf } from "./live";

const event = (seq: number) => ({ v: 1, seq, turn: 0, t_ms: seq, type: "speech_started" });
const rest = { is_over: false, problem: null };
const seqs = ({ legs }: ReturnType<typeof heardOf>) => legs.map((log) => log.map(({ seq }) => seq));

test("a watched call is what its messages tell, in order and once, for each agent", () => {
  let watched = heardOf(NOTHING_YET, { legs: [[event(1), event(3)]], ...rest });
  watched = heardOf(watched, { legs: [[event(2), { v: 9 }], [event(1)]], ...rest });
  assert.deepEqual(seqs(watched), [[1, 2, 3], [1]]);
  // A stream that broke off begins again.
  watched = heardOf(watched, {
    legs: [[event(1), event(2), event(3)], []],
    ...rest,
    is_over: true,
  });
  assert.deepEqual(seqs(watched), [[1, 2, 3], [1]]);
  assert.equal(watched.is_over, true);
});
