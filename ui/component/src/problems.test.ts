import assert from "node:assert/strict";
import { test } from "node:test";

import { addressProblem, microphoneProblem } from "./problems";

const from = (page: string, server: string) => addressProblem(new URL(page), server)?.code ?? null;

test("a browser's error becomes what a person can mend", () => {
  assert.equal(microphoneProblem("NotAllowedError").code, "microphone_denied");
  assert.equal(microphoneProblem("NotFoundError").code, "microphone_missing");
  assert.equal(microphoneProblem("NotReadableError").code, "microphone_busy");
  assert.equal(microphoneProblem("").code, "microphone_busy");
});

test("an address that only works on the server's own machine is told before it is tried", () => {
  assert.equal(from("http://localhost:8501/", "ws://127.0.0.1:7880"), null);
  assert.equal(from("https://hotel.example/", "ws://127.0.0.1:7880"), "room_server_only_local");
  assert.equal(from("http://192.168.1.5:8501/", "ws://localhost:7880"), "room_server_only_local");
});

test("a page over HTTPS cannot use a room server without TLS", () => {
  assert.equal(from("https://hotel.example/", "ws://rooms.example"), "room_server_needs_tls");
  assert.equal(from("https://hotel.example/", "wss://rooms.example"), null);
  assert.equal(from("http://hotel.example/", "ws://rooms.example"), null);
});
