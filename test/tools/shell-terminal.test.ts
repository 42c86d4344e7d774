// Program output on a person's terminal: control sequences are shown, never executed; in a pipe it is unchanged.
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";

const ESCAPE = "\u001b]0;owned\u0007";
let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("worker", ["proc.exec{cmds=[cat]}", "fs.read"], "sandbox: .\n");
  fixture.write("project/esc.txt", `${ESCAPE}seen\n`);
  await fixture.begin();
}, 120_000);
afterAll(() => fixture?.remove());

/** The output of a command line, on a terminal or in a pipe; nothing is typed. */
function shown(isOnTerminal: boolean): string {
  const words = fixture.words("call", "worker", "shell", '{"argv":["cat","esc.txt"]}');
  const line = words.map((word) => `'${word}'`).join(" ");
  const [program, rest] = isOnTerminal
    ? ["script", ["-qec", `${line} < /dev/null`, "/dev/null"]]
    : ["sh", ["-c", line]];
  const options = { cwd: fixture.project, env: fixture.environment, encoding: "utf8", timeout: 60_000 } as const;
  return spawnSync(program as string, rest as string[], { ...options, input: "" }).stdout;
}

test("a terminal gets no control sequences of a program, and a pipe gets every byte", () => {
  expect(shown(false)).toBe(`${ESCAPE}seen\n`);
  const told = shown(true);
  expect(told).toContain("seen");
  expect(told).not.toContain("\u001b]0;");
});
