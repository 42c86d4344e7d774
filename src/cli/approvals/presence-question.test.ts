// Before a passphrase is asked for it is said why: a configuration that cannot be read is not one that asks for it.
import { expect, test } from "vitest";
import type { ControlWorld } from "../control-world.ts";
import { PLAIN } from "../terminal/paint.ts";
import { askWidening } from "./presence-question.ts";

test("why a passphrase is wanted is told before it is typed, and nothing is done without", async () => {
  const told: string[] = [];
  const asked: unknown[] = [];
  const refusal = { ok: false, code: "presence_required", message: "your configuration cannot be read: x", fix: null };
  const world = {
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
  } as unknown as ControlWorld;
  await askWidening(world, "audit.rotate", {}, { json: false });
  expect(told.slice(0, 2)).toEqual(["warning: your configuration cannot be read: x", "typed"]);
  expect(asked).toEqual([{ presence: null }, {}]);
});
