/** The booking request in a caller's words. */

import type { Field, Value } from "./timeline";

export const LABELS: Record<Field, string> = {
  check_in: "Check-in",
  check_out: "Check-out",
  guests: "Guests",
  room_type: "Room",
  guest_name: "Name",
  reference: "Reference",
};

const DATE = /^\d{4}-\d{2}-\d{2}$/;
// A date of the contract has no time and no zone, so none may move it to another day.
const LONG = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** A value as it is shown: a date with its weekday, a room type with a capital. */
export function shown(field: Field, value: Value): string {
  if (typeof value === "string" && DATE.test(value)) {
    const date = new Date(`${value}T00:00:00Z`);
    return Number.isNaN(date.getTime()) ? value : LONG.format(date);
  }
  if (field === "room_type") return String(value).replace(/^./, (first) => first.toUpperCase());
  return String(value);
}

/** The nights between two dates of the contract, or null where there are none to count. */
export function nights(check_in: Value | null, check_out: Value | null): number | null {
  const count = (Date.parse(String(check_out)) - Date.parse(String(check_in))) / 86_400_000;
  return Number.isInteger(count) && count > 0 ? count : null;
}
