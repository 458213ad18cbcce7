/** The events of one agent's part in a call, in order, each once. */

import type { TimelineEvent } from "./timeline";

export type Log = readonly TimelineEvent[];

/** The log with these events in their places; one that is already there is kept as it is. */
export function merge(log: Log, events: readonly TimelineEvent[]): Log {
  const known = new Set(log.map((event) => event.seq));
  const added = events.filter(({ seq }) => !known.has(seq) && known.add(seq));
  if (added.length === 0) return log;
  return [...log, ...added].sort((a, b) => a.seq - b.seq);
}

/** The sequence number up to which all events are there, 0 where the first is missing. */
export function completeTo(log: Log): number {
  const gap = log.findIndex((event, index) => event.seq !== index + 1);
  return gap === -1 ? log.length : gap;
}

export const hasGap = (log: Log): boolean => completeTo(log) < log.length;
