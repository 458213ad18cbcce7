import { useEffect, useRef } from "preact/hooks";

import type { Delays } from "../call";
import type { Line } from "../captions";
import { NAMES, seconds } from "../delays";

const NEAR_END_PX = 48;

interface Names {
  hotel: string;
  /** The caller's name on the screen: whoever looks on is not the caller. */
  guest?: string;
}

/**
 * The captions. What is finished stands in a log that screen readers announce; what is still being
 * said changes several times a second and is kept from them until it is finished.
 */
export function Conversation({ lines, ...names }: { lines: Line[] } & Names) {
  const { box, content, onScroll } = useKeptAtEnd();
  const finished = lines.filter((line) => !line.live);
  const live = lines.filter((line) => line.live);
  return (
    <div
      class="captions"
      ref={box}
      onScroll={onScroll}
      tabIndex={0}
      role="region"
      aria-label="Captions"
    >
      <div ref={content}>
        {lines.length === 0 && <p class="empty">What you and the hotel say appears here.</p>}
        <div role="log" aria-live="polite" aria-label="Conversation">
          <ol>
            {finished.map((line) => (
              <Caption key={line.key} line={line} {...names} />
            ))}
          </ol>
        </div>
        <ol aria-hidden="true" class="now">
          {live.map((line) => (
            <Caption key={line.key} line={line} {...names} />
          ))}
        </ol>
      </div>
    </div>
  );
}

/** Keeps a box scrolled to its end as it and its content change, unless someone scrolled up. */
function useKeptAtEnd() {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const last = useRef(0);
  useEffect(() => {
    const toEnd = (): void => {
      if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
    };
    const sizes = new ResizeObserver(toEnd);
    for (const part of [box.current, content.current]) if (part) sizes.observe(part);
    return () => sizes.disconnect();
  }, []);
  const onScroll = (): void => {
    if (!box.current) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    // Told late, a scroll to the end may find that the end has moved on: only a way up is a wish.
    if (near || scrollTop < last.current) atEnd.current = near;
    last.current = scrollTop;
  };
  return { box, content, onScroll };
}

function Caption({ line, hotel, guest = "You" }: { line: Line } & Names) {
  const { who, live, interrupted, typed, text, delays } = line;
  return (
    <li class={`line ${who}${live ? " live" : ""}`} data-who={who} data-live={live}>
      <span class="who">
        {who === "guest" ? guest : hotel}
        {typed && <em> typed</em>}
      </span>
      <p>
        {text}
        {interrupted && <span class="cut"> – interrupted</span>}
      </p>
      {delays && <TurnDelays delays={delays} />}
    </li>
  );
}

function TurnDelays({ delays }: { delays: Delays }) {
  const known = NAMES.filter(({ field }) => delays[field] !== null);
  if (known.length === 0) return null;
  return (
    <dl class="turn-delays">
      {known.map(({ field, name, meaning }) => (
        <div key={field} title={meaning} data-delay={field}>
          <dt>{name}</dt>
          <dd>{seconds(delays[field])}</dd>
        </div>
      ))}
    </dl>
  );
}
