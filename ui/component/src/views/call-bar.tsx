import type { Screen } from "../screen";
import type { Session } from "../session";
import { MuteButton } from "./controls";
import { HangUpIcon } from "./icons";
import { ProblemNote, Reconnecting } from "./notes";
import { Status } from "./status";

/** The call while another view of the page is open: it goes on, and can be ended from here. */
export function CallBar({ screen, session }: { screen: Screen; session: Session }) {
  const { phase, problem, reconnecting } = screen;
  const over = phase === "idle" || phase === "ended";
  if (over && !problem) return null;
  return (
    <div class="app beside" data-phase={phase}>
      {!over && (
        <section class="call-bar card" aria-label="Your call">
          <strong>Your call goes on</strong>
          <Status screen={screen} session={session} />
          {screen.microphone && <MuteButton screen={screen} session={session} />}
          <button class="hang-up" onClick={() => session.hangUp()}>
            <HangUpIcon />
            Hang up
          </button>
        </section>
      )}
      {reconnecting && <Reconnecting />}
      {problem && <ProblemNote problem={problem} />}
    </div>
  );
}
