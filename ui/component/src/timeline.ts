/**
 * The timeline contract as the page reads it (the writer's side is agent/timeline/events.py).
 *
 * Everything here came over the network, so each field is read with its type checked. A duration
 * that is absent or not a number is null: unknown is never zero.
 */

import { type Parts, readParts } from "./waterfall";

export const TOPIC = "voice.timeline";
export const SNAPSHOT_METHOD = "timeline.snapshot";
export const VERSION = 1;

export const FIELDS = [
  "check_in",
  "check_out",
  "guests",
  "room_type",
  "guest_name",
  "reference",
] as const;
export type Field = (typeof FIELDS)[number];
export type Value = string | number;
export type Component = "stt" | "llm" | "tts" | "session";

export interface Change {
  field: Field;
  old: Value | null;
  new: Value | null;
  /** The caller's own words that the value was heard in. */
  words: string | null;
}

export type Body =
  | { type: "call_started"; call_id: string | null }
  | { type: "speech_started" }
  | { type: "partial_transcript"; text: string }
  | { type: "speech_ended" }
  | { type: "final_transcript"; text: string; speech_to_final_ms: number | null }
  | { type: "reply_started"; source: string | null }
  | {
      type: "agent_speaking";
      final_to_speech_ms: number | null;
      gap_ms: number | null;
      /** What the gap was spent on; null where it was not told, or cannot be true. */
      waterfall: Parts | null;
    }
  | { type: "agent_stopped"; text: string; interrupted: boolean }
  | { type: "interrupted" }
  | {
      type: "booking_updated";
      booking: Partial<Record<Field, Value | null>>;
      missing: Field[];
      changes: Change[];
    }
  | { type: "reply_replaced"; reason: string; text: string }
  | { type: "component_error"; component: Component; message: string; recoverable: boolean }
  | { type: "call_ended"; reason: string }
  /** A type that this page does not know: it keeps its place in the sequence and shows nothing. */
  | { type: "unknown" };

export type TimelineEvent = {
  seq: number;
  turn: number;
  t_ms: number;
  /** What it tells that cannot be true, and is left out. */
  impossible?: readonly string[];
} & Body;

/** No caller waits two minutes for an answer: a longer delay is a clock that was set. */
const MAX_DELAY_MS = 120_000;
const DELAYS = ["silence_to_final_ms", "final_to_speech_ms", "gap_ms"];
const DURATIONS = [...DELAYS, "speech_to_final_ms"];

type Json = Record<string, unknown>;

/** One event from a data packet or a snapshot, or null when it is none of this version. */
export function readEvent(source: unknown): TimelineEvent | null {
  const data = typeof source === "string" ? parse(source) : source;
  if (!isObject(data) || data.v !== VERSION) return null;
  const { seq, turn, t_ms } = data;
  if (!isCount(seq) || seq < 1 || !isCount(turn) || typeof t_ms !== "number") return null;
  const event = { seq, turn, t_ms, ...readBody(data) };
  const impossible = impossibleOf(data, event);
  return impossible.length === 0 ? event : { ...event, impossible };
}

/** What an event tells that cannot be true. What is null was not measured, and is no such thing. */
function impossibleOf(data: Json, body: Body): string[] {
  const told = (name: string): boolean => data[name] !== null && data[name] !== undefined;
  const found = DURATIONS.filter((name) => told(name) && duration(data[name]) === null);
  const late = DELAYS.filter((name) => (duration(data[name]) ?? 0) > MAX_DELAY_MS);
  const unequal =
    body.type === "agent_speaking" && told("waterfall") && body.waterfall === null
      ? ["a waterfall that is not the gap's"]
      : [];
  return [...[...found, ...late].map((name) => `${name} of ${String(data[name])}`), ...unequal];
}

/** Whether this is an event, but of another version than this page reads. */
export function isOfOtherVersion(source: string): boolean {
  const data = parse(source);
  return isObject(data) && "v" in data && data.v !== VERSION;
}

/** One page of a snapshot: its events and the sequence number to go on from, null at the end. */
export function readSnapshot(reply: string): { events: TimelineEvent[]; next_seq: number | null } {
  const data = parse(reply);
  if (!isObject(data) || !Array.isArray(data.events)) return { events: [], next_seq: null };
  return {
    events: data.events.map(readEvent).filter((event) => event !== null),
    next_seq: isCount(data.next_seq) ? data.next_seq : null,
  };
}

function readBody(data: Json): Body {
  switch (data.type) {
    case "speech_started":
    case "speech_ended":
    case "interrupted":
      return { type: data.type };
    case "call_started":
      return { type: data.type, call_id: typeof data.call_id === "string" ? data.call_id : null };
    case "partial_transcript":
      return { type: data.type, text: text(data.text) };
    case "final_transcript":
      return {
        type: data.type,
        text: text(data.text),
        speech_to_final_ms: duration(data.speech_to_final_ms),
      };
    case "reply_started":
      return { type: data.type, source: typeof data.source === "string" ? data.source : null };
    case "agent_speaking": {
      const gap_ms = delay(data.gap_ms);
      return {
        type: data.type,
        final_to_speech_ms: delay(data.final_to_speech_ms),
        gap_ms,
        waterfall: readParts(data.waterfall, gap_ms),
      };
    }
    case "agent_stopped":
      return { type: data.type, text: text(data.text), interrupted: data.interrupted === true };
    case "booking_updated":
      return {
        type: data.type,
        booking: readBooking(data.booking),
        missing: Array.isArray(data.missing) ? data.missing.filter(isField) : [],
        changes: Array.isArray(data.changes) ? data.changes.flatMap(readChange) : [],
      };
    case "reply_replaced":
      return { type: data.type, reason: text(data.reason), text: text(data.text) };
    case "component_error":
      return {
        type: data.type,
        component: isComponent(data.component) ? data.component : "session",
        message: text(data.message),
        recoverable: data.recoverable === true,
      };
    case "call_ended":
      return { type: data.type, reason: text(data.reason) };
    default:
      return { type: "unknown" };
  }
}

function readBooking(data: unknown): Partial<Record<Field, Value | null>> {
  if (!isObject(data)) return {};
  return Object.fromEntries(FIELDS.map((field) => [field, value(data[field])]));
}

function readChange(data: unknown): Change[] {
  if (!isObject(data) || !isField(data.field)) return [];
  return [
    {
      field: data.field,
      old: value(data.old),
      new: value(data.new),
      words: typeof data.words === "string" && data.words !== "" ? data.words : null,
    },
  ];
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

const isObject = (data: unknown): data is Json =>
  typeof data === "object" && data !== null && !Array.isArray(data);
const isCount = (data: unknown): data is number => Number.isInteger(data) && (data as number) >= 0;
const isField = (data: unknown): data is Field => FIELDS.includes(data as Field);
const isComponent = (data: unknown): data is Component =>
  ["stt", "llm", "tts", "session"].includes(data as string);
const text = (data: unknown): string => (typeof data === "string" ? data : "");
const duration = (data: unknown): number | null =>
  typeof data === "number" && Number.isFinite(data) && data >= 0 ? data : null;
const delay = (data: unknown): number | null => {
  const ms = duration(data);
  return ms === null || ms > MAX_DELAY_MS ? null : ms;
};
const value = (data: unknown): Value | null =>
  typeof data === "string" || typeof data === "number" ? data : null;
