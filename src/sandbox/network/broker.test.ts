// An answer of the daemon that comes after the broker stopped waiting for it.
import { expect, test } from "vitest";
import { NO_USAGE } from "../plan/sandboxes.ts";
import { Broker } from "./broker.ts";
import type { BrokerMessage } from "./messages.ts";

const upstream = { url: "https://a.example.com", header: "x-api-key", prefix: "", value: "YQ==", keepsPrompt: false };

test.each<[string, object, readonly BrokerMessage[]]>([
  [
    "a model that may be used is reported as not sent",
    { kind: "model-answer", number: 4, code: null, message: "", outputTokens: null, upstream },
    [{ kind: "model-report", number: 4, ...NO_USAGE }],
  ],
  [
    "a model that is denied",
    { kind: "model-answer", number: 4, code: "revoked", message: "", outputTokens: null, upstream: null },
    [],
  ],
  ["a decision", { kind: "decision", number: 4, outcome: "allow", code: null }, []],
])("late: %s", async (_title, message, expected) => {
  const told: BrokerMessage[] = [];
  const broker = new Broker(
    (one) => told.push(one),
    () => 0,
  );
  expect(await broker.take(message, null)).toBe(true);
  expect(told).toEqual(expected);
});
