// Limits of a run: defaults for commands and for clients, and the limits that the user's configuration writes.
import { expect, test } from "vitest";
import { limitsOf } from "./run-plan.ts";

const command = { milliseconds: null, hasTerminal: false, isClient: false };
const client = { ...command, isClient: true };

test.each([
  ["a command has 120 seconds", {}, command, 120_000],
  ["a client has no time limit", {}, client, 0],
  ["a written limit holds for a command", { seconds: 5 }, command, 5_000],
  ["a written limit holds for a client", { seconds: 5 }, client, 5_000],
  ["a command with a lower limit", {}, { ...command, milliseconds: 900 }, 900],
  ["a command with a higher limit than configured", { seconds: 5 }, { ...command, milliseconds: 9_000 }, 5_000],
  ["a client with a limit", {}, { ...client, milliseconds: 900 }, 900],
])("%s", (_, written, wish, wall) => {
  expect(limitsOf(written, wish).wallMilliseconds).toBe(wall);
});

test("a configured output limit applies on a terminal", () => {
  const wish = { ...client, hasTerminal: true };
  expect(limitsOf({ output_mib: 1 }, wish).outputBytes).toBe(1_048_576);
  expect(limitsOf({}, wish).outputBytes).toBe(Number.MAX_SAFE_INTEGER);
});
