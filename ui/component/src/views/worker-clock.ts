import { useEffect, useRef, useState } from "preact/hooks";

import type { Call } from "../call";

const REDRAW_MS = 100;

/**
 * Now on the worker's clock, in milliseconds since the call began; null before anything was told.
 *
 * The worker's clock is placed by the event that took least to come: no event is told before it
 * happens, and those of a snapshot are told long after.
 *
 * @param runs whether something is shown that grows with it
 */
export function useWorkerClock({ told }: Call, runs: boolean): number | null {
  const offset = useRef<{ leg: number; ms: number } | null>(null);
  const [, redraw] = useState(0);
  const now_ms = performance.now();
  if (told !== null) {
    const ms = now_ms - told.t_ms;
    const before = offset.current?.leg === told.leg ? offset.current.ms : Infinity;
    offset.current = { leg: told.leg, ms: Math.min(before, ms) };
  }
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => redraw((count) => count + 1), REDRAW_MS);
    return () => clearInterval(timer);
  }, [runs]);
  return offset.current === null ? null : now_ms - offset.current.ms;
}
