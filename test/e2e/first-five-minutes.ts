// The README's first five minutes, as printed: every command is run, and every verdict and output is compared.
import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";

const STATUS = { allow: 0, ask: 11, deny: 10 } as const;

interface Block {
  readonly isCommand: boolean;
  readonly text: string;
}

/** As whom and behind what the commands of the section are run. */
export interface Walker {
  /** In front of each command. */
  readonly before: readonly string[];
  readonly user: number;
}

/** Runs the section with the `ambit` that `PATH` of the environment names, and compares what it prints. */
export function walkFirstFiveMinutes(environment: NodeJS.ProcessEnv, walker: Walker | null = null): void {
  const blocks = blocksOfSection();
  expect(blocks.filter((block) => block.isCommand).length).toBeGreaterThanOrEqual(5);
  const folder = mkdtempSync(join(tmpdir(), "ambit-first-"));
  if (walker !== null) chownSync(folder, walker.user, walker.user);
  const before = walker?.before ?? [];
  let checked = 0;
  let last = "";
  for (const { isCommand, text } of blocks) {
    if (!isCommand) {
      expect(last).toContain(text.trim());
      checked++;
      continue;
    }
    const lines = text.trim().split("\n");
    if (!lines.every((line) => line.startsWith("ambit "))) {
      // A block that prepares something, perhaps with one command of ours at its end.
      last = run(folder, text, environment, before).output;
      continue;
    }
    for (const line of lines) {
      const { status, output } = run(folder, line, environment, before);
      last = output;
      if (isAsPrinted(line, status, output)) checked++;
    }
  }
  expect(checked).toBeGreaterThanOrEqual(12);
  removeState(folder);
}

function blocksOfSection(): readonly Block[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const section = readme.slice(readme.indexOf("## The first five minutes"), readme.indexOf("## Six notations"));
  // Client configurations are tested by test/mcp.
  return [...section.replace(/```json\n.*?```/gs, "").matchAll(/```(sh)?\n(.*?)```/gs)].map(([, language, text]) => ({
    isCommand: language === "sh",
    text: text ?? "",
  }));
}

function run(
  folder: string,
  script: string,
  env: NodeJS.ProcessEnv,
  before: readonly string[],
): { readonly status: number | null; readonly output: string } {
  const [command = "", ...words] = [...before, "bash", "-c", script.replaceAll("/tmp/first", folder)];
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    encoding: "utf8",
    env,
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}

/** Whether the line's comment says how it ends; then that is compared. */
function isAsPrinted(line: string, status: number | null, output: string): boolean {
  const ending = /# (runs|fails|refused)/.exec(line)?.[1];
  if (ending !== undefined) {
    const got = status === 0 ? "runs" : status === 125 ? "refused" : "fails";
    expect(got, `${line}\n${output}`).toBe(ending);
    return true;
  }
  const verdict = /# (allow|ask|deny)/.exec(line)?.[1] as keyof typeof STATUS | undefined;
  if (verdict === undefined) return false;
  expect(status, `${line}\n${output}`).toBe(STATUS[verdict]);
  expect(output).toContain(verdict);
  return true;
}
