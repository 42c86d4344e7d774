// `ambit run`: a whole client in the agent's sandbox, with its profile, and nothing that its record does not give.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";

let base = "";
let project = "";

function ambit(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd: project,
    encoding: "utf8",
    input: "",
    env: {
      PATH: process.env["PATH"],
      HOME: base,
      NO_COLOR: "1",
      XDG_STATE_HOME: join(base, "state"),
      XDG_CONFIG_HOME: join(base, "config"),
    },
  });
  return { status, out: stdout, err: stderr };
}

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-run-")));
  chmodSync(base, 0o755);
  project = join(base, "project");
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  mkdirSync(join(base, "config", "ambit"), { recursive: true });
  prepareState(join(base, "state"), join(base, "config"));
  const record = (mode: string): string =>
    `---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: ${mode} }\n  - fs.read\n  - fs.write\n---\n`;
  writeFileSync(join(project, ".ambit", "agents", "coder.md"), record("live"));
  writeFileSync(join(project, ".ambit", "agents", "reader.md"), record("ro"));
  writeFileSync(
    join(project, "claude"),
    '#!/bin/sh\nsleep 2\necho "traffic $CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"\necho made > made.txt\nexit 7\n',
  );
  chmodSync(join(project, "claude"), 0o755);
  ambit("trust", "--yes");
});

afterAll(() => removeState(base));

test("a client gets its profile's variables; its status and its changes come back", () => {
  const { status, out, err } = ambit("run", "coder", "--", "./claude");
  expect(err).toContain("runs in the sandbox of coder (ambit:claude-code@1)");
  expect(out).toBe("traffic 1\n");
  expect(status).toBe(7);
  expect(readFileSync(join(project, "made.txt"), "utf8")).toBe("made\n");
});

test("the same program without a profile has no such variable", () => {
  expect(ambit("exec", "coder", "--root", "live", "--", "./claude")).toMatchObject({ status: 7, out: "traffic \n" });
});

test("a time limit of the user's configuration applies to clients", () => {
  const config = join(base, "config", "ambit", "config.yml");
  writeFileSync(config, "limits: { seconds: 1 }\n");
  expect(ambit("run", "coder", "--", "./claude")).toMatchObject({ status: 124, out: "" });
  rmSync(config);
});

test.each([
  ["an agent whose grant has no live root", ["run", "reader", "--", "./claude"], 125],
  ["an unknown agent", ["run", "missing", "--", "./claude"], 125],
  ["an unknown client", ["run", "coder", "--", "./missing"], 127],
  ["no client", ["run", "coder"], 2],
  ["a client before --", ["run", "coder", "claude"], 2],
])("%s is refused", (_title, words, status) => {
  const ran = ambit(...words);
  expect({ status: ran.status, out: ran.out }).toEqual({ status, out: "" });
});

test("profiles are listed and shown", () => {
  expect(ambit("profiles", "list").out).toContain("ambit:claude-code@1  claude\n");
  expect(JSON.parse(ambit("profiles", "show", "codex", "--json").out)).toMatchObject({ id: "ambit:codex@1" });
  expect(ambit("profiles", "show", "nothing").status).toBe(1);
});
