/** The delays of a call as numbers and as the geometry of a chart. */

import { nice, ticks } from "d3-array";

import type { Call, Delays } from "./call";

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
  /** The turn's number as people count, from 1. */
  number: number;
  delays: Delays;
}

/** The turns in which anything was measured, in order. The greeting answers nobody. */
export function measured(call: Call): Measured[] {
  return call.turns
    .filter((turn) => turn.heard?.final)
    .map((turn, index) => ({ number: index + 1, delays: turn.delays }))
    .filter(({ delays }) => NAMES.some(({ field }) => delays[field] !== null));
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
  field: keyof Delays;
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
}

export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Bars in groups of one turn each, in the frame's units; what was not measured has no bar. */
export function chart(turns: readonly Measured[], frame: Frame, widest_group = 72): Chart {
  const highest_s =
    Math.max(500, ...turns.flatMap(({ delays }) => NAMES.map(({ field }) => delays[field] ?? 0))) /
    1000;
  const [, top_s] = nice(0, highest_s, 4);
  const y = (value_s: number): number => frame.top + frame.height * (1 - value_s / top_s);
  const group = Math.min(widest_group, frame.width / Math.max(turns.length, 1));
  const gap = group * 0.22;
  const width = (group - gap) / NAMES.length;
  const left = (index: number): number => frame.left + index * group;
  return {
    ticks: ticks(0, top_s, 4).map((value_s) => ({ y: y(value_s), seconds: value_s })),
    turns: turns.map(({ number }, index) => ({ x: left(index) + group / 2, number })),
    bars: turns.flatMap(({ number, delays }, index) =>
      NAMES.flatMap(({ field }, place) => {
        const ms = delays[field];
        if (ms === null) return [];
        const height = Math.max(1, frame.top + frame.height - y(ms / 1000));
        return [
          {
            field,
            turn: number,
            x: left(index) + gap / 2 + place * width,
            y: frame.top + frame.height - height,
            width: width * 0.86,
            height,
            ms,
          },
        ];
      }),
    ),
  };
}
