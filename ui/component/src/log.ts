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

/** The first sequence number that should be there and is not, or null where none is missing. */
export function firstMissing(log: Log): number | null {
  const gap = log.findIndex((event, index) => event.seq !== index + 1);
  return gap === -1 ? null : gap + 1;
}
