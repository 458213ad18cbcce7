import { useEffect, useRef } from "preact/hooks";

/** The bins of each bar, 375 Hz wide at 48 kHz, with the voice's strongest band in the middle. */
const FFT_SIZE = 128;
const BANDS = [
  [7, 11],
  [2, 3],
  [1, 1],
  [4, 6],
  [12, 18],
] as const;

/** The sound of the side that has the word, drawn at the display's own pace. */
export function Meter({ track }: { track: () => MediaStreamTrack | null }) {
  const bars = useRef<HTMLSpanElement>(null);
  const shown = useRef(track);
  shown.current = track;
  useEffect(() => {
    const levels = new Levels();
    let frame = 0;
    const draw = (): void => {
      const bins = levels.of(shown.current());
      BANDS.forEach(([low, high], index) => {
        const bar = bars.current?.children[index] as HTMLElement | undefined;
        const level = bins ? Math.max(...bins.subarray(low, high + 1)) / 255 : 0;
        bar?.style.setProperty("--level", level.toFixed(2));
      });
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => {
      cancelAnimationFrame(frame);
      levels.close();
    };
  }, []);
  return (
    <span class="meter" ref={bars} aria-hidden="true">
      {BANDS.map((_, index) => (
        <i key={index} />
      ))}
    </span>
  );
}

/** The spectrum of each track, all in one audio context: browsers give out only a few. */
class Levels {
  private readonly context = new AudioContext();
  private readonly analysers = new WeakMap<MediaStreamTrack, AnalyserNode>();
  private readonly bins = new Uint8Array(FFT_SIZE / 2);

  of(track: MediaStreamTrack | null): Uint8Array | null {
    if (!track) return null;
    const analyser = this.analysers.get(track) ?? this.listenTo(track);
    analyser.getByteFrequencyData(this.bins);
    return this.bins;
  }

  close(): void {
    void this.context.close();
  }

  private listenTo(track: MediaStreamTrack): AnalyserNode {
    const options = { fftSize: FFT_SIZE, minDecibels: -85, maxDecibels: -25 };
    const analyser = new AnalyserNode(this.context, options);
    this.context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    this.analysers.set(track, analyser);
    return analyser;
  }
}
