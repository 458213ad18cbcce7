/**
 * The gap as it is heard in the browser: from the caller's last audible sound to the agent's first.
 *
 * No I/O: levels come in, gaps come out. What counts as audible is what counts for the worker
 * (agent/timeline/audible.py), so that both say the same of the same sound.
 */

import { median } from "./delays";

export const BLOCK_MS = 10;

const AUDIBLE_DBFS = -45; // a line's noise lies near −65, the quietest speech near −45
const ONSET_BLOCKS = 3; // this many audible blocks …
const ONSET_WINDOW = 5; // … among this many begin a sound; a click is over within two
const RELEASE_MS = 200; // this much quiet ends it: pauses between words are shorter

const OVER_NOISE_DB = 12; // speech stands out of a room's noise by more than this
const NOISE_BLOCKS = 20; // the noise is the quietest median of so many blocks of …
const NOISE_WINDOW = 20; // … so many levels each, which is four seconds

/** The level of both sides in one block; `at_ms` is when the block began. */
export interface Levels {
  at_ms: number;
  caller_dbfs: number;
  agent_dbfs: number;
}

export interface HeardGap {
  /** When the agent became audible. */
  at_ms: number;
  gap_ms: number;
}

/** The level below which a line never falls, over the last seconds. */
class NoiseFloor {
  dbfs = -Infinity;
  private quietest: number[] = [];
  private window: number[] = [];

  hear(level_dbfs: number): void {
    this.window.push(level_dbfs);
    if (this.window.length < NOISE_WINDOW) return;
    // The median, so that a dropped packet's silence is not taken for the room's.
    this.quietest = [...this.quietest.slice(1 - NOISE_BLOCKS), median(this.window)!];
    this.window = [];
    this.dbfs = Math.min(...this.quietest);
  }
}

/** A streaming detector of one side's sounds. */
class Ear {
  /** When the sound that goes on began; null in quiet. */
  began_ms: number | null = null;
  /** Where the latest audible block ended; null before the first sound. */
  ended_ms: number | null = null;
  private recent: { at_ms: number; loud: boolean }[] = [];
  private readonly floor: NoiseFloor | null;

  /** @param over_noise whether what counts as audible rises with a line's noise */
  constructor(over_noise: boolean) {
    this.floor = over_noise ? new NoiseFloor() : null;
  }

  /** Whether a sound begins with this block, or with one shortly before it. */
  hear(level_dbfs: number, at_ms: number): boolean {
    this.floor?.hear(level_dbfs);
    const noise_dbfs = this.floor?.dbfs ?? -Infinity;
    const loud = level_dbfs >= Math.max(AUDIBLE_DBFS, noise_dbfs + OVER_NOISE_DB);
    const block_end_ms = at_ms + BLOCK_MS;
    if (this.began_ms !== null) {
      if (loud) this.ended_ms = block_end_ms;
      else if (block_end_ms - this.ended_ms! >= RELEASE_MS) this.began_ms = null;
      return false;
    }
    this.recent = [...this.recent.slice(1 - ONSET_WINDOW), { at_ms, loud }];
    const audible = this.recent.filter((block) => block.loud);
    if (audible.length < ONSET_BLOCKS) return false;
    this.began_ms = audible[0]!.at_ms;
    this.ended_ms = block_end_ms;
    this.recent = [];
    return true;
  }
}

/** Finds the gaps in both sides' levels. */
export class Gaps {
  private caller = new Ear(true); // in whatever room
  private agent = new Ear(false);
  private answered_ms = -Infinity;

  /** The gap that ends with this block; null for all others, and where it cannot be known. */
  hear({ at_ms, caller_dbfs, agent_dbfs }: Levels): HeardGap | null {
    this.caller.hear(caller_dbfs, at_ms);
    if (!this.agent.hear(agent_dbfs, at_ms)) return null;
    const began_ms = this.agent.began_ms!;
    const { ended_ms } = this.caller;
    const before_ms = this.answered_ms;
    this.answered_ms = began_ms;
    // The agent goes on after a pause of its own: nobody waited for it.
    if (ended_ms === null || ended_ms <= before_ms) return null;
    // A caller who is audible still has no last sound.
    if (ended_ms > began_ms) return null;
    return { at_ms: began_ms, gap_ms: began_ms - ended_ms };
  }

  /** Something was not heard: what was before it counts no more. */
  forget(): void {
    this.caller = new Ear(true);
    this.agent = new Ear(false);
    this.answered_ms = -Infinity;
  }
}

/** How far the sound may be from the event that tells of it: a room's jitter buffer, and a stall. */
const MATCH_WITHIN_MS = 1_500;

/**
 * Brings heard gaps and the turns that they belong to together, whichever comes first.
 *
 * Only a turn whose answer the agent told of gets a gap: what else is audible is no reply.
 */
export class Pairing {
  private gaps: HeardGap[] = [];
  private answers: { turn: string; at_ms: number }[] = [];

  /** @returns the turn that this gap is of, if its answer was told already */
  heard(gap: HeardGap): string | null {
    const answer = this.answers.findLast(({ at_ms }) => near(at_ms, gap.at_ms));
    if (!answer) {
      this.gaps = [...this.gaps.slice(-9), gap];
      return null;
    }
    this.answers = this.answers.filter((one) => one !== answer);
    return answer.turn;
  }

  /** @returns the gap of this turn, if it was heard already */
  answered(turn: string, at_ms: number): HeardGap | null {
    const gap = this.gaps.findLast((one) => near(one.at_ms, at_ms));
    if (!gap) {
      this.answers = [...this.answers.slice(-9), { turn, at_ms }];
      return null;
    }
    this.gaps = this.gaps.filter((one) => one !== gap);
    return gap;
  }
}

const near = (one_ms: number, other_ms: number): boolean =>
  Math.abs(one_ms - other_ms) <= MATCH_WITHIN_MS;
