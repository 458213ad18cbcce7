import { LABELS, nights, shown } from "../booking";
import type { Call } from "../call";
import { FIELDS } from "../timeline";

/** The booking request as it fills in; a corrected value is marked, with the old one struck out. */
export function BookingCard({ call: { booking, missing } }: { call: Call }) {
  const stay = nights(booking.check_in.value, booking.check_out.value);
  const begun = FIELDS.some((field) => booking[field].value !== null);
  return (
    <section class="card booking" aria-labelledby="booking-title">
      <header>
        <h2 id="booking-title">Your request</h2>
        {stay !== null && (
          <span class="badge">
            {stay} {stay === 1 ? "night" : "nights"}
          </span>
        )}
      </header>
      <dl aria-live="polite">
        {FIELDS.map((field) => {
          const { value, previous, words, revision } = booking[field];
          return (
            <div key={field} class={field} data-field={field}>
              <dt>{LABELS[field]}</dt>
              {/* A new key for each revision lets the mark of a change play again. */}
              <dd
                key={revision}
                class={revision > 1 ? "changed" : revision === 1 ? "set" : "open"}
                title={words === null ? undefined : `Heard: “${words}”`}
              >
                {previous !== null && (
                  <del>
                    <span class="for-screen-readers">was </span>
                    {shown(field, previous)}
                  </del>
                )}
                {value !== null && <span class="value">{shown(field, value)}</span>}
                {value === null && (field === "reference" ? "if you have one" : "not yet given")}
              </dd>
            </div>
          );
        })}
      </dl>
      <p class="small">
        {begun && missing.length === 0
          ? "All noted. This is a request: the front desk confirms it."
          : "This is a request, not a booking: the front desk confirms it."}
      </p>
    </section>
  );
}
