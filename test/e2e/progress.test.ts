// Progress of long commands on a real terminal and in a pipe: a person sees it, nothing of it remains, and it is not written
// elsewhere.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeFiles } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";
import { bundleProgram } from "./bundle.ts";
import { onTerminal, screenOf } from "./terminal.ts";

const agents = 120;
const records = 400;

let base = "";
let eager: string;
beforeAll(async () => {
  eager = await bundleProgram(fileURLToPath(new URL("./eager.ts", import.meta.url)));
  base = mkdtempSync(join(tmpdir(), "ambit-progress-"));
  const put = (path: string, text: string): void => writeFiles(base, { [path]: text });
  for (let number = 0; number < agents; number++)
    put(
      `here/.ambit/agents/team${number % 7}/a${number}.md`,
      `---\ncapabilities: ['net.get{hosts=[*.github.com, h${number}.example]}', memory.read]\ntests: [{ allow: memory.read x }]\n---\n`,
    );
  for (let number = 0; number < agents; number++)
    put(`there/.ambit/agents/a${number}.md`, "---\ncapabilities: [memory.read]\n---\n");
  for (let number = 0; number < records; number++)
    put(`here/.ambit/records/n${number % 10}/r${number}.md`, `---\nclass: note\n---\nword${number} common\n`);
});
afterAll(() => {
  removeState(base);
});

/** A new state each time: results are cached, and would not be computed again. */
function environment(): Record<string, string> {
  const state = mkdtempSync(join(base, "state-"));
  return { XDG_STATE_HOME: state, XDG_CONFIG_HOME: join(base, "config"), NO_COLOR: "1" };
}

interface Piped {
  readonly out: string;
  readonly err: string;
  readonly status: number | null;
}

function piped(program: string, words: readonly string[]): Piped {
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...words], {
    cwd: join(base, "here"),
    encoding: "utf8",
    env: { ...process.env, ...environment() },
    timeout: 60_000,
  });
  return { out: stdout, err: stderr, status };
}

const rows: readonly (readonly [words: readonly string[], shows: RegExp])[] = [
  [["agents", "list"], /reading agents: \d+ of 120/],
  [["agents", "list", "--can", "memory.read"], /reading agents: \d+ of 120/],
  [["agents", "tree"], /reading agents: \d+ of 120/],
  [["test"], /testing agents: \d+ of 120/],
  [["records", "list"], /reading records: \d+ of 400/],
  [["records", "search", "common"], /reading records: \d+ of 400/],
  [["diff", ".", "../there"], /reading agents: \d+ of 120/],
  [["doctor"], /reading agents: \d+ of 120/],
  [["status"], /reading agents: \d+ of 120/],
];

describe.each(rows)("%j", (words, shows) => {
  test("on a terminal shows progress, and leaves only what a pipe gets", async () => {
    const { raw } = await onTerminal(join(base, "here"), [process.execPath, eager, ...words], [], environment());
    expect(raw).toMatch(shows);
    const { out, err } = piped(eager, words);
    // Long results scroll and wrap on a terminal; the first lines show whether anything is left in them.
    const first = (text: string): readonly string[] => text.trim().split("\n").slice(0, 3);
    const all = screenOf(raw).replaceAll(/\s*\n/g, "\n");
    for (const line of first(err === "" ? out : err)) expect(all.split("\n")).toContain(line.trimEnd());
    expect(all).not.toMatch(/\d of \d/);
  });

  test("with --json shows nothing but the object", async () => {
    const ran = await onTerminal(join(base, "here"), [process.execPath, eager, ...words, "--json"], [], environment());
    expect(ran.raw).not.toMatch(shows);
    expect(ran.raw.trimStart()[0]).toBe("{");
  });

  test("in a pipe shows no progress", () => {
    const { out, err } = piped(eager, words);
    expect(out + err).not.toMatch(shows);
    expect(out + err).not.toContain("\r");
  });
});

test("`trust` shows that it waits for tools to load", async () => {
  const there = join(base, "there");
  writeFiles(there, { ".ambit/tools/slow.mjs": "export default [];\n" });
  const { raw } = await onTerminal(there, [process.execPath, eager, "trust"], [], environment());
  expect(raw).toMatch(/loading tools to show what they declare: \d+ s/);
  expect(screenOf(raw)).not.toContain("loading tools");
});

test("a terminal that cannot move the cursor gets no progress", async () => {
  const plain = { ...environment(), TERM: "dumb" };
  const { raw } = await onTerminal(join(base, "here"), [process.execPath, eager, "agents", "list"], [], plain);
  expect(raw).not.toContain("reading agents");
  expect(raw).toContain("120 agents");
});

test("a fast command of the real program draws nothing", async () => {
  const words = [process.execPath, join(root, "bin", "ambit"), "explain", "scope_violation"];
  const { raw } = await onTerminal(join(base, "here"), words, [], environment());
  expect(raw).not.toContain("\u001b[K");
});
