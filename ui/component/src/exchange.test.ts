import assert from "node:assert/strict";
import { test } from "node:test";

import { Exchange } from "./exchange";
import type { Pass } from "./session";

const PASS: Pass = { url: "ws://127.0.0.1:7880", token: "t", worker_ready: true };

function exchange() {
  const asked: string[] = [];
  const one = new Exchange();
  one.connect((request) => asked.push(request));
  const answer = (request: string, pass: Pass) =>
    one.receive({ hotel_name: "", is_shown: true, answer: { request, pass } });
  return { one, asked, answer };
}

test("a pass is given for the request that it answers, and for no earlier one", async () => {
  const { one, asked, answer } = exchange();
  void one.requestPass();
  const second = one.requestPass();
  answer(asked[0]!, { ...PASS, token: "stale" });
  answer(asked[1]!, PASS);
  assert.deepEqual(await second, PASS);
});

test("a page whose server does not answer says so", async () => {
  const { one } = exchange();
  assert.deepEqual(await one.requestPass(5), { code: "page_server_silent" });
});
