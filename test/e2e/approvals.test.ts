// `ambit approvals watch` and `approve` on a real pseudo-terminal: keys, prompts, a passphrase that is not shown.
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "./bundle.ts";
import { type Answer, onTerminal, screenOf, type TerminalRan } from "./terminal.ts";

let program: string;
beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("./approvals-program.ts", import.meta.url)));
}, 120_000);

const ENTER = "\r";
/** A person reads it in the prompt. */
const theNumber = (raw: string): string => `${[...raw.matchAll(/Type (\d{4}) to /g)].at(-1)?.[1] ?? "none"}${ENTER}`;

function run(
  words: readonly string[],
  answers: readonly Answer[],
  environment: Readonly<Record<string, string>> = {},
): Promise<TerminalRan> {
  return onTerminal("/", [process.execPath, program, ...words], answers, environment);
}

describe("on a real terminal", () => {
  test("watch rings, shows pending approvals, and q restores the terminal", async () => {
    const { status, raw } = await run(["approvals", "watch"], [["q quit", "q"]]);
    expect(status).toBe(0);
    expect(raw).toContain("\u0007");
    expect(raw).toContain("1 waiting");
    expect(raw).toContain(String.raw`fs_write\u{1b}[2J`);
    expect(raw).not.toContain("\u001b[2J");
    expect(screenOf(raw.replaceAll("\u0007", ""))).toBe("");
  }, 90_000);

  test("watch: a approves the selected one, with the choice of scopes, and the list goes on", async () => {
    const { status, raw } = await run(
      ["approvals", "watch"],
      [
        ["q quit", "1a"],
        ["Which step?", `2${ENTER}`],
        ["any other input cancels", theNumber],
        ["approved a-1", ""],
        ["no pending approvals", "q"],
      ],
    );
    expect(status).toBe(0);
    expect(raw).toContain("approved a-1: 1 use, 30 min");
  }, 90_000);

  test("watch: r refuses with the typed reason", async () => {
    const { status, raw } = await run(
      ["approvals", "watch"],
      [
        ["q quit", "r"],
        ["any other input cancels", theNumber],
        ["May be empty", `not today${ENTER}`],
        ["no pending approvals", "q"],
      ],
    );
    expect(status).toBe(0);
    expect(raw).toContain("refused a-1");
  }, 90_000);

  test.each([
    ["cat package.json", "Which step?"],
    ["clear", "Which step?"],
    ["1a1\r1", "Which step?"],
    ["rm -r build", "any other input cancels"],
    ["ls", null],
  ])(
    "watch: %j typed into the window answers nothing",
    async (typed, dialog) => {
      const line = `${typed}${ENTER}`;
      const end: readonly Answer[] = [["q quit", "\u0003"]];
      const then: readonly Answer[] =
        dialog === null ? [["scopes an approval can have", ""], ...end] : [[dialog, line], ...end];
      const { status, raw } = await run(["approvals", "watch"], [["q quit", line], ...then]);
      expect(status).toBe(0);
      expect(raw).not.toContain("approved a-1");
      expect(raw).not.toContain("refused a-1");
    },
    90_000,
  );

  test("watch ends with Ctrl-C", async () => {
    const { status, raw } = await run(["approvals", "watch"], [["q quit", "\u0003"]]);
    expect(status).toBe(0);
    expect(raw).toContain("1 waiting");
  }, 90_000);

  test("approve: pressing Enter too early approves nothing", async () => {
    const { status, raw } = await run(["approve", "a-1"], [["Which step?", ENTER]]);
    expect(status).toBe(11);
    expect(raw).toContain("nothing was approved");
  }, 90_000);

  test("approve with presence: the passphrase is prompted for and never shown", async () => {
    const { status, raw } = await run(
      ["approve", "a-1", "--step", "exact", "--yes"],
      [["Passphrase of ann", `correct horse${ENTER}`]],
      { AMBIT_TEST_LEVEL: "2" },
    );
    expect(status).toBe(0);
    expect(raw).toContain("each with their passphrase");
    expect(raw).toContain("approved a-1");
    expect(raw).not.toContain("correct horse");
  }, 90_000);
});
