import type { Problem } from "../problems";
import { Harbour } from "./harbour";
import { PhoneIcon } from "./icons";
import { ProblemNote } from "./notes";

interface Props {
  hotel: string;
  problem: Problem | null;
  preparing: boolean;
  start(microphone: boolean): void;
  cancel(): void;
}

const CAN_TYPE = new Set(["microphone_denied", "microphone_missing", "microphone_busy"]);

/** Before a call: one button, and what stands in the way of calling, if anything does. */
export function Welcome({ hotel, problem, preparing, start, cancel }: Props) {
  return (
    <section class="welcome">
      <Harbour />
      <div class="invitation">
        <h1>{hotel}</h1>
        <p class="lead">
          Ask for a room by voice. Our assistant notes down your dates and reads them back to you.
        </p>
        {problem && <ProblemNote problem={problem} />}
        {preparing ? (
          <div class="choices">
            <p class="preparing" role="status">
              <span class="spinner" aria-hidden="true" />
              Allow the microphone if your browser asks…
            </p>
            <button class="quiet" onClick={cancel}>
              Cancel
            </button>
          </div>
        ) : (
          <div class="choices">
            <button class="primary" onClick={() => start(true)}>
              <PhoneIcon />
              {problem ? "Try again" : "Call the hotel"}
            </button>
            {problem && CAN_TYPE.has(problem.code) && (
              <button class="quiet" onClick={() => start(false)}>
                Type instead
              </button>
            )}
          </div>
        )}
        <p class="small">
          You will speak with an automated assistant. It takes your request; the front desk confirms
          it.
        </p>
      </div>
    </section>
  );
}
