/** Asks the page's server for a pass to one call, at the moment that the caller wants it. */

import type { Problem } from "./problems";
import type { Pass } from "./session";

/** What the page's server sends: the hotel, and its answer to the latest request. */
export interface Data {
  hotel_name: string;
  answer: { request: string; pass: Pass | Problem } | null;
}

const ANSWER_TIMEOUT_MS = 15_000;

export class Exchange {
  private requests = 0;
  private ask: (request: string) => void = () => undefined;
  private pending: { request: string; answered: (pass: Pass | Problem) => void } | null = null;

  /** Streamlit gives a new way to ask with each run of the page. */
  connect(ask: (request: string) => void): void {
    this.ask = ask;
  }

  receive({ answer }: Data): void {
    if (answer === null || answer.request !== this.pending?.request) return;
    this.pending.answered(answer.pass);
    this.pending = null;
  }

  requestPass(timeout_ms = ANSWER_TIMEOUT_MS): Promise<Pass | Problem> {
    return new Promise((resolve) => {
      const request = `${Date.now()}-${(this.requests += 1)}`;
      const late = setTimeout(() => resolve({ code: "page_server_silent" }), timeout_ms);
      this.pending = {
        request,
        answered: (pass) => {
          clearTimeout(late);
          resolve(pass);
        },
      };
      this.ask(request);
    });
  }
}
