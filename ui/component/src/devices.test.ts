import assert from "node:assert/strict";
import { test } from "node:test";

import { choices, ofKind } from "./devices";

test("only what can be told apart can be chosen, and what is used is marked", () => {
  const listed = [
    { kind: "audioinput", deviceId: "a", label: "Headset" },
    { kind: "audioinput", deviceId: "b", label: "Built-in" },
    { kind: "videoinput", deviceId: "c", label: "Camera" },
    { kind: "audiooutput", deviceId: "", label: "" },
  ] as const;
  const devices = choices(listed, { audioinput: "b" });
  assert.deepEqual(
    ofKind(devices, "audioinput").map(({ name, is_used }) => [name, is_used]),
    [
      ["Headset", false],
      ["Built-in", true],
    ],
  );
  assert.deepEqual(ofKind(devices, "audiooutput"), []);
});
