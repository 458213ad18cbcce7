/**
 * What a call has come to: a pure fold of its timeline events.
 *
 * A call has one leg for each agent that took it: where a worker dies and another takes over, the
 * second counts its events and turns from the start again, and what was heard before stays.
 */

import { FIELDS, type Component, type Field, type TimelineEvent, type Value } from "./timeline";

export interface Delays {
  speech_to_final_ms: number | null;
  final_to_speech_ms: number | null;
  gap_ms: number | null;
}

export interface Spoken {
  text: string;
  interrupted: boolean;
}

export interface Turn {
  key: string;
  heard: { text: string; final: boolean } | null;
  /** The last final text: a caller who goes on after a pause makes the turn partial again. */
  final_text: string | null;
  spoken: readonly Spoken[];
  delays: Delays;
}

export interface Entry {
  value: Value | null;
  /** What the value was before its last correction. */
  previous: Value | null;
  words: string | null;
  /** How often the value was set, so that the page can mark the moment of a change. */
  revision: number;
}

export interface Trouble {
  message: string;
  recoverable: boolean;
}

export interface Call {
  turns: readonly Turn[];
  booking: Readonly<Record<Field, Entry>>;
  missing: readonly Field[];
  troubles: Readonly<Partial<Record<Component, Trouble>>>;
  /** What the timeline says that the agent is doing; the agent's own state goes before it. */
  activity: "listening" | "thinking" | "speaking" | null;
  /** The key of the turn that the agent's words belong to as they come. */
  current_turn: string | null;
  ended: string | null;
}

const UNKNOWN: Delays = { speech_to_final_ms: null, final_to_speech_ms: null, gap_ms: null };
const EMPTY: Entry = { value: null, previous: null, words: null, revision: 0 };

export const NEW_CALL: Call = {
  turns: [],
  booking: Object.fromEntries(FIELDS.map((field) => [field, EMPTY])) as Record<Field, Entry>,
  missing: [],
  troubles: {},
  activity: null,
  current_turn: null,
  ended: null,
};

export const turnKey = (leg: number, turn: number): string => `${leg}.${turn}`;

/** The call after one more event of the agent that is its `leg`-th, counted from 0. */
export function apply(call: Call, event: TimelineEvent, leg: number): Call {
  const key = turnKey(leg, event.turn);
  const inTurn = (change: (turn: Turn) => Partial<Turn>): Call => ({
    ...call,
    turns: withTurn(call.turns, key, change),
    current_turn: key,
  });

  switch (event.type) {
    case "call_started":
      return { ...call, ended: null };
    case "speech_started":
      return { ...call, activity: "listening" };
    case "partial_transcript":
      return worked(
        inTurn(() => ({ heard: { text: event.text, final: false } })),
        "stt",
      );
    case "final_transcript":
      return worked(
        {
          ...inTurn((turn) => ({
            heard: { text: event.text, final: true },
            final_text: event.text,
            delays: { ...turn.delays, speech_to_final_ms: event.speech_to_final_ms },
          })),
          activity: "thinking",
        },
        "stt",
        // Where the model fails, code answers, and most later turns ask nothing of the model that
        // could tell that it works again: the next turn is a new chance.
        "llm",
      );
    case "reply_started":
      return event.source === "llm"
        ? worked(
            inTurn(() => ({})),
            "llm",
          )
        : inTurn(() => ({}));
    case "agent_speaking":
      // A reply that pauses and goes on starts to sound twice; the caller waited for the first.
      return worked(
        {
          ...inTurn((turn) => ({
            // What was answered are the final words; a partial after them came to nothing.
            heard: turn.final_text === null ? turn.heard : { text: turn.final_text, final: true },
            delays: {
              ...turn.delays,
              final_to_speech_ms: turn.delays.final_to_speech_ms ?? event.final_to_speech_ms,
              gap_ms: turn.delays.gap_ms ?? event.gap_ms,
            },
          })),
          activity: "speaking",
        },
        "tts",
      );
    case "agent_stopped":
      return {
        ...inTurn((turn) =>
          event.text === ""
            ? {}
            : { spoken: [...turn.spoken, { text: event.text, interrupted: event.interrupted }] },
        ),
        activity: "listening",
      };
    case "booking_updated":
      return { ...call, ...withBooking(call, event), missing: event.missing };
    case "component_error":
      return {
        ...call,
        troubles: {
          ...call.troubles,
          [event.component]: { message: event.message, recoverable: event.recoverable },
        },
      };
    case "call_ended":
      return { ...call, ended: event.reason, activity: null };
    case "speech_ended":
    case "interrupted":
    case "reply_replaced": // agent_stopped tells what was spoken in the end
    case "unknown":
      return call;
  }
}

/** The call that these logs tell, one log for each agent that took it, in their order. */
export function fold(logs: readonly (readonly TimelineEvent[])[]): Call {
  return logs.reduce(
    (call, log, leg) => log.reduce((so_far, event) => apply(so_far, event, leg), call),
    NEW_CALL,
  );
}

function withTurn(
  turns: readonly Turn[],
  key: string,
  change: (turn: Turn) => Partial<Turn>,
): readonly Turn[] {
  const index = turns.findIndex((turn) => turn.key === key);
  if (index === -1) {
    const turn: Turn = { key, heard: null, final_text: null, spoken: [], delays: UNKNOWN };
    return [...turns, { ...turn, ...change(turn) }];
  }
  return turns.map((turn, at) => (at === index ? { ...turn, ...change(turn) } : turn));
}

function withBooking(
  call: Call,
  event: Extract<TimelineEvent, { type: "booking_updated" }>,
): Pick<Call, "booking"> {
  const booking = { ...call.booking };
  for (const field of FIELDS) {
    const before = booking[field];
    const change = event.changes.findLast((one) => one.field === field);
    const value = event.booking[field] ?? null;
    if (value === before.value) continue;
    booking[field] = {
      value,
      previous: change?.old ?? before.value,
      words: change?.words ?? null,
      revision: before.revision + 1,
    };
  }
  return { booking };
}

/** A component that did its work again has no trouble left to show. */
function worked(call: Call, ...components: Component[]): Call {
  if (!components.some((component) => call.troubles[component])) return call;
  const troubles = { ...call.troubles };
  for (const component of components) delete troubles[component];
  return { ...call, troubles };
}
