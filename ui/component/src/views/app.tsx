import { useEffect, useRef } from "preact/hooks";

import { lines } from "../captions";
import { latestTurn } from "../delays";
import type { Screen } from "../screen";
import type { Session } from "../session";
import type { Component } from "../timeline";
import { BookingCard } from "./booking-card";
import { Controls } from "./controls";
import { CallBar } from "./call-bar";
import { Conversation } from "./conversation";
import { DelaysCard } from "./delays-card";
import { ProblemNote, Reconnecting, TroubleNote } from "./notes";
import { Status } from "./status";
import { Welcome } from "./welcome";
import { useWorkerClock } from "./worker-clock";

interface Props {
  hotel: string;
  screen: Screen;
  session: Session;
  start(microphone: boolean): void;
}

export function App({ isShown, ...props }: Props & { isShown: boolean }) {
  return isShown ? <Shown {...props} /> : <CallBar {...props} />;
}

function Shown({ hotel, screen, session, start }: Props) {
  const { phase, problem } = screen;
  const root = useRef<HTMLDivElement>(null);
  const calling = phase !== "idle" && phase !== "preparing";
  const first = useRef(true);
  useEffect(() => {
    // The button that had the focus is gone with its screen; the next screen takes it.
    if (!first.current) root.current?.focus({ preventScroll: true });
    first.current = false;
  }, [calling, phase === "ended"]);
  return (
    <div class="app" ref={root} tabIndex={-1} data-phase={phase}>
      {calling ? (
        <CallView hotel={hotel} screen={screen} session={session} start={start} />
      ) : (
        <Welcome
          hotel={hotel}
          problem={problem}
          preparing={phase === "preparing"}
          start={start}
          cancel={() => session.hangUp()}
        />
      )}
    </div>
  );
}

/** The delays while the call goes on: this turn's grow before one's eyes. */
function LiveDelays({ screen: { call, phase, heard_gaps } }: { screen: Screen }) {
  const turn = latestTurn(call);
  const goes_on = phase === "talking" && call.ended === null;
  const { speech_ended, agent_speaking } = turn?.moments ?? {};
  const waits = goes_on && speech_ended != null && agent_speaking === null;
  const now_ms = useWorkerClock(call, waits);
  return <DelaysCard call={call} heard={heard_gaps} now_ms={goes_on ? now_ms : null} />;
}

function CallView({ hotel, screen, session, start }: Props) {
  const { call, phase, problem, reconnecting, sound_blocked, words, typed } = screen;
  const ended = phase === "ended";
  const said = lines(call, words, typed);
  const troubles = Object.entries(call.troubles) as [Component, (typeof call.troubles)["stt"]][];
  return (
    <div class="call">
      <div class="top">
        <header>
          <h1>{hotel}</h1>
          <Status screen={screen} session={session} />
        </header>
        {reconnecting && <Reconnecting />}
        {problem && <ProblemNote problem={problem} />}
        {troubles.map(
          ([component, trouble]) =>
            trouble &&
            !(ended && trouble.recoverable) && (
              <TroubleNote key={component} component={component} trouble={trouble} />
            ),
        )}
        {sound_blocked && (
          <button class="primary" onClick={() => void session.allowSound()}>
            Turn on the sound
          </button>
        )}
      </div>
      <section class="card talk" aria-label="Call">
        <Conversation
          lines={ended ? said.map((line) => ({ ...line, live: false })) : said}
          hotel={hotel}
        />
        <Controls screen={screen} session={session} start={start} />
      </section>
      <aside tabIndex={0} aria-label="Your request and the delays">
        <BookingCard call={call} />
        <LiveDelays screen={screen} />
      </aside>
    </div>
  );
}
