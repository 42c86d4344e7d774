// `ambit run`: a whole client in the agent's sandbox, with its profile, and nothing that its record does not give.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";

let base = "";
let project = "";
/** Without clients that this machine may have. */
let path = "/usr/bin:/bin";

function ambit(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd: project,
    encoding: "utf8",
    input: "",
    env: {
      PATH: path,
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

test("a client gets its profile's variables; its exit status is returned and its changes land", () => {
  const { status, out, err } = ambit("run", "coder", "--", "./claude");
  expect(err).toContain("starting ./claude in the sandbox of coder (ambit:claude-code@1)");
  expect(out).toBe("traffic 1\n");
  expect(status).toBe(7);
  expect(readFileSync(join(project, "made.txt"), "utf8")).toBe("made\n");
});

test.each([
  ["an agent that is not there", ["unknown", "./claude"]],
  ["an agent without a live root", ["reader", "./claude"]],
  ["another folder than the agent's", ["--in", "/", "coder", "./claude"]],
])("nothing is called starting for %s", (_title, words) => {
  const { status, out, err } = ambit("run", ...words);
  expect([status, out]).toEqual([125, ""]);
  expect(err).not.toBe("");
  expect(err).not.toContain("starting");
});

/** Inside, on its standard output. */
function inClient(script: string, ...options: readonly string[]): string {
  const { status, out, err } = ambit("run", ...options, "coder", "sh", "-c", script);
  expect({ status, err: err.replace(/^ambit: .* lands? while it runs\n/, "") }).toEqual({ status: 0, err: "" });
  return out;
}

test("its home persists between runs, is the agent's own, and is empty with --fresh", () => {
  // Settings of package managers that the user of this machine has are inside, too.
  expect(inClient("echo kept > ~/history; ls ~", "--fresh")).toBe("history\n");
  expect(inClient("cat ~/history")).toBe("kept\n");
  expect(ambit("exec", "coder", "--", "sh", "-c", "ls -A ~").out).toBe("");
  expect(inClient("ls ~", "--fresh")).toBe("");
});

test("nothing of the real home, the state and other homes is inside", () => {
  const seen = inClient(`echo $HOME; ls -d ${base} ${join(base, "state")} /root /home 2>/dev/null; ls ~/..`);
  expect(seen).toMatch(/^\/run\/ambit\/home\n/);
  expect(seen).not.toContain(join(base, "state"));
  expect(seen.split("\n")).toEqual(expect.arrayContaining(["home", "ambit-native"]));
});

test("links that a client plants in its home lead nowhere outside at the next start", () => {
  const victim = join(base, "victim");
  mkdirSync(victim, { recursive: true });
  writeFileSync(join(victim, "settings.json"), "victim");
  expect(inClient(`rm -rf ~/.claude*; ln -s ${victim} ~/.claude; ln -s ${join(victim, "x")} ~/.claude.json`)).toBe("");
  expect(ambit("run", "coder", "./claude").status).toBe(7);
  expect(readFileSync(join(victim, "settings.json"), "utf8")).toBe("victim");
  expect(existsSync(join(victim, "x"))).toBe(false);
  const answers = inClient("cat ~/.claude.json");
  expect(JSON.parse(answers)).toMatchObject({ projects: { [project]: { hasTrustDialogAccepted: true } } });
});

test("without an agent the clients on this machine are listed", () => {
  expect(JSON.parse(ambit("run", "--json").out)).toEqual({ clients: [] });
  const bin = join(base, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "codex"), "#!/bin/sh\n", { mode: 0o755 });
  path = `${bin}:${path}`;
  const { out } = ambit("run");
  expect(out).toBe(`codex  ${join(bin, "codex")}  ambit:codex@1\nrun one: ambit run AGENT codex\n`);
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
  ["no agent", ["run", "--", "./claude"], 2],
  [
    "an argument between the agent and --",
    ["run", "coder", "--pledge", "fs.read", "--fresh", "x", "--", "./claude"],
    2,
  ],
  ["a folder around the state", ["run", "coder", "--in", "..", "--", "true"], 125],
])("%s is refused", (_title, words, status) => {
  const ran = ambit(...words);
  expect({ status: ran.status, out: ran.out }).toEqual({ status, out: "" });
});

test("a client that is not there: the folders that it was searched in are the client's own search path", () => {
  const { err, status } = ambit("run", "coder", "no-such-client");
  expect(status).toBe(127);
  expect(err).toMatch(/there is no program "no-such-client" in \/run\/ambit\/bin, .*, where the sandbox searches/);
});

test.each([
  ["1.0.59", 125],
  ["1.0.60", 0],
])("a client of version %s ends with %i: its profile says the least one that works", (version, status) => {
  const folder = join(project, "node_modules", "@anthropic-ai", "claude-code");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "@anthropic-ai/claude-code", version }));
  writeFileSync(join(folder, "claude"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
  const ran = ambit("run", "coder", join(folder, "claude"));
  expect(ran).toMatchObject({ status, out: status === 0 ? "ran\n" : "" });
  if (status === 0) return;
  expect(ran.err).toContain(`is version ${version}, and ambit:claude-code@1 needs 1.0.60 or later`);
  expect(ambit("log", "--outcome", "deny").out).toContain("not_available");
  expect(ambit("profiles", "show", "claude").out).toContain("needs version 1.0.60 or later");
});

test.each([
  ["a file that is not executable", "plain.sh", "echo x\n", 0o644, "a file without `chmod +x`"],
  [
    "a script whose interpreter is not there",
    "lost.sh",
    "#!/no/such/shell\n",
    0o755,
    "the interpreter named in its first line",
  ],
  ["a script without a first line for it", "bare.sh", "echo x\n", 0o755, "nor a script that begins with #!"],
])("%s is not started, and the reason is told", (_title, name, text, mode, reason) => {
  writeFileSync(join(project, name), text, { mode });
  const ran = ambit("run", "coder", `./${name}`);
  expect(ran).toMatchObject({ status: 127, out: "" });
  expect(ran.err).toContain(reason);
});

test("profiles are listed and shown", () => {
  expect(ambit("profiles", "list").out).toContain("ambit:claude-code@1  claude  built in\n");
  expect(JSON.parse(ambit("profiles", "show", "codex", "--json").out)).toMatchObject({ id: "ambit:codex@1" });
  expect(ambit("profiles", "show", "nothing").status).toBe(1);
});
