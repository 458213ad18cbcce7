/**
 * What this end of the line adds to a gap, told to the worker about once a second.
 *
 * The worker sees its own end alone; a caller's jitter buffer it cannot know (the reader's side is
 * agent/timeline/network.py).
 */

import type { RemoteTrack, Room } from "livekit-client";

const TOPIC = "voice.network";
const EVERY_MS = 1_000;

/** A received track's figures at one moment. */
export interface Reading {
  /** To the room server and back. */
  round_trip_ms: number;
  /** The time that samples have waited in the jitter buffer, summed over all that came out. */
  buffered_ms: number;
  samples: number;
}

export interface End {
  round_trip_ms: number;
  jitter_buffer_ms: number;
}

type Entry = Record<string, unknown>;

/** The figures in a received track's statistics; null while one of them is missing. */
export function reading(stats: Iterable<Entry>): Reading | null {
  let round_trip_s: unknown;
  let buffered_s: unknown;
  let samples: unknown;
  for (const entry of stats) {
    if (entry.type === "candidate-pair" && entry.nominated === true)
      round_trip_s = entry.currentRoundTripTime;
    if (entry.type === "inbound-rtp") {
      buffered_s = entry.jitterBufferDelay;
      samples = entry.jitterBufferEmittedCount;
    }
  }
  if (
    typeof round_trip_s !== "number" ||
    typeof buffered_s !== "number" ||
    typeof samples !== "number"
  )
    return null;
  return { round_trip_ms: round_trip_s * 1000, buffered_ms: buffered_s * 1000, samples };
}

/** This end's figures between two moments; null where no sound came in between. */
export function endBetween(before: Reading, now: Reading): End | null {
  const samples = now.samples - before.samples;
  if (samples <= 0) return null;
  const { round_trip_ms } = now;
  return { round_trip_ms, jitter_buffer_ms: (now.buffered_ms - before.buffered_ms) / samples };
}

/** Tells the worker of the track that the agent is heard by, until it is asked to stop. */
export function tellNetwork(room: Room, agent: string, track: RemoteTrack): () => void {
  let before: Reading | null = null;
  const tell = async (): Promise<void> => {
    const stats = await track.getRTCStatsReport();
    const now = stats ? reading(stats.values() as Iterable<Entry>) : null;
    const end = before && now ? endBetween(before, now) : null;
    before = now ?? before;
    if (!end) return;
    await room.localParticipant.publishData(new TextEncoder().encode(JSON.stringify(end)), {
      reliable: false, // the next figure comes in a second
      topic: TOPIC,
      destinationIdentities: [agent],
    });
  };
  const timer = setInterval(() => void tell().catch(() => undefined), EVERY_MS);
  return () => clearInterval(timer);
}
