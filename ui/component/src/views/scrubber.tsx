import { useState } from "preact/hooks";

import { seconds } from "../delays";
import { type Mark, SPEEDS, type Speed, type Tape, besides, clock, seqAt } from "../player";
import { NextIcon, PauseIcon, PlayIcon, PreviousIcon } from "./icons";

interface Props {
  tape: Tape;
  at_ms: number;
  mark: Mark | null;
  playing: boolean;
  speed: Speed;
  /** The recording's name for a link to this moment; null where it has none. */
  link: string | null;
  seek(at_ms: number): void;
  toggle(): void;
  setSpeed(speed: Speed): void;
}

const turnName = ({ number, turn }: Mark): string =>
  number !== null ? `Turn ${number}` : turn === 0 ? "Greeting" : "Nothing heard";

/** Moves through a recording: by time, by turn, or by letting it play. */
export function Scrubber(props: Props) {
  const { tape, at_ms, mark, playing, speed, link, seek, toggle, setSpeed } = props;
  const { length_ms } = tape;
  const where = `${clock(at_ms)} of ${clock(length_ms)}${mark ? `, ${turnName(mark)}` : ""}`;
  return (
    <div class="scrubber" role="group" aria-label="Replay">
      <div class="track">
        <div class="marks" aria-hidden="true">
          {tape.marks.map((one) => (
            <i key={one.turn} style={{ left: `${(100 * one.at_ms) / Math.max(1, length_ms)}%` }} />
          ))}
        </div>
        <input
          type="range"
          min={0}
          max={Math.ceil(length_ms)}
          step={1}
          value={at_ms}
          aria-label="Moment of the call"
          aria-valuetext={where}
          title="← → one second, with Shift ten; N and P the next and previous turn; space plays"
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
        />
      </div>
      <div class="buttons">
        <button
          class="round"
          aria-label="Previous turn"
          title="Previous turn (P)"
          onClick={() => seek(besides(tape, at_ms, -1))}
        >
          <PreviousIcon />
        </button>
        <button
          class="round play"
          aria-label={playing ? "Pause" : "Play"}
          title={playing ? "Pause (space)" : "Play (space)"}
          onClick={toggle}
        >
          {playing ? <PauseIcon /> : <PlayIcon />}
        </button>
        <button
          class="round"
          aria-label="Next turn"
          title="Next turn (N)"
          onClick={() => seek(besides(tape, at_ms, 1))}
        >
          <NextIcon />
        </button>
        <time class="elapsed">
          {clock(at_ms)} / {clock(length_ms)}
        </time>
        <select
          aria-label="Go to a turn"
          value={mark?.turn ?? ""}
          onChange={(event) => {
            const chosen = tape.marks.find(
              ({ turn }) => turn === Number(event.currentTarget.value),
            );
            if (chosen) seek(chosen.at_ms);
          }}
        >
          {mark === null && <option value="">Turn…</option>}
          {tape.marks.map((one) => (
            <option key={one.turn} value={one.turn}>
              {turnName(one)}
              {one.gap_ms !== null && ` · gap ${seconds(one.gap_ms)}`}
            </option>
          ))}
        </select>
        <div class="speeds" role="group" aria-label="Speed">
          {SPEEDS.map((one) => (
            <button key={one} aria-pressed={one === speed} onClick={() => setSpeed(one)}>
              {one}×
            </button>
          ))}
        </div>
        {link !== null && <CopyLink recording={link} seq={seqAt(tape, at_ms)} />}
      </div>
    </div>
  );
}

/** Copies the address of this moment, for somebody else to open. */
function CopyLink({ recording, seq }: { recording: string; seq: number | null }) {
  const [said, say] = useState("Copy link");
  const copy = async (): Promise<void> => {
    const address = new URL(window.location.href);
    address.search = new URLSearchParams({ recording, seq: String(seq ?? 1) }).toString();
    try {
      await navigator.clipboard.writeText(address.href);
      say("Copied");
    } catch {
      window.prompt("The address of this moment", address.href);
    }
    setTimeout(() => say("Copy link"), 2_000);
  };
  return (
    <button class="quiet copy" onClick={() => void copy()}>
      <span role="status">{said}</span>
    </button>
  );
}
