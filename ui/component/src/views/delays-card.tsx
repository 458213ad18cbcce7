import type { Call } from "../call";
import { NAMES, chart, measured, seconds, summary } from "../delays";

const SIZE = { width: 340, height: 138 };
const FRAME = { left: 30, top: 8, width: 306, height: 110 };
const MOST_TURNS = 10;

/** Where the time went: each delay's latest value and median, what it means, and all by turn. */
export function DelaysCard({ call }: { call: Call }) {
  const turns = measured(call);
  return (
    <section class="card delays" aria-labelledby="delays-title">
      <h2 id="delays-title">Where the time went</h2>
      <dl class="legend">
        {NAMES.map(({ field, name, meaning }) => {
          const { latest, median, count } = summary(turns, field);
          return (
            <div key={field} class={field} data-delay={field}>
              <dt>
                <i aria-hidden="true" />
                {name}
              </dt>
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
        <Chart turns={turns.slice(-MOST_TURNS)} />
      )}
    </section>
  );
}

function Chart({ turns }: { turns: ReturnType<typeof measured> }) {
  const drawn = chart(turns, FRAME);
  const names = Object.fromEntries(NAMES.map(({ field, name }) => [field, name]));
  return (
    <figure>
      <svg
        class="chart"
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-label="Delays by turn, in seconds; the table after it has the same numbers"
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
            key={`${bar.turn}.${bar.field}`}
            class={bar.field}
            x={bar.x}
            y={bar.y}
            width={bar.width}
            height={bar.height}
            rx="1.5"
          >
            <title>{`Turn ${bar.turn}, ${names[bar.field]}: ${seconds(bar.ms)}`}</title>
          </rect>
        ))}
        {drawn.turns.map(({ x, number }) => (
          <text
            key={number}
            class="tick"
            x={x}
            y={FRAME.top + FRAME.height + 14}
            text-anchor="middle"
          >
            {number}
          </text>
        ))}
        <text class="tick" x={FRAME.left - 5} y={FRAME.top + FRAME.height + 14} text-anchor="end">
          turn
        </text>
      </svg>
      <table class="for-screen-readers">
        <caption>Delays by turn</caption>
        <thead>
          <tr>
            <th scope="col">Turn</th>
            {NAMES.map(({ field, name }) => (
              <th key={field} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {turns.map(({ number, delays }) => (
            <tr key={number}>
              <th scope="row">{number}</th>
              {NAMES.map(({ field }) => (
                <td key={field}>
                  {delays[field] === null ? "not measured" : seconds(delays[field])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
