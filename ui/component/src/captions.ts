/** The conversation as it is read: the finished lines of both sides, and those still being said. */

import type { Call, Delays, Turn } from "./call";

/** What the agent is saying, word by word with its voice, from LiveKit's transcription stream. */
export interface Words {
  segment: string;
  text: string;
  final: boolean;
  /** The turn it was said in; null where no timeline event has named one yet. */
  turn: string | null;
  /** How many things the agent had finished saying in that turn when this began. */
  after: number;
}

/** What the caller typed instead of saying, and the last turn before it. */
export interface Typed {
  id: string;
  text: string;
  after: string | null;
}

export interface Line {
  key: string;
  who: "guest" | "hotel";
  text: string;
  live: boolean;
  interrupted: boolean;
  typed: boolean;
  /** Set on the caller's line, which is where a turn begins. */
  delays: Delays | null;
}

/**
 * The lines of the conversation in order.
 *
 * The words of the stream stand only until the timeline tells what was spoken: it knows what was
 * cut off, and the stream does not.
 */
export function lines(call: Call, words: readonly Words[], typed: readonly Typed[]): Line[] {
  const known = new Set(call.turns.map((turn) => turn.key));
  const heard = new Set(call.turns.map((turn) => turn.heard?.text));
  const echoes = typed.filter(({ text }) => !heard.has(text));
  return [
    ...words.filter((one) => one.turn === null || !known.has(one.turn)).map(liveLine),
    ...echoes.filter(({ after }) => after === null || !known.has(after)).map(typedLine),
    ...call.turns.flatMap((turn) => [
      ...turnLines(turn, turn === call.turns.at(-1)),
      ...words
        .filter((one) => one.turn === turn.key && one.after >= turn.spoken.length)
        .map(liveLine),
      ...echoes.filter(({ after }) => after === turn.key).map(typedLine),
    ]),
  ];
}

function turnLines(turn: Turn, latest: boolean): Line[] {
  const said: Line[] = turn.spoken.map(({ text, interrupted }, index) => ({
    ...line(`${turn.key}.spoken.${index}`, "hotel", text),
    interrupted,
  }));
  if (turn.heard === null || turn.heard.text === "") return said;
  return [
    {
      ...line(`${turn.key}.heard`, "guest", turn.heard.text),
      live: !turn.heard.final && latest, // an older partial gets no final any more
      delays: turn.delays,
    },
    ...said,
  ];
}

const liveLine = ({ segment, text, final }: Words): Line => ({
  ...line(segment, "hotel", text),
  live: !final,
});

const typedLine = ({ id, text }: Typed): Line => ({ ...line(id, "guest", text), typed: true });

function line(key: string, who: Line["who"], text: string): Line {
  return { key, who, text, live: false, interrupted: false, typed: false, delays: null };
}
