import { useCallback, useEffect, useState } from "preact/hooks";

export interface Playhead {
  at_ms: number;
  playing: boolean;
  seek(at_ms: number): void;
  toggle(): void;
}

/** The moment that is shown. It moves at the display's own pace while it plays, to the end. */
export function usePlayhead(length_ms: number, speed: number): Playhead {
  const [at_ms, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    let frame = requestAnimationFrame(function draw(now) {
      const passed_ms = (now - last) * speed;
      last = now;
      setAt((at) => Math.min(length_ms, at + passed_ms));
      frame = requestAnimationFrame(draw);
    });
    let last = performance.now();
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, length_ms]);
  useEffect(() => {
    if (at_ms >= length_ms) setPlaying(false);
  }, [at_ms, length_ms]);
  const seek = useCallback(
    (to_ms: number) => setAt(Math.max(0, Math.min(length_ms, to_ms))),
    [length_ms],
  );
  const toggle = (): void => {
    if (!playing && at_ms >= length_ms) setAt(0);
    setPlaying(!playing);
  };
  return { at_ms, playing, seek, toggle };
}
