/**
 * A turn's gap as the parts that added to it (the writer's side is agent/timeline/waterfall.py).
 *
 * A part is what it adds on the way from the caller's last sound to the agent's first: work that
 * was done beforehand adds nothing. Until the agent speaks, and in recordings without parts, the
 * moments of the turn's events stand in for them.
 */

/** Which of the pipeline's ends a part belongs to; it has the part's colour. */
export type Kind = "hearing" | "wording" | "voice" | "network" | "unexplained";

export interface PartName {
  part: Part;
  kind: Kind;
  name: string;
  meaning: string;
}

export const PARTS = [
  "end_of_speech",
  "final_transcript",
  "end_of_turn",
  "first_token",
  "first_sentence",
  "check",
  "first_audio",
  "playout",
  "network",
  "unexplained",
] as const;
export type Part = (typeof PARTS)[number];
export type Parts = Readonly<Record<Part, number | null>>;

export const KINDS: Readonly<Record<Kind, string>> = {
  hearing: "Hearing",
  wording: "Wording",
  voice: "Voice",
  network: "Network",
  unexplained: "Unexplained",
};

const NAMES: Readonly<Record<Part, Omit<PartName, "part">>> = {
  end_of_speech: {
    kind: "hearing",
    name: "End of speech",
    meaning: "from the last sound until the detector says that the caller fell silent",
  },
  final_transcript: {
    kind: "hearing",
    name: "Final transcript",
    meaning: "until the last words were there as text",
  },
  end_of_turn: {
    kind: "hearing",
    name: "End of turn",
    meaning: "until it was decided that the caller had finished, and not paused",
  },
  first_token: {
    kind: "wording",
    name: "First token",
    meaning: "until the first text of the reply, from the code or the model",
  },
  first_sentence: {
    kind: "wording",
    name: "First sentence",
    meaning: "until its first sentence was whole",
  },
  check: {
    kind: "wording",
    name: "Check",
    meaning: "until that sentence was allowed to be spoken",
  },
  first_audio: {
    kind: "voice",
    name: "First audio",
    meaning: "until the first sound of it was made",
  },
  playout: {
    kind: "voice",
    name: "Playout",
    meaning: "until its first audible sound left for the room",
  },
  network: { kind: "network", name: "Network", meaning: "the way there and back, as estimated" },
  unexplained: {
    kind: "unexplained",
    name: "Unexplained",
    meaning: "what is left of the gap, and none of the others took",
  },
};

export const PART_NAMES: readonly PartName[] = PARTS.map((part) => ({ part, ...NAMES[part] }));

/** How far the parts' sum may be from the gap. */
const ADDS_UP_MS = 20;

/** The parts of this gap as an event tells them; null where it has none that can be true. */
export function readParts(told: unknown, gap_ms: number | null): Parts | null {
  if (typeof told !== "object" || told === null || gap_ms === null) return null;
  const data = told as Record<string, unknown>;
  const known = PARTS.filter((part) => data[part] !== null && data[part] !== undefined);
  if (known.some((part) => !isDuration(data[part]))) return null;
  const sum_ms = known.reduce((sum, part) => sum + (data[part] as number), 0);
  if (Math.abs(sum_ms - gap_ms) > ADDS_UP_MS) return null;
  return Object.fromEntries(
    PARTS.map((part) => [part, known.includes(part) ? (data[part] as number) : null]),
  ) as Parts;
}

const isDuration = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

/** When a turn got how far, on the worker's clock in milliseconds; null if it has not, or unknown. */
export interface Moments {
  speech_ended: number | null;
  final_transcript: number | null;
  reply_started: number | null;
  agent_speaking: number | null;
}

export const NO_MOMENTS: Moments = {
  speech_ended: null,
  final_transcript: null,
  reply_started: null,
  agent_speaking: null,
};

export interface Segment {
  key: string;
  kind: Kind;
  name: string;
  meaning: string;
  /** Where it begins, in milliseconds after the caller's last sound. */
  from_ms: number;
  /** How long it took; null if unknown. */
  ms: number | null;
  /** It goes on: its end has not happened yet. */
  growing: boolean;
}

const STEPS = [
  {
    key: "final_transcript",
    kind: "hearing",
    name: "Final transcript",
    meaning: "from the end of speech until the last words were there as text",
  },
  {
    key: "reply_started",
    kind: "wording",
    name: "Reply",
    meaning: "until the first text of the reply",
  },
  {
    key: "agent_speaking",
    kind: "voice",
    name: "Voice",
    meaning: "until the agent was heard to speak",
  },
] as const satisfies readonly (Omit<Segment, "from_ms" | "ms" | "growing"> & {
  key: keyof Moments;
})[];

/**
 * The segments of a turn's gap, from the caller's last sound on.
 *
 * @param parts   as the agent told them; null as long as it has not
 * @param moments of the turn so far
 * @param now_ms  on the worker's clock, where the turn still unfolds; null where it is over
 */
export function segments(
  parts: Parts | null,
  moments: Moments,
  now_ms: number | null = null,
): Segment[] {
  return parts === null ? unfolding(moments, now_ms) : divided(parts);
}

function divided(parts: Parts): Segment[] {
  let from_ms = 0;
  return PART_NAMES.map(({ part, kind, name, meaning }) => {
    const ms = parts[part];
    const segment = { key: part, kind, name, meaning, from_ms, ms, growing: false };
    from_ms += ms ?? 0;
    return segment;
  });
}

function unfolding(moments: Moments, now_ms: number | null): Segment[] {
  const { speech_ended } = moments;
  if (speech_ended === null) return [];
  const drawn: Segment[] = [];
  let latest = speech_ended;
  for (const step of STEPS) {
    const at = moments[step.key];
    const later = STEPS.slice(STEPS.indexOf(step) + 1).some(({ key }) => moments[key] !== null);
    if (at === null && later) continue; // it was not told: the next one holds its time, too
    const growing = at === null;
    if (growing && now_ms === null) break;
    const until = Math.max(latest, at ?? now_ms ?? latest);
    const from_ms = latest - speech_ended;
    drawn.push({ ...step, from_ms, ms: until - latest, growing });
    if (growing) break;
    latest = until;
  }
  return drawn;
}

/** How long all of them are together. */
export const total = (drawn: readonly Segment[]): number =>
  drawn.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
