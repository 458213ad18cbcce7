import { fold } from "../call";
import { lines } from "../captions";
import { latestTurn } from "../delays";
import { useWatched } from "../live";
import { BookingCard } from "./booking-card";
import { Conversation } from "./conversation";
import { DelaysCard } from "./delays-card";
import { WarningIcon } from "./icons";
import { WORDS } from "./status";
import { useWorkerClock } from "./worker-clock";

const NONE_HEARD = {}; // a browser that is not in the call hears nothing of it

interface Props {
  hotel: string;
  room: string;
  close(): void;
}

/** A call that goes on, seen by somebody who is not in it, from its beginning. */
export function Live({ hotel, room, close }: Props) {
  const watched = useWatched(room);
  const call = fold(watched.legs);
  const over = watched.is_over || call.ended !== null;
  const turn = latestTurn(call);
  const waits = turn?.moments.speech_ended != null && turn.moments.agent_speaking === null;
  const now_ms = useWorkerClock(call, waits && !over);
  const state = over ? "ended" : (call.activity ?? "connecting");
  const said = lines(call, [], []);
  return (
    <div class="app" data-phase="watching" data-seq={watched.legs.at(-1)?.at(-1)?.seq}>
      <div class="call replay">
        <div class="top">
          <header>
            <button class="quiet back" onClick={close}>
              <span aria-hidden="true">‹ </span>
              All recordings
            </button>
            <h1>{over ? "A call that has ended" : "A call as it goes on"}</h1>
            <div class="status" data-state={state}>
              <span class="state">{state === "ended" ? "Call ended" : WORDS[state]}</span>
            </div>
          </header>
          {watched.problem !== null && (
            <div class="note" role="alert" data-code="not_watched">
              <WarningIcon />
              <strong>{watched.problem}</strong>
            </div>
          )}
        </div>
        <section class="card talk" aria-label="Call">
          <Conversation
            lines={over ? said.map((line) => ({ ...line, live: false })) : said}
            hotel={hotel}
            guest="Caller"
          />
        </section>
        <aside tabIndex={0} aria-label="The request and the delays">
          <BookingCard call={call} />
          <DelaysCard call={call} heard={NONE_HEARD} now_ms={over ? null : now_ms} />
        </aside>
      </div>
    </div>
  );
}
