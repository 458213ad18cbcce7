/**
 * What a call has come to: a pure fold of its timeline events.
 *
 * A call has one leg for each agent that took it: where a worker dies and another takes over, the
 * second counts its events and turns from the start again, and what was heard before stays.
 */

import { FIELDS, type Component, type Field, type TimelineEvent, type Value } from "./timeline";
import { type Moments, NO_MOMENTS, type Parts } from "./waterfall";

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
  /** What the gap was spent on; null where that was not told. */
  waterfall: Parts | null;
  moments: Moments;
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
  /** The latest moment that was told of, on the clock of the agent that is the `leg`-th. */
  told: { leg: number; t_ms: number } | null;
  /** What was told that cannot be true, and is not drawn. */
  impossible: readonly string[];
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
  told: null,
  impossible: [],
};

export const turnKey = (leg: number, turn: number): string => `${leg}.${turn}`;

/** The call after one more event of the agent that is its `leg`-th, counted from 0. */
export function apply(call: Call, event: TimelineEvent, leg: number): Call {
  const { impossible = [], turn, t_ms } = event;
  const latest_ms = call.told?.leg === leg ? Math.max(call.told.t_ms, t_ms) : t_ms;
  return {
    ...after(call, event, leg),
    told: { leg, t_ms: latest_ms },
    impossible: [...call.impossible, ...impossible.map((what) => `turn ${turn}: ${what}`)],
  };
}

function after(call: Call, event: TimelineEvent, leg: number): Call {
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
      return {
        ...call,
        turns: withTurn(call.turns, key, (turn) =>
          // A caller who goes on has ended nothing yet.
          isAnswered(turn) ? {} : { moments: NO_MOMENTS },
        ),
        activity: "listening",
      };
    case "speech_ended":
      return {
        ...call,
        turns: withTurn(call.turns, key, (turn) =>
          isAnswered(turn) ? {} : { moments: { ...turn.moments, speech_ended: event.t_ms } },
        ),
      };
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
            moments: { ...turn.moments, final_transcript: event.t_ms, reply_started: null },
          })),
          activity: "thinking",
        },
        "stt",
        // Where the model fails, code answers, and most later turns ask nothing of the model that
        // could tell that it works again: the next turn is a new chance.
        "llm",
      );
    case "reply_started": {
      const begun = inTurn(({ moments }) => ({
        moments: { ...moments, reply_started: moments.reply_started ?? event.t_ms },
      }));
      return event.source === "llm" ? worked(begun, "llm") : begun;
    }
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
            waterfall: turn.delays.gap_ms === null ? event.waterfall : turn.waterfall,
            moments: {
              ...turn.moments,
              agent_speaking: turn.moments.agent_speaking ?? event.t_ms,
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

const isAnswered = (turn: Turn): boolean => turn.moments.agent_speaking !== null;

function withTurn(
  turns: readonly Turn[],
  key: string,
  change: (turn: Turn) => Partial<Turn>,
): readonly Turn[] {
  const index = turns.findIndex((turn) => turn.key === key);
  if (index === -1) {
    const turn: Turn = {
      key,
      heard: null,
      final_text: null,
      spoken: [],
      delays: UNKNOWN,
      waterfall: null,
      moments: NO_MOMENTS,
    };
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
