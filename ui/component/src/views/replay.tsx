import { useEffect, useMemo, useState } from "preact/hooks";

import { lines } from "../captions";
import {
  type Tape,
  besides,
  callAfter,
  knownAt,
  markAt,
  placeOf,
  stateAt,
  tapeOf,
  wordsAt,
} from "../player";
import { type Component, readEvent } from "../timeline";
import { BookingCard } from "./booking-card";
import { Conversation } from "./conversation";
import { DelaysCard } from "./delays-card";
import { TroubleNote } from "./notes";
import { Problems } from "./problems";
import { Scrubber } from "./scrubber";
import { WORDS } from "./status";
import { usePlayhead } from "./playhead";

/** What the page's server sends of one recording. */
export interface Recorded {
  hotel_name: string;
  recording: string;
  is_linkable: boolean;
  began: string;
  events: unknown[];
  problems: string[];
  place: { turn: number | null; seq: number | null } | null;
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const NONE_HEARD = {}; // a browser that was not in the call heard nothing of it
const STEP_MS = { short: 1_000, long: 10_000 };

/** A recorded call, seen as it was seen live, with a playhead that can be moved. */
export function Replay({ recorded, close }: { recorded: Recorded; close(): void }) {
  const { hotel_name, events, place } = recorded;
  const tape = useMemo(
    () => tapeOf(events.map(readEvent).filter((event) => event !== null)),
    // A run of the page sends the same recording again.
    [recorded.recording, recorded.began, events.length],
  );
  const [speed, setSpeed] = useState<1 | 4>(1);
  const { at_ms, playing, seek, toggle } = usePlayhead(tape.length_ms, speed);
  useEffect(() => seek(placeOf(tape, place)), [tape, place?.turn, place?.seq]);

  const known = knownAt(tape, at_ms);
  const call = useMemo(() => callAfter(tape, known), [tape, known]);
  const state = stateAt(call, at_ms, tape);
  const troubles = Object.entries(call.troubles) as [Component, (typeof call.troubles)["stt"]][];
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = shortcut(event, tape, at_ms, seek, toggle);
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div
      class="app"
      data-phase="replay"
      data-seq={tape.events[known - 1]?.seq}
      onKeyDown={onKeyDown}
    >
      <div class="call replay">
        <div class="top">
          <header>
            <button class="quiet back" onClick={close}>
              <span aria-hidden="true">‹ </span>
              All recordings
            </button>
            <h1>{WHEN.format(new Date(recorded.began))}</h1>
            <div class="status" data-state={state}>
              <span class="state">{state === "ended" ? "Call ended" : WORDS[state]}</span>
            </div>
          </header>
          <Problems problems={recorded.problems} />
          {troubles.map(
            ([component, trouble]) =>
              trouble && <TroubleNote key={component} component={component} trouble={trouble} />,
          )}
        </div>
        <section class="card talk" aria-label="Recorded call">
          <Conversation
            lines={lines(call, wordsAt(tape, at_ms), [])}
            hotel={hotel_name}
            guest="Caller"
          />
          <Scrubber
            tape={tape}
            at_ms={at_ms}
            mark={markAt(tape, at_ms)}
            playing={playing}
            speed={speed}
            link={recorded.is_linkable ? recorded.recording : null}
            seek={seek}
            toggle={toggle}
            setSpeed={setSpeed}
          />
        </section>
        <aside tabIndex={0} aria-label="The request and the delays">
          <BookingCard call={call} />
          <DelaysCard call={call} heard={NONE_HEARD} now_ms={at_ms} />
        </aside>
      </div>
    </div>
  );
}

/** What a key does here, if anything: the same wherever in the replay the focus is. */
function shortcut(
  { key, shiftKey, altKey, ctrlKey, metaKey, target }: KeyboardEvent,
  tape: Tape,
  at_ms: number,
  seek: (at_ms: number) => void,
  toggle: () => void,
): (() => void) | null {
  if (altKey || ctrlKey || metaKey) return null;
  const element = target instanceof HTMLElement ? target : null;
  if (element?.matches("select")) return null;
  const step = shiftKey ? STEP_MS.long : STEP_MS.short;
  switch (key) {
    case " ":
      // On a button the space bar presses the button.
      return element?.matches("button, summary") ? null : toggle;
    case "ArrowLeft":
      return () => seek(at_ms - step);
    case "ArrowRight":
      return () => seek(at_ms + step);
    case "n":
    case "N":
      return () => seek(besides(tape, at_ms, 1));
    case "p":
    case "P":
      return () => seek(besides(tape, at_ms, -1));
    default:
      return null;
  }
}
