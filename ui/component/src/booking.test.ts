import assert from "node:assert/strict";
import { test } from "node:test";

import { nights, shown } from "./booking";

test("a date is shown with its weekday, the same in every time zone", () => {
  assert.equal(shown("check_in", "2026-10-18"), "Sun, 18 Oct 2026");
});

test("a value that is no date is shown as it is", () => {
  assert.equal(shown("check_in", "next week"), "next week");
  assert.equal(shown("check_in", "2026-99-99"), "2026-99-99");
  assert.equal(shown("room_type", "double"), "Double");
  assert.equal(shown("guests", 2), "2");
});

test("nights are counted over months and clock changes", () => {
  assert.equal(nights("2026-10-16", "2026-10-20"), 4);
  assert.equal(nights("2026-10-24", "2026-11-01"), 8);
});

test("nights that cannot be counted are not guessed", () => {
  assert.equal(nights("2026-10-16", null), null);
  assert.equal(nights("2026-10-16", "2026-10-16"), null);
  assert.equal(nights("2026-10-16", "2026-10-12"), null);
});
