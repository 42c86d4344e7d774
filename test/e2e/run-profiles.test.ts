// Profiles that the user wrote for their own clients: from their configuration folder alone, and refused whole with a mistake.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";

let base = "";
let project = "";

function ambit(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
    ...{ cwd: project, encoding: "utf8", input: "" },
    env: {
      ...{ PATH: "/usr/bin:/bin", HOME: userInfo().homedir, NO_COLOR: "1" },
      ...{ XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") },
    },
  });
  return { status, out: stdout, err: stderr };
}

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
  chmodSync(join(base, path), mode);
}

const profile = (name: string, text: string): void => put(`config/ambit/profiles/${name}`, text);

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-profiles-")));
  chmodSync(base, 0o755);
  project = join(base, "project");
  prepareState(join(base, "state"), join(base, "config"));
  put(
    "project/.ambit/agents/coder.md",
    "---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: live }\n  - fs.read\n---\n",
  );
  put("project/aider", '#!/bin/sh\necho "$AIDER_ANALYTICS $AIDER_HOME"; cat ~/.aider.json\n', 0o755);
  // A project has no say in profiles.
  put("project/.ambit/profiles/aider.yml", "programs: [aider]\nvariables: { AIDER_ANALYTICS: planted }\n");
  put("project/.ambit/org.yml", "name: Org\nagents:\n  maker: { role: Maker, client: sh }\n");
  put("project/peek.sh", 'echo "peek: $PEEK"\n');
  ambit("trust", "--yes");
});
afterEach(() => rmSync(join(base, "config", "ambit", "profiles"), { recursive: true, force: true }));
afterAll(() => removeState(base));

const AIDER = `programs: [aider]
settings: [{ json: .aider.json, set: { root: "{root}" } }]
variables: { AIDER_ANALYTICS: "false", AIDER_HOME: "{home}/.aider" }
`;

test("a client gets the variables and settings of the user's profile, and the log and the lists name it", () => {
  expect(ambit("run", "coder", "./aider").out).toBe(" \n");
  profile("aider.yml", AIDER);
  const { out, err, status } = ambit("run", "coder", "./aider");
  expect({ status, out: JSON.parse(out.slice(out.indexOf("\n"))) as unknown }).toEqual({
    status: 0,
    out: { root: project },
  });
  expect(out).toMatch(/^false \/run\/ambit\/home\/\.aider\n/);
  const [, id = ""] = /\((user:aider@[0-9a-f]{12})\)/.exec(err) ?? [];
  const file = join(base, "config", "ambit", "profiles", "aider.yml");
  expect(ambit("profiles", "list").out).toContain(`${id}  aider  ${file}\n`);
  for (const name of [id, "aider"])
    expect(JSON.parse(ambit("profiles", "show", name, "--json").out)).toMatchObject({ id, source: file });
  profile("aider.yml", `${AIDER}notes: [another text]\n`);
  expect(ambit("profiles", "show", id).status).toBe(1);
});

test("a profile gives nothing of the project and no host", () => {
  profile("peeker.yml", "programs: [sh]\nvariables: { PEEK: '1' }\nfolders: [.peek]\n");
  put("outside/secret.txt", "outside");
  const script = `echo $PEEK; cat ${join(base, "outside", "secret.txt")} || echo hidden`;
  expect(ambit("run", "coder", "sh", "-c", script).out).toBe("1\nhidden\n");
  expect(ambit("run", "coder", "sh", "-c", "getent hosts example.com || echo none").out).toBe("none\n");
});

test("a task's client has the profile that the user wrote for it, and does not run while that has errors", () => {
  const run = (): { readonly state: string; readonly out: string; readonly reason: string } => {
    const { task } = JSON.parse(ambit("tasks", "add", "--json", "maker", "peek.sh").out) as { task: { id: string } };
    ambit("tasks", "work", "--once");
    const shown = JSON.parse(ambit("tasks", "show", task.id, "--json").out) as {
      task: { state: string; reason: string };
    };
    return { ...shown.task, out: ambit("tasks", "log", task.id).out };
  };
  profile("peeker.yml", "programs: [sh]\nvariables: { PEEK: '1' }\n");
  expect(run()).toMatchObject({ state: "done", out: "peek: 1\n" });
  profile("peeker.yml", "programs: [sh]\nvariabels: { PEEK: '1' }\n");
  const broken = run();
  expect(broken.state).not.toBe("done");
  expect(broken.reason).toContain("peeker.yml has errors: ambit profiles list");
  expect(broken.out).not.toContain("peek:");
});

test.each([
  ["a misspelled key", "aider.yml", "programs: [aider]\nvariabels: {}\n", "variabels", "aider"],
  ["no YAML", "aider.yml", "programs: [aider\n", "aider.yml", "aider"],
  ["a protected file", "aider.yml", "programs: [aider]\nsettings: [{ text: .ssh/id_rsa }]\n", ".ssh/id_rsa", "aider"],
  ["the name of a built-in profile", "codex.yml", "programs: [aider]\n", "built-in profile", "aider"],
  ["another ending", "aider.yaml", AIDER, "NAME.yml", "aider"],
])("%s: the client is not started, and the mistake is shown", (_title, name, text, told, client) => {
  profile(name, text);
  const ran = ambit("run", "coder", `./${client}`);
  expect({ status: ran.status, out: ran.out }).toEqual({ status: 125, out: "" });
  expect(ran.err).toContain(told);
  expect(ran.err).toContain("error[invalid_input]");
  const asData = ambit("run", "coder", "--json", `./${client}`);
  expect(JSON.parse(asData.out)).toMatchObject({ outcome: "refused", code: "invalid_input" });
  const listed = ambit("profiles", "list", "--json");
  expect(listed.status).toBe(1);
  expect(JSON.parse(listed.out)).toMatchObject({ problems: [{ file: join(base, "config/ambit/profiles", name) }] });
});

test("two profiles for one program: neither is used for it", () => {
  profile("aider.yml", AIDER);
  profile("second.yml", "programs: [aider]\n");
  expect(ambit("run", "coder", "./aider")).toMatchObject({ status: 125, out: "" });
});

test("a folder of settings has nothing protected, and no link to it", () => {
  profile("aider.yml", "programs: [sh]\nsettings: [{ folder: .config, endings: [.yml] }]\n");
  const { out } = ambit("run", "coder", "sh", "-c", "find ~/.config -type f");
  expect(out).not.toContain(".config/ambit");
});

test("a profile that is a pipe, a folder or a loop of links does not hang", () => {
  const folder = join(base, "config", "ambit", "profiles");
  mkdirSync(join(folder, "a.yml"), { recursive: true });
  spawnSync("mkfifo", [join(folder, "b.yml")]);
  symlinkSync("c.yml", join(folder, "c.yml"));
  expect(ambit("run", "coder", "./aider").status).toBe(125);
  expect(ambit("profiles", "list").status).toBe(1);
});
