import { type LocalAudioTrack, type RemoteAudioTrack, createAudioAnalyser } from "livekit-client";
import { useEffect, useRef } from "preact/hooks";

type AudioTrack = LocalAudioTrack | RemoteAudioTrack;

/** The bins of each bar, 375 Hz wide at 48 kHz, with the voice's strongest band in the middle. */
const BANDS = [
  [7, 11],
  [2, 3],
  [1, 1],
  [4, 6],
  [12, 18],
] as const;

/** The sound of the side that has the word, drawn at the display's own pace. */
export function Meter({ track }: { track: () => AudioTrack | null }) {
  const bars = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    let shown: AudioTrack | null = null;
    let level: ReturnType<typeof createAudioAnalyser> | null = null;
    const bins = new Uint8Array(64);
    const draw = (): void => {
      const now = track();
      if (now !== shown) {
        void level?.cleanup();
        level = now && createAudioAnalyser(now, { fftSize: 128, minDecibels: -85, maxDecibels: -25 });
        shown = now;
      }
      level?.analyser.getByteFrequencyData(bins);
      BANDS.forEach(([low, high], index) => {
        const band = level ? Math.max(...bins.subarray(low, high + 1)) / 255 : 0;
        const bar = bars.current?.children[index] as HTMLElement | undefined;
        bar?.style.setProperty("--level", band.toFixed(2));
      });
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => {
      cancelAnimationFrame(frame);
      void level?.cleanup();
    };
  }, [track]);
  return (
    <span class="meter" ref={bars} aria-hidden="true">
      {BANDS.map((_, index) => (
        <i key={index} />
      ))}
    </span>
  );
}
