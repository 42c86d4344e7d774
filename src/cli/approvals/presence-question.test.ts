// The prompt for a passphrase says why: an unreadable configuration is not one that requires it.
import { expect, test } from "vitest";
import type { ControlPorts } from "../control-ports.ts";
import { PLAIN } from "../terminal/paint.ts";
import { askWidening } from "./presence-question.ts";

test("the reason for a passphrase is shown before it is typed, and nothing is done without it", async () => {
  const told: string[] = [];
  const asked: unknown[] = [];
  const refusal = { ok: false, code: "presence_required", message: "your configuration cannot be read: x", fix: null };
  const ports = {
    paint: PLAIN,
    terminal: {
      isInteractive: true,
      secret: async () => {
        told.push("typed");
        return "";
      },
    },
    control: async () => ({
      ok: true,
      value: {
        ask: async (name: string, value: unknown) => {
          asked.push(value);
          return name === "presence.list" ? { ok: true, value: { names: ["ann"] } } : refusal;
        },
        close: () => undefined,
      },
    }),
    print: () => undefined,
    printError: (text: string) => told.push(text),
  } as unknown as ControlPorts;
  await askWidening(ports, "audit.rotate", {}, { json: false });
  expect(told.slice(0, 2)).toEqual(["warning: your configuration cannot be read: x", "typed"]);
  expect(asked).toEqual([{ presence: null }, {}]);
});
