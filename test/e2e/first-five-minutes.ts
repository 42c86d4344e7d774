// The README as printed: every command of its opening and of its first five minutes is run, and every verdict and output is
// compared; then its program.
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { blocksOf, read } from "../docs/markdown.ts";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";

const page = read(root, "README.md");
const STATUS = { allow: 0, ask: 11, deny: 10 } as const;

interface Block {
  readonly isCommand: boolean;
  readonly text: string;
}

/** Who runs the commands: `PATH` of the environment names the `ambit`. */
export interface Reader {
  readonly environment: NodeJS.ProcessEnv;
  /** Another user than the one of the tests, where these run as root. */
  readonly uid?: number;
  /** In front of each command. */
  readonly before?: readonly string[];
}

export function walkFirstFiveMinutes(reader: Reader): void {
  const blocks = blocksOfSection();
  expect(blocks.filter((block) => block.isCommand).length).toBeGreaterThanOrEqual(5);
  const folder = ownProject(reader);
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
      last = run(folder, text, reader).output;
      continue;
    }
    for (const line of lines) {
      const { status, output } = run(folder, line, reader);
      last = output;
      if (isAsPrinted(line, status, output)) checked++;
    }
  }
  expect(checked).toBeGreaterThanOrEqual(12);
  removeState(folder);
}

/** The lines of the README's opening are what is printed. */
export function walkOpening(reader: Reader): void {
  const folder = trustedProject(reader);
  let printed = "";
  let commands = 0;
  for (const line of openingLines()) {
    if (line.startsWith("$ ")) {
      printed = run(folder, line.slice(2), reader).output;
      commands++;
    } else expect(printed.split("\n")).toContain(line);
  }
  expect(commands).toBe(3);
  removeState(folder);
}

export function openingLines(): readonly string[] {
  const [session = ""] = blocksOf(page, "console");
  return session.trimEnd().split("\n");
}

/** The program of the README, with the package in this folder. */
export function walkProgram(reader: Reader, installed: string): void {
  const folder = trustedProject(reader);
  const [program = ""] = blocksOf(page, "ts");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(installed, join(folder, "node_modules", "ambit"));
  writeFileSync(join(folder, "README.md"), "read by the program\n");
  writeFileSync(join(folder, "program.mjs"), `${program}console.log(answer.ok);\nawait ambit.close();\n`);
  expect(run(folder, "node program.mjs", reader)).toEqual({ status: 0, output: "true\n" });
  removeState(folder);
}

function trustedProject(reader: Reader): string {
  const folder = ownProject(reader);
  const record = blocksOf(page, "sh").find((block) => block.includes("agents/scout.md <<"));
  expect(run(folder, `${record}\nambit trust --yes`, reader).status).toBe(0);
  return folder;
}

function ownProject({ uid }: Reader): string {
  const folder = mkdtempSync(join(tmpdir(), "ambit-first-"));
  if (uid !== undefined) chownSync(folder, uid, uid);
  return folder;
}

function blocksOfSection(): readonly Block[] {
  const section = page.slice(page.indexOf("## The first five minutes"), page.indexOf("## Six notations"));
  // Client configurations are tested by test/mcp.
  return [...section.replace(/```json\n.*?```/gs, "").matchAll(/```(sh)?\n(.*?)```/gs)].map(([, language, text]) => ({
    isCommand: language === "sh",
    text: text ?? "",
  }));
}

function run(
  folder: string,
  script: string,
  { environment, uid, before = [] }: Reader,
): { readonly status: number | null; readonly output: string } {
  const [command = "", ...words] = [...before, "bash", "-c", script.replaceAll("/tmp/first", folder)];
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    encoding: "utf8",
    env: environment,
    timeout: 60_000,
    ...(uid === undefined ? {} : { uid, gid: uid }),
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
