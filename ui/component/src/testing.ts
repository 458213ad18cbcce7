/** Short ways to write a call down in tests. */

import { type Call, apply, fold } from "./call";
import type { Body, TimelineEvent } from "./timeline";
import { PARTS, type Parts } from "./waterfall";

/** Parts of a gap; those that are not named took no time. */
export const parts = (named: Partial<Record<keyof Parts, number | null>>): Parts =>
  ({ ...Object.fromEntries(PARTS.map((part) => [part, 0])), ...named }) as Parts;

/** Events of one agent, each with its turn, numbered in their order. */
export const events = (...parts: [turn: number, body: Body][]): TimelineEvent[] =>
  parts.map(([turn, body], index) => ({ seq: index + 1, turn, t_ms: index * 100, ...body }));

export const callOf = (...parts: [turn: number, body: Body][]): Call => fold([events(...parts)]);

export const andThen = (call: Call, turn: number, body: Body): Call =>
  apply(call, { seq: 1_000, turn, t_ms: 0, ...body }, 0);

export const heard = (text: string, speech_to_final_ms: number | null = null): Body => ({
  type: "final_transcript",
  text,
  speech_to_final_ms,
});

export const speaking = (
  final_to_speech_ms: number | null = null,
  gap_ms: number | null = null,
  waterfall: Parts | null = null,
): Body => ({ type: "agent_speaking", final_to_speech_ms, gap_ms, waterfall });

export const spoken = (text: string, interrupted = false): Body => ({
  type: "agent_stopped",
  text,
  interrupted,
});
