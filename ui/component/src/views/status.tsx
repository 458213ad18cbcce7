import { useCallback, useEffect, useState } from "preact/hooks";

import { type AgentState, type Screen, agentState } from "../screen";
import type { Session } from "../session";
import { Meter } from "./meter";

export const WORDS: Record<AgentState, string> = {
  connecting: "Connecting",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
};

/** What the assistant is doing, with the level of whoever has the word, and how long the call is. */
export function Status({ screen, session }: { screen: Screen; session: Session }) {
  const state = agentState(screen);
  const side = state === "speaking" ? "hotel" : "guest";
  const track = useCallback(() => session.track(side), [session, side]);
  const ended = screen.phase === "ended";
  return (
    <div class="status" data-state={ended ? "ended" : state}>
      {ended ? (
        <span class="state" role="status">
          Call ended
        </span>
      ) : (
        <>
          <Meter track={track} />
          <span class="state">{WORDS[state]}</span>
          <span class="for-screen-readers" role="status">
            {screen.phase === "talking" ? "The call is connected" : "Connecting the call"}
          </span>
        </>
      )}
      {screen.started_at !== null && <Elapsed from={screen.started_at} to={screen.ended_at} />}
    </div>
  );
}

function Elapsed({ from, to }: { from: number; to: number | null }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (to !== null) return;
    const clock = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(clock);
  }, [to]);
  const total_s = Math.max(0, Math.floor(((to ?? now) - from) / 1000));
  const [minutes, seconds] = [Math.floor(total_s / 60), total_s % 60];
  return (
    <time class="elapsed" dateTime={`PT${total_s}S`} aria-label="Length of the call">
      {minutes}:{String(seconds).padStart(2, "0")}
    </time>
  );
}
