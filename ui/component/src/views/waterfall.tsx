import { nice } from "d3-array";

import type { Turn } from "../call";
import { type HeardGaps, millis, seconds } from "../delays";
import { segments, total } from "../waterfall";

const SHORTEST_AXIS_MS = 500;

interface Props {
  turn: Turn & { number: number };
  heard: HeardGaps;
  /** Now on the worker's clock; null once nothing more will happen. */
  now_ms: number | null;
}

/** One turn's gap, part by part, each beginning where the one before it ended. */
export function Waterfall({ turn, heard, now_ms }: Props) {
  const { delays, moments } = turn;
  const answered = moments.agent_speaking !== null;
  const drawn =
    answered && delays.gap_ms === null
      ? []
      : segments(turn.waterfall, moments, answered ? null : now_ms);
  if (drawn.length === 0 && !answered) return null; // nothing to wait for yet
  const [, axis_ms] = nice(0, Math.max(SHORTEST_AXIS_MS, total(drawn)), 4);
  const percent = (ms: number): string => `${(100 * ms) / axis_ms}%`;
  const id = `waterfall-${turn.key}`;
  return (
    <section class="waterfall" aria-labelledby={id} data-turn={turn.number}>
      <header>
        <h3 id={id}>Turn {turn.number}</h3>
        <Gap told_ms={delays.gap_ms} heard_ms={heard[turn.key] ?? null} waits={!answered} />
      </header>
      {answered && delays.gap_ms === null && (
        <p class="small">When the caller fell silent is not known here.</p>
      )}
      <ol>
        {drawn.map(({ key, kind, name, meaning, from_ms, ms, growing }) => (
          <li key={key} data-part={key} class={kind} title={`${name}: ${meaning}`}>
            <span class="name">{name}</span>
            <span class="lane" aria-hidden="true">
              {ms !== null && ms > 0 && (
                <i
                  class={growing ? "growing" : ""}
                  style={{ left: percent(from_ms), width: percent(ms) }}
                />
              )}
            </span>
            <span class="ms" aria-hidden={growing}>
              {ms === null ? "unknown" : millis(ms)}
              {growing && " …"}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Gap({
  told_ms,
  heard_ms,
  waits,
}: Record<"told_ms" | "heard_ms", number | null> & {
  waits: boolean;
}) {
  if (waits) return <span class="small">so far</span>;
  return (
    <dl class="gaps">
      <div title="From the caller's last sound to the agent's first, as the agent's side measured it">
        <dt>Gap</dt>
        <dd data-gap="told">{seconds(told_ms)}</dd>
      </div>
      {heard_ms !== null && (
        <div title="The same gap in the sound of this browser: its microphone and what it played">
          <dt>heard here</dt>
          <dd data-gap="heard">
            {seconds(heard_ms)}
            {told_ms !== null && <small> {difference(heard_ms - told_ms)}</small>}
          </dd>
        </div>
      )}
    </dl>
  );
}

const difference = (ms: number): string => `${ms < 0 ? "−" : "+"}${Math.abs(Math.round(ms))} ms`;
