// First use: init on a terminal and in a script, the schema in a file, and Tab completion in a real shell.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";
import { onTerminal } from "./terminal.ts";

const program = join(root, "bin", "ambit");

let base = "";
let project = "";
let environment: Record<string, string> = {};

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-first-"));
  project = mkdtempSync(join(base, "pro ject ü-"));
  writeFileSync(join(project, "package.json"), "{}");
  environment = {
    PATH: `${join(root, "bin")}:${process.env["PATH"]}`,
    HOME: base,
    TERM: "xterm",
    NO_COLOR: "1",
    LC_ALL: "C.UTF-8",
    XDG_CONFIG_HOME: join(base, "config"),
    XDG_STATE_HOME: join(base, "state"),
  };
});
afterEach(() => {
  removeState(base);
});

interface Ran {
  readonly status: number | null;
  readonly out: string;
}

function ambit(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: project,
    env: environment,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { status, out: stdout + stderr };
}

describe("init", () => {
  test("in a script is followed by a first `can`", () => {
    const made = JSON.parse(ambit("init", "--yes", "--preset", "coder", "--json").out);
    expect(made).toMatchObject({ kept: [], failed: [], trusted: true });
    expect(made.next).toEqual(["ambit can coder proc.exec -- git status"]);
    expect(ambit("can", "coder", "proc.exec", "--", "git", "status")).toMatchObject({ status: 0 });
    expect(ambit("can", "coder", "proc.exec", "--", "git", "push")).toMatchObject({ status: 11 });
    expect(ambit("test").out).toMatch(/4 passed, 0 failed/);
  });

  test("a second time changes nothing", () => {
    ambit("init", "--yes");
    const path = join(project, ".ambit", "agents", "reader.md");
    writeFileSync(path, `${readFileSync(path, "utf8")}Mine.\n`);
    const again = ambit("init", "--yes");
    expect(again.status).toBe(0);
    expect(again.out).toMatch(/kept .*reader\.md/);
    expect(readFileSync(path, "utf8")).toMatch(/Mine\.\n$/);
  });

  test("writes nothing if .ambit leads out of the project", () => {
    symlinkSync(base, join(project, ".ambit"));
    const refused = ambit("init", "--yes");
    expect(refused.status).toBe(1);
    expect(existsSync(join(base, "agents"))).toBe(false);
    expect(existsSync(join(base, "config.yml"))).toBe(false);
  });

  test("without a terminal says what to do", () => {
    expect(ambit("init")).toMatchObject({ status: 2, out: expect.stringContaining("--yes") });
    expect(existsSync(join(project, ".ambit"))).toBe(false);
  });

  test("on a terminal prompts, and writes what was chosen", async () => {
    const { status, raw } = await onTerminal(
      project,
      [program, "init"],
      [
        ["Which agents", "\r"],
        ["Write reader", "y"],
      ],
      environment,
    );
    expect(raw).toMatch(/wrote .ambit\/agents\/reader\.md/);
    expect(status).toBe(0);
    expect(ambit("can", "reader", "fs.read", "package.json").status).toBe(0);
  });

  test("on a terminal does nothing when cancelled", async () => {
    await onTerminal(project, [program, "init"], [["Which agents", "\u0003"]], environment);
    expect(existsSync(join(project, ".ambit"))).toBe(false);
  });
});

test("schema prints what init wrote, and the editor's comment line", () => {
  ambit("init", "--yes");
  const { stdout, stderr } = spawnSync(program, ["schema", "record"], {
    cwd: project,
    env: environment,
    encoding: "utf8",
  });
  expect(stdout).toBe(readFileSync(join(project, ".ambit", "schema", "record.json"), "utf8"));
  const [line] = /# yaml-language-server: .*/.exec(stderr) ?? [""];
  expect(readFileSync(join(project, ".ambit", "agents", "reader.md"), "utf8")).toContain(`\n${line}\n`);
  expect(ambit("schema", "recrod")).toMatchObject({ status: 2, out: expect.stringContaining("ambit schema record") });
});

describe("Tab in bash", () => {
  const typed = async (keys: string): Promise<string> => {
    const rc = join(base, "rc");
    writeFileSync(rc, "PS1='ready> '; bind 'set bell-style none'; source <(ambit completion bash)\n");
    const shell = ["bash", "--noprofile", "--rcfile", rc, "-i"];
    const { raw } = await onTerminal(
      project,
      shell,
      [
        ["ready> ", `${keys}\n`],
        ["ready> ", "exit\n"],
      ],
      environment,
    );
    return raw;
  };

  beforeEach(() => {
    ambit("init", "--yes", "--preset", "researcher,coder");
  });

  const rows: readonly (readonly [title: string, keys: string, shows: RegExp])[] = [
    ["a command", "ambit compl\t bash | head -1", /# ambit completion for bash/],
    ["an agent", "ambit can res\t net.get https://example.com/", /allow researcher {2}net\.get/],
    ["a verb", "ambit can coder memory.r\t x", /deny {2}coder {2}memory\.read x/],
    ["an option", "ambit can coder --js\t memory.read x", /"agent":"coder"/],
    ["a code", "ambit explain scope_v\t", /scope_violation {2}denial/],
    ["a file", "ambit can coder fs.read pack\t", /allow coder {2}fs\.read .*package\.json/],
  ];
  test.each(rows)("completes %s", async (_title, keys, shows) => {
    expect(await typed(keys)).toMatch(shows);
  });

  test("a file whose name is a command is never run, nor offered", async () => {
    writeFileSync(join(project, ".ambit", "agents", "x$(touch ran).md"), "---\n---\n");
    const out = await typed("ambit can x\t memory.read a");
    expect(existsSync(join(project, "ran"))).toBe(false);
    expect(out).not.toMatch(/can x\$/);
  });
});
