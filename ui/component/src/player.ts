/** A recorded call as a thing that plays: what has happened by a moment. No I/O and no clock. */

import { bisectRight } from "d3-array";

import type { Words } from "./captions";
import { type Call, fold, turnKey } from "./call";
import type { AgentState } from "./screen";
import type { TimelineEvent } from "./timeline";

export const SPEEDS = [1, 4] as const;
export type Speed = (typeof SPEEDS)[number];

export interface Mark {
  turn: number;
  /** When the turn began. */
  at_ms: number;
  /** The number people count by, from 1; null where nothing was heard of the caller. */
  number: number | null;
  gap_ms: number | null;
}

export interface Tape {
  events: readonly TimelineEvent[];
  /** When each event became known: some tell of what was a moment before. Never decreases. */
  arrivals: readonly number[];
  length_ms: number;
  marks: readonly Mark[];
}

export function tapeOf(events: readonly TimelineEvent[]): Tape {
  let latest_ms = 0;
  const arrivals = events.map(({ t_ms }) => (latest_ms = Math.max(latest_ms, t_ms)));
  return { events, arrivals, length_ms: latest_ms, marks: marksOf(events, arrivals) };
}

/** How many events are known at a moment. */
export const knownAt = (tape: Tape, at_ms: number): number => bisectRight(tape.arrivals, at_ms);

/** The call as far as these many events tell it. */
export const callAfter = (tape: Tape, known: number): Call => fold([tape.events.slice(0, known)]);

/**
 * What the agent is saying at a moment, word by word.
 *
 * A recording has what was spoken and from when to when, and not the moment of each word: they are
 * spread evenly.
 */
export function wordsAt(tape: Tape, at_ms: number): Words[] {
  const known = knownAt(tape, at_ms);
  const spoken = tape.events.slice(0, known);
  const begun = spoken.findLastIndex(({ type }) => type === "agent_speaking");
  if (begun === -1 || spoken.slice(begun).some(({ type }) => type === "agent_stopped")) return [];
  const { turn, seq } = tape.events[begun]!;
  const end = tape.events.findIndex(
    (event, index) => index > begun && event.type === "agent_stopped",
  );
  const stopped = tape.events[end];
  if (stopped?.type !== "agent_stopped" || stopped.turn !== turn) return [];
  const [from_ms, to_ms] = [tape.arrivals[begun]!, tape.arrivals[end]!];
  const words = stopped.text.trim().split(/\s+/);
  const share = to_ms > from_ms ? (at_ms - from_ms) / (to_ms - from_ms) : 1;
  const text = words.slice(0, Math.ceil(words.length * share)).join(" ");
  if (text === "") return [];
  const after = spoken.filter((one) => one.type === "agent_stopped" && one.turn === turn).length;
  return [{ segment: `said.${seq}`, text, final: false, turn: turnKey(0, turn), after }];
}

/** What the agent is doing, as the events tell. */
export function stateAt(call: Call, at_ms: number, tape: Tape): AgentState | "ended" {
  if (call.ended !== null || at_ms >= tape.length_ms) return "ended";
  return call.activity ?? "connecting";
}

/** Where a link leads: to an event, else to the beginning of a turn, else to the beginning. */
export function placeOf(tape: Tape, place: { turn: number | null; seq: number | null } | null) {
  const at = tape.events.findIndex(({ seq }) => seq === place?.seq);
  if (at !== -1) return tape.arrivals[at]!;
  return tape.marks.find(({ turn }) => turn === place?.turn)?.at_ms ?? 0;
}

/** The sequence number of the last event that is known at a moment, to make a link of. */
export const seqAt = (tape: Tape, at_ms: number): number | null =>
  tape.events[knownAt(tape, at_ms) - 1]?.seq ?? null;

/** The mark of the turn that a moment is in. */
export const markAt = (tape: Tape, at_ms: number): Mark | null =>
  tape.marks.findLast((mark) => mark.at_ms <= at_ms) ?? null;

/** The beginning of the next turn, or of the one before; a turn just begun counts as left. */
export function besides(tape: Tape, at_ms: number, direction: 1 | -1): number {
  const JUST_BEGUN_MS = 1_000;
  const places = tape.marks.map((mark) => mark.at_ms);
  return direction === 1
    ? (places.find((place) => place > at_ms) ?? tape.length_ms)
    : (places.findLast((place) => place < at_ms - JUST_BEGUN_MS) ?? 0);
}

/** "1:05"; a recording has no call longer than hours. */
export function clock(ms: number): string {
  const total_s = Math.floor(Math.max(0, ms) / 1000);
  return `${Math.floor(total_s / 60)}:${String(total_s % 60).padStart(2, "0")}`;
}

function marksOf(events: readonly TimelineEvent[], arrivals: readonly number[]): Mark[] {
  const marks = new Map<number, Mark>();
  let number = 0;
  events.forEach((event, index) => {
    const before = marks.get(event.turn) ?? {
      turn: event.turn,
      at_ms: arrivals[index]!,
      number: null,
      gap_ms: null,
    };
    marks.set(event.turn, {
      ...before,
      number: before.number ?? (event.type === "final_transcript" ? (number += 1) : null),
      gap_ms: before.gap_ms ?? (event.type === "agent_speaking" ? event.gap_ms : null),
    });
  });
  return [...marks.values()].sort((a, b) => a.at_ms - b.at_ms);
}
