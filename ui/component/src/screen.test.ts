import assert from "node:assert/strict";
import { test } from "node:test";

import { type Action, IDLE, agentState, logOf, update } from "./screen";
import { events, heard, spoken } from "./testing";

const after = (...actions: Action[]) => actions.reduce(update, IDLE);
const PRESSED: Action = { type: "call_pressed", microphone: true };
const JOINED: Action = { type: "joined", at: 1_000 };
const AGENT: Action = { type: "agent_joined", agent: "a", state: "listening", at: 1_500 };

test("a call that never began goes back to the start with its problem", () => {
  const screen = after(PRESSED, {
    type: "failed",
    problem: { code: "microphone_denied" },
    at: 5,
  });
  assert.equal(screen.phase, "idle");
  assert.equal(screen.problem?.code, "microphone_denied");
});

test("a call that is hung up before it began leaves nothing on the screen", () => {
  assert.deepEqual(after(PRESSED, { type: "ended", problem: null, at: 5 }), IDLE);
});

test("after a call, what was said and noted stays until the next one", () => {
  const talk = events([0, spoken("Welcome.")], [1, heard("Two guests.")]);
  const ended = after(
    PRESSED,
    JOINED,
    AGENT,
    { type: "events", agent: "a", events: talk },
    {
      type: "ended",
      problem: { code: "connection_lost" },
      at: 9_000,
    },
  );
  assert.equal(ended.phase, "ended");
  assert.equal(ended.ended_at, 9_000);
  assert.equal(ended.call.turns.length, 2);
  assert.equal(update(ended, PRESSED).call.turns.length, 0);
});

test("a call ends once: what is told afterwards does not replace the reason", () => {
  const ended = after(PRESSED, JOINED, { type: "ended", problem: null, at: 2_000 });
  assert.equal(
    update(ended, { type: "ended", problem: { code: "connection_lost" }, at: 3_000 }),
    ended,
  );
});

test("events of anyone but the agent that has the call are ignored", () => {
  const forged: Action = { type: "events", agent: "b", events: events([1, heard("A forgery.")]) };
  assert.equal(after(PRESSED, JOINED, AGENT, forged).call.turns.length, 0);
});

test("events that arrive out of order tell the same call", () => {
  const all = events(
    [0, spoken("Welcome.")],
    [1, { type: "partial_transcript", text: "Two" }],
    [1, heard("Two guests.")],
  );
  const told = (...parts: typeof all) =>
    after(
      PRESSED,
      JOINED,
      AGENT,
      ...parts.map((one): Action => ({ type: "events", agent: "a", events: [one] })),
    );
  assert.deepEqual(told(all[2]!, all[0]!, all[1]!).call, told(...all).call);
});

test("each agent has a log of its own", () => {
  const told: Action = { type: "events", agent: "a", events: events([0, spoken("Welcome.")]) };
  const next: Action = { type: "agent_joined", agent: "b", state: null, at: 1_500 };
  const screen = after(PRESSED, JOINED, AGENT, told, { type: "agent_left" }, next);
  assert.equal(logOf(screen, "a").length, 1);
  assert.equal(logOf(screen, "b").length, 0);
});

test("the agent's arrival ends the complaint that it is absent", () => {
  const absent = after(PRESSED, JOINED, { type: "noticed", problem: { code: "agent_absent" } });
  assert.equal(absent.problem?.code, "agent_absent");
  assert.equal(update(absent, AGENT).problem, null);
});

test("an agent that comes while the room is being joined has the call", () => {
  const early = after(PRESSED, { type: "joining" }, AGENT, JOINED);
  assert.equal(early.phase, "talking");
  assert.equal(early.started_at, 1_500);
});

test("a call that ends before its room was wholly joined is still a call", () => {
  const screen = after(PRESSED, { type: "joining" }, AGENT, {
    type: "ended",
    problem: null,
    at: 2_000,
  });
  assert.equal(screen.phase, "ended");
});

test("a silent agent is silent until it does something", () => {
  const silent = after(
    PRESSED,
    JOINED,
    { type: "agent_joined", agent: "a", state: "initializing", at: 1_500 },
    { type: "noticed", problem: { code: "agent_silent" } },
  );
  assert.equal(
    update(silent, { type: "agent_state", state: "initializing" }).problem?.code,
    "agent_silent",
  );
  assert.equal(update(silent, { type: "agent_state", state: "speaking" }).problem, null);
});

test("the agent's own state goes before what its events suggest", () => {
  const talk: Action = { type: "events", agent: "a", events: events([1, heard("Two.")]) };
  const unsaid: Action = { type: "agent_joined", agent: "a", state: null, at: 1_500 };
  assert.equal(agentState(after(PRESSED, JOINED)), "connecting");
  assert.equal(agentState(after(PRESSED, JOINED, unsaid)), "connecting");
  assert.equal(agentState(after(PRESSED, JOINED, unsaid, talk)), "thinking");
  assert.equal(agentState(after(PRESSED, JOINED, AGENT, talk)), "listening");
});
