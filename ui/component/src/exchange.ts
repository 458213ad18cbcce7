/** Asks the page's server for a pass to one call, at the moment that the caller wants it. */

import type { Problem } from "./problems";
import type { Pass } from "./session";

/** What the page's server sends: the hotel, and its answer to the latest request. */
export interface Data {
  hotel_name: string;
  /** Whether the call's own view is open, and not another of the page's. */
  is_shown: boolean;
  answer: { request: string; pass: Pass | Problem } | null;
}

const ANSWER_TIMEOUT_MS = 15_000;

interface Pending {
  request: string;
  answered: (pass: Pass | Problem) => void;
  late: ReturnType<typeof setTimeout>;
}

export class Exchange {
  private requests = 0;
  private ask: (request: string) => void = () => undefined;
  private pending: Pending | null = null;

  /** Streamlit gives a new way to ask with each run of the page. */
  connect(ask: (request: string) => void): void {
    this.ask = ask;
  }

  receive({ answer }: Data): void {
    if (answer !== null && answer.request === this.pending?.request) this.settle(answer.pass);
  }

  /** A new request takes the place of one that was given up. */
  requestPass(timeout_ms = ANSWER_TIMEOUT_MS): Promise<Pass | Problem> {
    clearTimeout(this.pending?.late);
    return new Promise((answered) => {
      const request = `${Date.now()}-${(this.requests += 1)}`;
      const late = setTimeout(() => this.settle({ code: "page_server_silent" }), timeout_ms);
      this.pending = { request, answered, late };
      this.ask(request);
    });
  }

  private settle(pass: Pass | Problem): void {
    clearTimeout(this.pending?.late);
    this.pending?.answered(pass);
    this.pending = null;
  }
}
