/** What can go wrong, said plainly: what it is, and what to do about it. */

import type { Component } from "./timeline";

export type ProblemCode =
  | "microphone_denied"
  | "microphone_missing"
  | "microphone_busy"
  | "microphone_insecure"
  | "microphone_lost"
  | "page_server_silent"
  | "room_server_unreachable"
  | "room_server_refuses_key"
  | "room_server_failing"
  | "room_server_only_local"
  | "room_server_needs_tls"
  | "room_unreachable"
  | "media_blocked"
  | "connection_lost"
  | "agent_absent"
  | "agent_busy"
  | "agent_silent"
  | "agent_left"
  | "agent_gone"
  | "agent_failed"
  | "other_version"
  | "events_missing"
  | "elsewhere";

export interface Problem {
  code: ProblemCode;
  /** What the problem is about, such as an address. Never a key or anything a caller said. */
  detail?: string | undefined;
}

export interface Explanation {
  title: string;
  remedy: string;
  /** A command to run on the machine that serves the page. */
  command?: string;
}

const EXPLANATIONS: Record<ProblemCode, Explanation> = {
  microphone_denied: {
    title: "The microphone is blocked",
    remedy:
      "Allow the microphone for this page with the icon beside the address, then call again. " +
      "You can also go on by typing.",
  },
  microphone_missing: {
    title: "No microphone was found",
    remedy:
      "Connect one, or choose one in the system's sound settings, then call again. You can also go on by typing.",
  },
  microphone_busy: {
    title: "The microphone could not be started",
    remedy:
      "Another program may be using it. Close that program, then call again. You can also go on by typing.",
  },
  microphone_insecure: {
    title: "This address may not use the microphone",
    remedy:
      "Browsers give the microphone only to pages over HTTPS or on the same machine. " +
      "Open the page over HTTPS or as http://localhost.",
  },
  microphone_lost: {
    title: "The microphone was disconnected",
    remedy:
      "The hotel can no longer hear you. Connect it again and call again, or go on by typing.",
  },
  page_server_silent: {
    title: "The page's server does not answer",
    remedy: "It may have been stopped. Start it again, then reload this page.",
    command: "python -m selfhost up",
  },
  room_server_unreachable: {
    title: "The room server cannot be reached",
    remedy:
      "Nothing answers at the address in LIVEKIT_URL. Start the room server, then call again.",
    command: "python -m selfhost up",
  },
  room_server_refuses_key: {
    title: "The room server refuses the page's key",
    remedy:
      "LIVEKIT_API_KEY and LIVEKIT_API_SECRET have to be those of the server in LIVEKIT_URL. " +
      "Correct them, restart the page, then call again.",
  },
  room_server_failing: {
    title: "The room server answers, but with an error",
    remedy: "Look at the room server's log, then call again.",
  },
  room_server_only_local: {
    title: "This device cannot reach the room server",
    remedy:
      "The page hands out an address that works only on the machine it runs on. " +
      "Open the page there, or set LIVEKIT_URL to an address that this device can reach.",
  },
  room_server_needs_tls: {
    title: "This page cannot reach the room server securely",
    remedy:
      "A page over HTTPS needs a room server over wss://. Set LIVEKIT_URL to its wss:// address.",
  },
  room_unreachable: {
    title: "The call could not be connected",
    remedy:
      "The room server runs, but this browser cannot reach it. Check the network, then call again.",
  },
  media_blocked: {
    title: "No sound can get through",
    remedy:
      "The room server was reached, but the network lets no audio pass. " +
      "Try another network, or open the server's UDP ports.",
  },
  connection_lost: {
    title: "The connection was lost",
    remedy: "Check your network, then call again. What the hotel noted so far is shown here.",
  },
  agent_absent: {
    title: "The agent worker is not running",
    remedy:
      "Nobody is there to take the call. Start the worker; this call goes on as soon as it is up.",
    command: "python -m agent dev",
  },
  agent_busy: {
    title: "Nobody has taken the call yet",
    remedy:
      "The agent worker is running, but may be taking other calls. You can wait, or call again later.",
  },
  agent_silent: {
    title: "The assistant is there, but has not said anything",
    remedy: "It may still be starting. If this stays, hang up and look at the worker's log.",
    command: "python -m agent doctor",
  },
  agent_left: {
    title: "The assistant dropped out of the call",
    remedy: "Please stay on the line: another may take over in a moment.",
  },
  agent_gone: {
    title: "The assistant dropped out of the call",
    remedy: "Please call again. What the hotel noted so far is shown here.",
  },
  agent_failed: {
    title: "The assistant had to end the call",
    remedy:
      "Something it needs does not work; the worker's log says what. Please call again in a moment. " +
      "What the hotel noted so far is shown here.",
    command: "python -m agent doctor",
  },
  other_version: {
    title: "The assistant tells of the call in words that this page does not know",
    remedy:
      "You can talk as usual, but not all of it is shown. The page and the worker are of different " +
      "versions: update the older one, then reload this page.",
  },
  events_missing: {
    title: "Something that happened in this call is not shown",
    remedy: "The assistant could not tell it again. The call itself goes on as usual.",
  },
  elsewhere: {
    title: "This call goes on in another window",
    remedy: "Use that window, or call again here.",
  },
};

export const explain = ({ code }: Problem): Explanation => EXPLANATIONS[code];

const TROUBLES: Record<Component, [title: string, recovering: string, failed: string]> = {
  stt: [
    "The speech recognition has a problem",
    "It is being tried again. Please repeat what you said last.",
    "The hotel cannot hear you at the moment. Please type, or call again later.",
  ],
  llm: [
    "The language model does not answer in time",
    "The assistant answers in simpler words meanwhile.",
    "The assistant answers in simpler words meanwhile.",
  ],
  tts: [
    "The voice has a problem",
    "It is being tried again. Replies are still shown here in writing.",
    "The assistant cannot be heard at the moment. Its replies are shown here in writing.",
  ],
  session: [
    "The assistant has a problem",
    "It is being tried again.",
    "It could not be started properly. Hang up and look at the worker's log.",
  ],
};

/** A component's error as a caller may read it; the technical message is shown apart. */
export function explainTrouble(component: Component, recoverable: boolean): Explanation {
  const [title, recovering, failed] = TROUBLES[component];
  return { title, remedy: recoverable ? recovering : failed };
}

/** The problem behind a microphone that did not open, from the name of the browser's error. */
export function microphoneProblem(name: string): Problem {
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return { code: "microphone_denied" };
    case "NotFoundError":
    case "OverconstrainedError":
      return { code: "microphone_missing" };
    default:
      return { code: "microphone_busy", detail: name };
  }
}

/** Why a page at `page` could never reach a room server at `server`, or null where it could. */
export function addressProblem(page: Location | URL, server: string): Problem | null {
  const room = new URL(server);
  if (isLoopback(room.hostname) && !isLoopback(page.hostname))
    return { code: "room_server_only_local", detail: server };
  if (page.protocol === "https:" && room.protocol === "ws:" && !isLoopback(room.hostname))
    return { code: "room_server_needs_tls", detail: server };
  return null;
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || host.endsWith(".localhost") || /^127\./.test(host);
