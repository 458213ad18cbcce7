import assert from "node:assert/strict";
import { test } from "node:test";

import { type Words, lines } from "./captions";
import { NEW_CALL } from "./call";
import { callOf, heard, speaking, spoken } from "./testing";

const words = (text: string, turn: string | null, more: Partial<Words> = {}): Words => ({
  segment: `SG_${text}`,
  text,
  final: false,
  turn,
  after: 0,
  ...more,
});
const read = (...parts: Parameters<typeof lines>) =>
  lines(...parts).map(({ who, text, live }) => `${who}${live ? "…" : ":"} ${text}`);

test("the agent's words show as they come, before any event tells of them", () => {
  assert.deepEqual(read(NEW_CALL, [words("Good after", "0.0")], []), ["hotel… Good after"]);
  assert.deepEqual(read(NEW_CALL, [words("Good after", null)], []), ["hotel… Good after"]);
});

test("what was spoken replaces the words that came with the voice", () => {
  const stream = [words("A double room, on", "0.1")];
  assert.deepEqual(read(callOf([1, heard("Hello.")], [1, speaking()]), stream, []), [
    "guest: Hello.",
    "hotel… A double room, on",
  ]);
  const call = callOf([1, heard("Hello.")], [1, speaking()], [1, spoken("A double room,", true)]);
  assert.deepEqual(read(call, stream, []), ["guest: Hello.", "hotel: A double room,"]);
  assert.equal(lines(call, stream, [])[1]?.interrupted, true);
});

test("a second thing said in the same turn follows the first", () => {
  const call = callOf([1, heard("Hello.")], [1, spoken("One moment.")]);
  const stream = [words("One moment.", "0.1"), words("We have", "0.1", { after: 1 })];
  assert.deepEqual(read(call, stream, []), [
    "guest: Hello.",
    "hotel: One moment.",
    "hotel… We have",
  ]);
});

test("words stay where the timeline does not tell what was spoken", () => {
  const call = callOf([1, heard("Hello.")], [1, spoken("")]);
  assert.deepEqual(read(call, [words("Welcome.", "0.1", { final: true })], []), [
    "guest: Hello.",
    "hotel: Welcome.",
  ]);
});

test("typed words stand after the turn they followed, until the timeline has them", () => {
  const typed = [{ id: "t", text: "Two guests", after: "0.0" }];
  const before = callOf([0, spoken("Welcome.")], [1, spoken("For how many?")]);
  assert.deepEqual(read(before, [], typed), [
    "hotel: Welcome.",
    "guest: Two guests",
    "hotel: For how many?",
  ]);
  const after = callOf([0, spoken("Welcome.")], [1, heard("Two guests")]);
  assert.deepEqual(read(after, [], typed), ["hotel: Welcome.", "guest: Two guests"]);
});

test("a partial that never became final is not live for ever", () => {
  const call = callOf([1, { type: "partial_transcript", text: "Hm" }], [2, heard("Two.")]);
  assert.deepEqual(read(call, [], []), ["guest: Hm", "guest: Two."]);
});

test("an empty transcript is no line", () => {
  assert.deepEqual(read(callOf([1, { type: "partial_transcript", text: "" }]), [], []), []);
});
