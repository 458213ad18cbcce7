/**
 * Fetches the events that a late joiner missed.
 *
 * Data packets have no replay, and the agent may speak before the browser hears: whatever the
 * sequence numbers say is missing is asked for by RPC, page after page.
 */

import { type Room, RpcError } from "livekit-client";

import { type Action, type Screen, missingFrom } from "./screen";
import { SNAPSHOT_METHOD, readSnapshot } from "./timeline";

const RESPONSE_TIMEOUT_MS = 5_000;
const RETRY_AFTER_MS = [300, 700, 1_500, 3_000, 6_000];

export class Snapshots {
  private filling = false;
  private asked = false;

  constructor(
    private readonly room: Room,
    private readonly agent: string,
    private readonly dispatch: (action: Action) => void,
    private readonly screen: () => Screen,
  ) {}

  /** Asks for what is missing, or for everything on the first call; does nothing while asking. */
  async fill(): Promise<void> {
    if (this.filling || (this.asked && this.from() === null)) return;
    this.filling = true;
    try {
      for (const delay_ms of RETRY_AFTER_MS) {
        if (await this.fetch()) break;
        await new Promise((resume) => setTimeout(resume, delay_ms));
        if (this.room.state === "disconnected") break;
      }
    } finally {
      this.filling = false;
    }
  }

  private from(): number | null {
    return missingFrom(this.screen(), this.agent);
  }

  /** True when nothing is missing any more, as far as can be known. */
  private async fetch(): Promise<boolean> {
    let next: number | null = this.from() ?? 1;
    try {
      while (next !== null) {
        const reply: string = await this.room.localParticipant.performRpc({
          destinationIdentity: this.agent,
          method: SNAPSHOT_METHOD,
          payload: JSON.stringify({ from_seq: next }),
          responseTimeout: RESPONSE_TIMEOUT_MS,
        });
        const { events, next_seq } = readSnapshot(reply);
        this.dispatch({ type: "events", agent: this.agent, events });
        // A page that does not lead on would be asked for without end.
        next = next_seq !== null && next_seq > next ? next_seq : null;
      }
      this.asked = true;
      return this.from() === null;
    } catch (error) {
      // The agent may be there before its method is; a lost request is asked again.
      if (error instanceof RpcError) return false;
      throw error;
    }
  }
}
