/** What the page's server streams of the calls that go on (the other side is ui/live.py). */

import { useEffect, useState } from "preact/hooks";

import { type Log, merge } from "./log";
import { readEvent } from "./timeline";

export interface GoingOn {
  room: string;
  began: string;
}

export interface Watched {
  /** What each agent that had the call told, in their order. */
  legs: readonly Log[];
  is_over: boolean;
  problem: string | null;
}

interface Message {
  legs: unknown[][];
  is_over: boolean;
  problem: string | null;
}

const ASK_EVERY_MS = 3_000;
const OPEN_AGAIN_MS = 1_000;

const address = (path: string): URL => new URL(path, window.location.href);

/** The calls that go on now, asked for again and again while the page is seen. */
export function useCalls(): readonly GoingOn[] {
  const [calls, setCalls] = useState<readonly GoingOn[]>([]);
  useEffect(() => {
    const ask = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const answer = await fetch(address("live"));
        setCalls(answer.ok ? ((await answer.json()) as GoingOn[]) : []);
      } catch {
        setCalls([]); // Streamlit says that its server is gone
      }
    };
    void ask();
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return calls;
}

/** What is known with one more message; one that comes again after a lost connection adds nothing. */
export function heardOf(watched: Watched, { legs, is_over, problem }: Message): Watched {
  const merged = legs.map((told, leg) =>
    merge(
      watched.legs[leg] ?? [],
      told.map(readEvent).filter((event) => event !== null),
    ),
  );
  return { legs: merged, is_over, problem };
}

export const NOTHING_YET: Watched = { legs: [], is_over: false, problem: null };

/** One call as it goes on, from its beginning; a lost connection is made again. */
export function useWatched(room: string): Watched {
  const [watched, setWatched] = useState(NOTHING_YET);
  useEffect(() => {
    let over = false;
    let socket: WebSocket;
    let again: ReturnType<typeof setTimeout>;
    const open = (): void => {
      const url = address(`live/${encodeURIComponent(room)}`);
      url.protocol = url.protocol.replace("http", "ws");
      socket = new WebSocket(url);
      socket.onmessage = ({ data }: MessageEvent<string>) => {
        const message = JSON.parse(data) as Message;
        over = message.is_over;
        setWatched((before) => heardOf(before, message));
      };
      socket.onclose = () => {
        if (!over) again = setTimeout(open, OPEN_AGAIN_MS);
      };
    };
    open();
    return () => {
      over = true;
      clearTimeout(again);
      socket.close();
    };
  }, [room]);
  return watched;
}
