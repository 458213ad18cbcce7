/**
 * Fetches the events that a late joiner missed.
 *
 * Data packets have no replay, and the agent may speak before the browser hears: what the sequence
 * numbers say is missing is asked for by RPC, page after page.
 */

import type { Room } from "livekit-client";

import { completeTo, hasGap } from "./log";
import { type Action, type Screen, logOf } from "./screen";
import { SNAPSHOT_METHOD, readSnapshot } from "./timeline";

const RESPONSE_TIMEOUT_MS = 5_000;
// The agent may be in the room before it answers, and a request may be lost.
const ASK_AGAIN_AFTER_MS = [300, 700, 1_500, 3_000, 6_000];

export class Snapshots {
  private asking = false;
  /** A gap that the agent could not fill. It is not asked for again with every event. */
  private hopeless: number | null = null;

  constructor(
    private readonly room: Room,
    private readonly agent: string,
    private readonly dispatch: (action: Action) => void,
    private readonly screen: () => Screen,
  ) {}

  /** Fetches what is missing between the events that are known; does nothing if nothing is. */
  async fill(): Promise<void> {
    const log = this.log();
    if (hasGap(log) && completeTo(log) !== this.hopeless) await this.fetch();
  }

  /** Fetches everything after the last event up to which all are known. */
  async fetch(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    this.hopeless = null;
    for (const delay_ms of ASK_AGAIN_AFTER_MS) {
      if ((await this.ask()) && !hasGap(this.log())) break;
      await new Promise((resume) => setTimeout(resume, delay_ms));
    }
    if (hasGap(this.log())) {
      this.hopeless = completeTo(this.log());
      if (this.screen().phase === "talking")
        this.dispatch({ type: "noticed", problem: { code: "events_missing" } });
    }
    this.asking = false;
  }

  private log() {
    return logOf(this.screen(), this.agent);
  }

  /** Whether the agent answered, to the last page. */
  private async ask(): Promise<boolean> {
    let from_seq: number | null = completeTo(this.log()) + 1;
    while (from_seq !== null) {
      let reply: string;
      try {
        reply = await this.room.localParticipant.performRpc({
          destinationIdentity: this.agent,
          method: SNAPSHOT_METHOD,
          payload: JSON.stringify({ from_seq }),
          responseTimeout: RESPONSE_TIMEOUT_MS,
        });
      } catch {
        return false; // not there yet, gone, or without the method: none of it ends the call
      }
      const { events, next_seq } = readSnapshot(reply);
      this.dispatch({ type: "events", agent: this.agent, events });
      // A page that does not lead on would be asked for without end.
      from_seq = next_seq !== null && next_seq > from_seq ? next_seq : null;
    }
    return true;
  }
}
