import assert from "node:assert/strict";
import { test } from "node:test";

import { isOfOtherVersion, readEvent, readSnapshot } from "./timeline";

const line = (fields: object): string =>
  JSON.stringify({ v: 1, seq: 3, turn: 1, t_ms: 120.5, wall: "2026-10-01T10:00:00Z", ...fields });

test("an event is read with its own fields", () => {
  assert.deepEqual(
    readEvent(line({ type: "agent_speaking", final_to_speech_ms: 640, gap_ms: 1180.5 })),
    {
      seq: 3,
      turn: 1,
      t_ms: 120.5,
      type: "agent_speaking",
      final_to_speech_ms: 640,
      gap_ms: 1180.5,
      waterfall: null,
    },
  );
});

test("what cannot be true is left out, and said", () => {
  const speaking = (fields: object) => readEvent(line({ type: "agent_speaking", ...fields }))!;
  const late = speaking({ gap_ms: 200_000, final_to_speech_ms: -1 });
  assert.equal((late as { gap_ms: unknown }).gap_ms, null);
  assert.deepEqual(late.impossible, ["final_to_speech_ms of -1", "gap_ms of 200000"]);
  const unequal = speaking({ gap_ms: 900, waterfall: { end_of_speech: 100 } });
  assert.equal((unequal as { waterfall: unknown }).waterfall, null);
  assert.deepEqual(unequal.impossible, ["a waterfall that is not the gap's"]);
  assert.equal(speaking({ gap_ms: null, waterfall: null }).impossible, undefined);
});

test("a duration that was not measured is unknown, not zero", () => {
  for (const gap_ms of [null, undefined, "12", -5, "NaN"])
    assert.equal(
      (readEvent(line({ type: "agent_speaking", gap_ms })) as { gap_ms: unknown }).gap_ms,
      null,
    );
});

test("a type of a later day keeps its place in the sequence", () => {
  assert.deepEqual(readEvent(line({ type: "avatar_ready" })), {
    seq: 3,
    turn: 1,
    t_ms: 120.5,
    type: "unknown",
  });
});

test("what is no event of this version is refused", () => {
  for (const bad of [
    "",
    "not json",
    "[]",
    "null",
    line({ v: 2 }),
    line({ seq: 0 }),
    line({ seq: 1.5 }),
    line({ turn: "1" }),
  ])
    assert.equal(readEvent(bad), null, bad);
});

test("an event of another version is told apart from what is no event", () => {
  assert.equal(isOfOtherVersion(line({ v: 2 })), true);
  for (const other of [line({}), line({ seq: 0 }), "", "[]", '{"seq": 1}'])
    assert.equal(isOfOtherVersion(other), false, other);
});

test("fields of the wrong shape do not reach the screen", () => {
  assert.deepEqual(
    readEvent(
      line({
        type: "booking_updated",
        booking: { check_in: { year: 2026 }, guests: 2, admin: true },
        missing: ["guest_name", "password"],
        changes: [{ field: "guests", new: 2, words: "" }, { field: "admin" }, 7],
      }),
    ),
    {
      seq: 3,
      turn: 1,
      t_ms: 120.5,
      type: "booking_updated",
      booking: {
        check_in: null,
        check_out: null,
        guests: 2,
        room_type: null,
        guest_name: null,
        reference: null,
      },
      missing: ["guest_name"],
      changes: [{ field: "guests", old: null, new: 2, words: null }],
    },
  );
});

test("a snapshot's page tells its events and where the next begins", () => {
  const page = { events: [JSON.parse(line({ type: "speech_started" })), { v: 9 }], next_seq: 4 };
  const { events, next_seq } = readSnapshot(JSON.stringify(page));
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [3],
  );
  assert.equal(next_seq, 4);
  assert.deepEqual(readSnapshot("broken"), { events: [], next_seq: null });
});
