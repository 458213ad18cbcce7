/** The delays of a call as numbers and as the geometry of a chart. */

import { nice, ticks } from "d3-array";

import type { Call, Delays, Turn } from "./call";
import { type Kind, type Segment, segments } from "./waterfall";

/** The gaps that this browser heard itself, by the turn's key; a turn without one is not in it. */
export type HeardGaps = Readonly<Record<string, number>>;

export interface Name {
  field: keyof Delays;
  name: string;
  meaning: string;
}

export const NAMES: readonly Name[] = [
  {
    field: "speech_to_final_ms",
    name: "Speech → final",
    meaning:
      "From your first sound to your final words as text: it includes the time you spend speaking.",
  },
  {
    field: "final_to_speech_ms",
    name: "Final → voice",
    meaning:
      "From your final words to the hotel's first sound: finding an answer and starting to speak it.",
  },
  {
    field: "gap_ms",
    name: "Gap",
    meaning: "From your last sound to the hotel's first sound.",
  },
];

/** "123 ms"; a dash for what is unknown. */
export const millis = (ms: number | null): string => (ms === null ? "–" : `${Math.round(ms)} ms`);

/** "1.23 s"; a dash for what was not measured. */
export const seconds = (ms: number | null): string =>
  ms === null ? "–" : `${(ms / 1000).toFixed(2)} s`;

export const median = (values: readonly number[]): number | null => {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

export interface Measured {
  key: string;
  /** The turn's number as people count, from 1. */
  number: number;
  delays: Delays;
  /** The gap as what it was spent on. */
  segments: readonly Segment[];
}

/** The turns in which anything was measured, in order. The greeting answers nobody. */
export function measured(call: Call): Measured[] {
  return call.turns
    .filter((turn) => turn.heard?.final)
    .map(({ key, delays, waterfall, moments }, index) => ({
      key,
      number: index + 1,
      delays,
      segments: delays.gap_ms === null ? [] : segments(waterfall, moments),
    }))
    .filter(({ delays }) => NAMES.some(({ field }) => delays[field] !== null));
}

/** The turn whose gap is shown: the last one of which words were heard. */
export function latestTurn(call: Call): (Turn & { number: number }) | null {
  const turns = call.turns.filter((turn) => turn.heard !== null);
  const last = turns.at(-1);
  return last ? { ...last, number: turns.length } : null;
}

export interface Summary {
  latest: number | null;
  median: number | null;
  count: number;
}

/** One delay over all its turns. */
export function summary(turns: readonly Measured[], field: keyof Delays): Summary {
  const values = turns.map(({ delays }) => delays[field]).filter((value) => value !== null);
  return {
    latest: turns.at(-1)?.delays[field] ?? null,
    median: median(values),
    count: values.length,
  };
}

export interface Bar {
  key: string;
  kind: Kind;
  name: string;
  turn: number;
  x: number;
  y: number;
  width: number;
  height: number;
  ms: number;
}

export interface Chart {
  bars: Bar[];
  ticks: { y: number; seconds: number }[];
  turns: { x: number; number: number }[];
  /** The gap as it was heard in the browser, a line across its column. */
  heard: { turn: number; x: number; y: number; width: number; ms: number }[];
}

export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * A column for each turn's gap, of what it was spent on, in the frame's units.
 *
 * What was not measured has no bar; a gap that was not told of in parts is one whole.
 */
export function chart(
  turns: readonly Measured[],
  heard: HeardGaps,
  frame: Frame,
  widest_column = 44,
): Chart {
  const highest_s =
    Math.max(
      500,
      ...turns.map(({ key, delays }) => Math.max(delays.gap_ms ?? 0, heard[key] ?? 0)),
    ) / 1000;
  const [, top_s] = nice(0, highest_s, 3);
  const bottom = frame.top + frame.height;
  const y = (value_s: number): number => frame.top + frame.height * (1 - value_s / top_s);
  const group = Math.min(widest_column * 1.4, frame.width / Math.max(turns.length, 1));
  const width = group / 1.4;
  const left = (index: number): number => frame.left + index * group + (group - width) / 2;
  return {
    ticks: ticks(0, top_s, 3).map((value_s) => ({ y: y(value_s), seconds: value_s })),
    turns: turns.map(({ number }, index) => ({ x: left(index) + width / 2, number })),
    heard: turns.flatMap(({ key, number }, index) => {
      const ms = heard[key];
      return ms === undefined
        ? []
        : [{ turn: number, x: left(index) - 3, y: y(ms / 1000), width: width + 6, ms }];
    }),
    bars: turns.flatMap(({ number, delays: { gap_ms }, segments }, index) => {
      if (gap_ms === null) return [];
      const parts = segments.filter(({ ms }) => ms !== null && ms > 0);
      const whole = { key: "gap", kind: "unexplained" as Kind, name: "Gap", ms: gap_ms };
      let base = bottom;
      return (parts.length > 0 ? parts : [whole]).map(({ key, kind, name, ms }) => {
        const height = bottom - y((ms ?? 0) / 1000);
        base -= height;
        return {
          key,
          kind,
          name,
          turn: number,
          x: left(index),
          y: base,
          width,
          height,
          ms: ms ?? 0,
        };
      });
    }),
  };
}
