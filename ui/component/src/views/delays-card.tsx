import type { Call } from "../call";
import { type HeardGaps, NAMES, chart, latestTurn, measured, seconds, summary } from "../delays";
import { KINDS, type Kind } from "../waterfall";
import { Waterfall } from "./waterfall";

const SIZE = { width: 340, height: 112 };
const FRAME = { left: 30, top: 8, width: 306, height: 84 };
const MOST_TURNS = 10;

interface Props {
  call: Call;
  /** The gaps that this browser heard itself; a recording has none. */
  heard: HeardGaps;
  /** Now on the worker's clock; null once nothing more will happen. */
  now_ms: number | null;
}

/** Where the time went: this turn's gap as it unfolds, the delays, and the last turns' gaps. */
export function DelaysCard({ call, heard, now_ms }: Props) {
  const turns = measured(call);
  const turn = latestTurn(call);
  return (
    <section class="card delays" aria-labelledby="delays-title">
      <h2 id="delays-title">Where the time went</h2>
      {turn && <Waterfall turn={turn} heard={heard} now_ms={now_ms} />}
      {call.impossible.length > 0 && (
        <p class="small impossible" title={call.impossible.join("; ")}>
          Left out, since it cannot be true: {call.impossible.at(-1)}
          {call.impossible.length > 1 && `, and ${call.impossible.length - 1} more`}
        </p>
      )}
      <dl class="legend">
        {NAMES.map(({ field, name, meaning }) => {
          const { latest, median, count } = summary(turns, field);
          return (
            <div key={field} data-delay={field}>
              <dt>{name}</dt>
              <dd class="value">
                {seconds(latest)}
                {count > 1 && (
                  <small>
                    median {seconds(median)}, n = {count}
                  </small>
                )}
              </dd>
              <dd class="meaning">{meaning}</dd>
            </div>
          );
        })}
      </dl>
      {turns.length === 0 ? (
        <p class="empty">The chart begins with your first turn.</p>
      ) : (
        <Chart turns={turns.slice(-MOST_TURNS)} heard={heard} />
      )}
    </section>
  );
}

function Chart({ turns, heard }: { turns: ReturnType<typeof measured>; heard: HeardGaps }) {
  const drawn = chart(turns, heard, FRAME);
  const kinds = [...new Set(drawn.bars.map(({ kind }) => kind))];
  const under = FRAME.top + FRAME.height + 14;
  return (
    <figure>
      <figcaption>
        <span>Gap by turn</span>
        <ul class="kinds">
          {(Object.keys(KINDS) as Kind[])
            .filter((kind) => kinds.includes(kind))
            .map((kind) => (
              <li key={kind} class={kind}>
                <i aria-hidden="true" />
                {KINDS[kind]}
              </li>
            ))}
          {drawn.heard.length > 0 && (
            <li class="heard">
              <i aria-hidden="true" />
              heard here
            </li>
          )}
        </ul>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label="Gaps by turn, in seconds; the table after it has the same numbers"
      >
        {drawn.ticks.map(({ y, seconds: value_s }) => (
          <g key={value_s}>
            <line class="grid" x1={FRAME.left} x2={FRAME.left + FRAME.width} y1={y} y2={y} />
            <text class="tick" x={FRAME.left - 5} y={y + 3.5} text-anchor="end">
              {value_s}
              {value_s > 0 && " s"}
            </text>
          </g>
        ))}
        {drawn.bars.map((bar) => (
          <rect
            key={`${bar.turn}.${bar.key}`}
            class={bar.kind}
            data-turn={bar.turn}
            x={bar.x}
            y={bar.y}
            width={bar.width}
            height={bar.height}
          >
            <title>{`Turn ${bar.turn}, ${bar.name}: ${seconds(bar.ms)}`}</title>
          </rect>
        ))}
        {drawn.heard.map(({ turn, x, y, width, ms }) => (
          <line key={turn} class="heard" x1={x} x2={x + width} y1={y} y2={y}>
            <title>{`Turn ${turn}, heard here: ${seconds(ms)}`}</title>
          </line>
        ))}
        {drawn.turns.map(({ x, number }) => (
          <text key={number} class="tick" x={x} y={under} text-anchor="middle">
            {number}
          </text>
        ))}
        <text class="tick" x={FRAME.left - 5} y={under} text-anchor="end">
          turn
        </text>
      </svg>
      {/* In a box of its own: a table takes the width that its columns need, whatever it is told. */}
      <div class="for-screen-readers">
        <table>
          <caption>Delays by turn</caption>
          <thead>
            <tr>
              <th scope="col">Turn</th>
              {NAMES.map(({ field, name }) => (
                <th key={field} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">Gap heard here</th>
            </tr>
          </thead>
          <tbody>
            {turns.map(({ key, number, delays }) => (
              <tr key={number}>
                <th scope="row">{number}</th>
                {NAMES.map(({ field }) => (
                  <td key={field}>{orUnknown(delays[field])}</td>
                ))}
                <td>{orUnknown(heard[key] ?? null)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

const orUnknown = (ms: number | null): string => (ms === null ? "not measured" : seconds(ms));
