/** The state of the screen, and what each thing that happens does to it. No I/O and no clock. */

import { type Call, NEW_CALL, fold, turnKey } from "./call";
import type { Typed, Words } from "./captions";
import type { HeardGaps } from "./delays";
import type { Device } from "./devices";
import { type Log, merge } from "./log";
import type { Problem } from "./problems";
import type { TimelineEvent } from "./timeline";

export type Phase =
  | "idle" // nothing has been asked for
  | "preparing" // the microphone and the token are being asked for
  | "joining" // the room is being joined
  | "waiting" // in the room; no agent yet
  | "talking" // the agent is in the room
  | "ended";

export type AgentState = "connecting" | "listening" | "thinking" | "speaking";

export interface Leg {
  agent: string;
  log: Log;
}

export interface Screen {
  phase: Phase;
  problem: Problem | null;
  reconnecting: boolean;
  muted: boolean;
  /** Null without a microphone: the caller types. */
  microphone: boolean;
  /** The microphones and loudspeakers that can be chosen. */
  devices: readonly Device[];
  /** The browser wants a press before it plays sound. */
  sound_blocked: boolean;
  started_at: number | null;
  ended_at: number | null;
  /** The agent's own word for what it does, from its attribute `lk.agent.state`. */
  agent_state: string | null;
  legs: readonly Leg[];
  call: Call;
  words: readonly Words[];
  typed: readonly Typed[];
  /** The gaps that this browser heard itself. */
  heard_gaps: HeardGaps;
}

export type Action =
  | { type: "call_pressed"; microphone: boolean }
  | { type: "joining" }
  | { type: "joined"; at: number }
  | { type: "failed"; problem: Problem; at: number }
  | { type: "agent_joined"; agent: string; state: string | null; at: number }
  | { type: "agent_state"; state: string | null }
  | { type: "agent_left" }
  | { type: "noticed"; problem: Problem }
  | { type: "events"; agent: string; events: readonly TimelineEvent[] }
  | { type: "words"; segment: string; text: string; final: boolean }
  | { type: "typed"; id: string; text: string }
  | { type: "gap_heard"; turn: string; gap_ms: number }
  | { type: "muted"; muted: boolean }
  | { type: "devices"; devices: readonly Device[] }
  | { type: "microphone_lost" }
  | { type: "reconnecting"; reconnecting: boolean }
  | { type: "sound_blocked"; blocked: boolean }
  | { type: "ended"; problem: Problem | null; at: number };

export const IDLE: Screen = {
  phase: "idle",
  problem: null,
  reconnecting: false,
  muted: false,
  microphone: true,
  devices: [],
  sound_blocked: false,
  started_at: null,
  ended_at: null,
  agent_state: null,
  legs: [],
  call: NEW_CALL,
  words: [],
  typed: [],
  heard_gaps: {},
};

/** Problems that the agent's being there, or its first sign of life, puts an end to. */
const ABSENCE = new Set(["agent_absent", "agent_busy", "agent_left"]);

export function update(screen: Screen, action: Action): Screen {
  switch (action.type) {
    case "call_pressed":
      return { ...IDLE, phase: "preparing", microphone: action.microphone };
    case "joining":
      return { ...screen, phase: "joining" };
    case "joined":
      // The agent may have come while the room was being joined.
      return screen.phase === "talking"
        ? screen
        : { ...screen, phase: "waiting", started_at: action.at };
    case "failed":
      return screen.started_at === null
        ? { ...IDLE, problem: action.problem, microphone: screen.microphone }
        : end(screen, action.problem, action.at);
    case "agent_joined":
      return {
        ...screen,
        phase: "talking",
        started_at: screen.started_at ?? action.at,
        agent_state: action.state,
        problem: ABSENCE.has(screen.problem?.code ?? "") ? null : screen.problem,
        legs:
          screen.legs.at(-1)?.agent === action.agent
            ? screen.legs
            : [...screen.legs, { agent: action.agent, log: [] }],
      };
    case "agent_state":
      return spoke({ ...screen, agent_state: action.state });
    case "agent_left":
      return { ...screen, phase: "waiting", agent_state: null, problem: { code: "agent_left" } };
    case "noticed":
      return { ...screen, problem: action.problem };
    case "events":
      return spoke(withEvents(screen, action.agent, action.events));
    case "words":
      return withWords(screen, action);
    case "typed": {
      const after = screen.call.turns.at(-1)?.key ?? null;
      return { ...screen, typed: [...screen.typed, { id: action.id, text: action.text, after }] };
    }
    case "gap_heard":
      return { ...screen, heard_gaps: { ...screen.heard_gaps, [action.turn]: action.gap_ms } };
    case "muted":
      return { ...screen, muted: action.muted };
    case "devices":
      return { ...screen, devices: action.devices };
    case "microphone_lost":
      return { ...screen, microphone: false, problem: { code: "microphone_lost" } };
    case "reconnecting":
      return { ...screen, reconnecting: action.reconnecting };
    case "sound_blocked":
      return { ...screen, sound_blocked: action.blocked };
    case "ended":
      if (screen.phase === "ended" || screen.phase === "idle") return screen;
      return screen.started_at === null
        ? { ...IDLE, problem: action.problem, microphone: screen.microphone }
        : end(screen, action.problem, action.at);
  }
}

/** What the agent is doing, in the four words that the screen has for it. */
export function agentState({ phase, agent_state, call }: Screen): AgentState {
  if (phase !== "talking") return "connecting";
  switch (agent_state) {
    case "listening":
    case "thinking":
    case "speaking":
      return agent_state;
    case "idle":
      return "listening";
    default:
      return call.activity ?? "connecting";
  }
}

/** What this agent has told so far. */
export const logOf = (screen: Screen, agent: string): Log =>
  screen.legs.find((leg) => leg.agent === agent)?.log ?? [];

function withEvents(screen: Screen, agent: string, events: readonly TimelineEvent[]): Screen {
  const legs = screen.legs.map((leg) =>
    leg.agent === agent ? { ...leg, log: merge(leg.log, events) } : leg,
  );
  return { ...screen, legs, call: fold(legs.map((leg) => leg.log)) };
}

function withWords(
  screen: Screen,
  { segment, text, final }: Extract<Action, { type: "words" }>,
): Screen {
  if (screen.words.some((one) => one.segment === segment))
    return {
      ...screen,
      words: screen.words.map((one) => (one.segment === segment ? { ...one, text, final } : one)),
    };
  const greeting = screen.legs.length > 0 ? turnKey(screen.legs.length - 1, 0) : null;
  const turn = screen.call.current_turn ?? greeting;
  const after = screen.call.turns.find((one) => one.key === turn)?.spoken.length ?? 0;
  return { ...screen, words: [...screen.words, { segment, text, final, turn, after }] };
}

/** An agent that listens, thinks or speaks is not silent. */
function spoke(screen: Screen): Screen {
  if (screen.problem?.code !== "agent_silent" || agentState(screen) === "connecting") return screen;
  return { ...screen, problem: null };
}

function end(screen: Screen, problem: Problem | null, at: number): Screen {
  return {
    ...screen,
    phase: "ended",
    problem,
    reconnecting: false,
    sound_blocked: false,
    ended_at: at,
    agent_state: null,
    words: screen.words.map((one) => ({ ...one, final: true })),
  };
}
