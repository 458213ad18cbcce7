/**
 * Listens to both sides of a call with Web Audio, and says which gaps it heard.
 *
 * Levels are taken on the audio thread, which a busy page or a tab in the background does not slow
 * down, and each carries the time of its samples. Both sides go through one audio context, so that
 * one clock times them.
 */

import { BLOCK_MS, Gaps, type HeardGap } from "./heard";

export type Side = "guest" | "hotel";
const SIDES: readonly Side[] = ["guest", "hotel"];

/** Audio that was not heard for so long is a hole: the context was suspended, or a device changed. */
const HOLE_MS = 150;
const BLOCKS_A_MESSAGE = 10;

// It runs in a scope of its own, where nothing of this module is known.
const WORKLET = `
registerProcessor("levels", class extends AudioWorkletProcessor {
  size = Math.round(sampleRate * ${BLOCK_MS} / 1000);
  filled = 0;
  power = [0, 0];
  blocks = [];
  process(inputs) {
    const frames = 128;
    for (let at = 0; at < frames; at++) {
      for (let side = 0; side < 2; side++) {
        const sample = inputs[side][0]?.[at] ?? 0;
        this.power[side] += sample * sample;
      }
      if (++this.filled < this.size) continue;
      const began = currentFrame + at + 1 - this.size;
      this.blocks.push([began / sampleRate * 1000, ...this.power.map((sum) => sum / this.size)]);
      this.power = [0, 0];
      this.filled = 0;
    }
    if (this.blocks.length >= ${BLOCKS_A_MESSAGE}) {
      const now = (currentFrame + frames) / sampleRate * 1000;
      this.port.postMessage({ blocks: this.blocks, now, wall: Date.now() });
      this.blocks = [];
    }
    return true;
  }
});`;

interface Message {
  /** Of each block: when it began on the audio's clock, and the mean power of each side. */
  blocks: [at_ms: number, caller: number, agent: number][];
  now: number;
  wall: number;
}

export class Hearing {
  private readonly context = new AudioContext({ latencyHint: "interactive" });
  private readonly gaps = new Gaps();
  private readonly sources = new Map<
    Side,
    { track: MediaStreamTrack; node: MediaStreamAudioSourceNode }
  >();
  private node: AudioWorkletNode | null = null;
  private drift_ms: number | null = null;

  /**
   * @param track what is to be heard of a side now; null where there is nothing to hear
   * @param heard takes each gap, with its time on the wall clock
   */
  constructor(
    private readonly track: (side: Side) => MediaStreamTrack | null,
    private readonly heard: (gap: HeardGap) => void,
  ) {
    void this.start().catch(() => this.close()); // a browser without worklets hears no gaps
  }

  close(): void {
    this.node?.port.close();
    if (this.context.state !== "closed") void this.context.close();
  }

  private async start(): Promise<void> {
    const module = URL.createObjectURL(new Blob([WORKLET], { type: "text/javascript" }));
    try {
      await this.context.audioWorklet.addModule(module);
    } finally {
      URL.revokeObjectURL(module);
    }
    const options = { numberOfInputs: 2, channelCount: 1, channelCountMode: "explicit" } as const;
    this.node = new AudioWorkletNode(this.context, "levels", options);
    this.node.port.onmessage = ({ data }: MessageEvent<Message>) => this.take(data);
    // What leads nowhere is not run. The node puts out silence.
    this.node.connect(this.context.destination);
    void this.context.resume();
  }

  private take({ blocks, now, wall }: Message): void {
    const drift_ms = wall - now;
    const hole = this.drift_ms !== null && Math.abs(drift_ms - this.drift_ms) > HOLE_MS;
    if (this.listen() || hole) this.gaps.forget();
    this.drift_ms = hole || this.drift_ms === null ? drift_ms : Math.min(this.drift_ms, drift_ms);
    for (const [at_ms, caller, agent] of blocks) {
      const gap = this.gaps.hear({ at_ms, caller_dbfs: dbfs(caller), agent_dbfs: dbfs(agent) });
      if (gap) this.heard({ ...gap, at_ms: gap.at_ms + drift_ms });
    }
  }

  /** Hears the tracks that there are now; whether that is others than before. */
  private listen(): boolean {
    let changed = false;
    SIDES.forEach((side, input) => {
      const track = this.track(side);
      const before = this.sources.get(side);
      if (track === (before?.track ?? null)) return;
      before?.node.disconnect();
      this.sources.delete(side);
      // The agent's track comes once; a microphone that is changed takes its past with it.
      changed ||= before !== undefined;
      if (track === null) return;
      const node = this.context.createMediaStreamSource(new MediaStream([track]));
      node.connect(this.node!, 0, input);
      this.sources.set(side, { track, node });
    });
    return changed;
  }
}

const dbfs = (power: number): number => 10 * Math.log10(Math.max(power, 1e-12));
