// ambit in real container engines, with the options of docs/guides/containers.md and with the engines' defaults: doctor and exec agree,
// the first steps work, whole clients run, and the attack suite holds. Run by `npm run test:engines`.
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile } from "../attack/compiled.ts";
import { root } from "../e2e/ambit.ts";
import { type Engine, type EngineRun, prepareBase, startDocker, startPodman } from "./engine.ts";

const prepareMillisecondsMax = 3_600_000;
const suiteMillisecondsMax = 900_000;
const engines = new Map<string, Engine>();
const own = mkdtempSync(join(tmpdir(), "ambit-engine-homes-"));

beforeAll(async () => {
  const { base, context } = prepareBase();
  engines.set("docker", await startDocker(base, context));
  engines.set("podman", startPodman(base, context));
  rmSync(context, { recursive: true });
  // The programs of the attacks: there is no compiler in the image.
  const folder = mkdtempSync(join(tmpdir(), "ambit-compiled-"));
  compile(folder);
  rmSync(folder, { recursive: true });
}, prepareMillisecondsMax);
afterAll(async () => {
  for (const engine of engines.values()) await engine.end();
  rmSync(own, { recursive: true, force: true });
});

const COLUMNS = (["docker", "podman"] as const).flatMap((name) =>
  (["supervised", "namespaces"] as const).map((backend) => ({ name, backend })),
);

/** Prints what doctor says of the sandbox, and what one program got; it writes a file, which lands. */
const AGREES = `set -e
cd "$(mktemp -d /work/project.XXXX)"
mkdir -p .ambit/agents
printf -- '---\\nid: coder\\nsandbox: .\\ncapabilities:\\n  - proc.exec\\n  - fs.read\\n  - fs.write\\n---\\n' > .ambit/agents/coder.md
ambit doctor 2>&1 | grep -E 'sandbox:|state_missing|limits_weaker' || true
ambit trust --yes > /dev/null
ambit exec coder --json -- sh -c 'echo landed > file; cat /etc/shadow' > result.json || true
grep -q 'without namespaces: names' result.json && echo exec: without namespaces || echo exec: with namespaces
cat file; ambit audit verify; ambit daemon stop
`;

/** Mounts a home folder and a project of this user id, which the image does not know. */
function homeOf(user: number): readonly string[] {
  const folder = mkdtempSync(join(own, "user-"));
  mkdirSync(join(folder, "work"));
  for (const path of [folder, join(folder, "work")]) chownSync(path, user, user);
  return ["--volume", `${folder}:/home/user`, "--volume", `${join(folder, "work")}:/work`];
}

/** The image has a volume for the state of its own user only, and its overlay cannot hold drafts. */
const ROOT_STATE: readonly string[] = ["--volume", "/root/.local/state"];

describe.each(COLUMNS)("$name, $backend", ({ name, backend }) => {
  const run = (options: readonly string[], ...words: readonly string[]): EngineRun => {
    const engine = engines.get(name) as Engine;
    return engine.run([...(backend === "namespaces" ? engine.options : []), ...options], words);
  };

  const SETTINGS: readonly (readonly [title: string, options: () => readonly string[]])[] = [
    ["as the image's user", () => []],
    ["as root", () => ["--user", "0", ...ROOT_STATE]],
    ["as a user id without an entry", () => ["--user", "4242", "--env", "HOME=/home/user", ...homeOf(4242)]],
    ["with a read-only root file system", () => ["--read-only"]],
    [
      "without capabilities but the one that root needs for namespaces, as root",
      () => ["--user", "0", "--cap-drop", "all", "--cap-add", "SETFCAP", ...ROOT_STATE, ...homeOf(0)],
    ],
    ["with no new privileges", () => ["--security-opt", "no-new-privileges"]],
    ["with few processes and little memory", () => ["--pids-limit", "64", "--memory", "512m"]],
  ];
  test.each(SETTINGS)("%s: doctor and exec agree, and what a program writes lands", (_title, options) => {
    const { status, output } = run(options(), "sh", "-c", AGREES);
    const isWeak = backend === "supervised";
    expect(output).toContain(isWeak ? "sandbox: without namespaces" : "sandbox: bubblewrap");
    expect(output).toContain(isWeak ? "exec: without namespaces" : "exec: with namespaces");
    expect(output).toMatch(/\nlanded\nintact /);
    expect(output).not.toContain("state_missing");
    expect(status).toBe(0);
  });

  test.each([
    ["as the image's user", []],
    ["as root", ["--user", "0", ...ROOT_STATE]],
  ])("%s: a whole program in `ambit run` edits, tests and commits, and gets nothing else", (_title, options) => {
    const script = ["--volume", `${join(root, "test", "engines")}:/engines:ro`];
    const { status, output } = run([...script, ...options], "sh", "/engines/whole-program.sh");
    expect(output).toMatch(
      /^all tests passed\ncurl: .*\ncurl: [1-9]\d*\nno key\nmay write\nby a tool\noutside\nfirst\nsecond\nby a tool\nmade inside\nbegun outside\nno hook\nrefused host in the log\nintact /,
    );
    expect(status).toBe(0);
  });

  test("a user id without an entry and without a home folder: doctor says what to add", () => {
    const { output } = run(["--user", "4242"], "ambit", "doctor");
    // Podman makes an entry, whose home is the working folder.
    const what =
      name === "docker" ? "no state folder" : 'the state folder "/work/.local/state/ambit" cannot be written';
    const where = name === "docker" ? "/home/user --env HOME=/home/user" : "/work/.local/state/ambit";
    expect(output).toContain(`state_missing: ${what}`);
    expect(output).toContain(`--volume /a/folder/of/this/user:${where}\n`);
  });

  // The checkout is read-only; what the tests write must not be in the image's overlay, which cannot hold drafts.
  const TESTS = [
    ...["--user", "0", "--volume", `${root}:${root}:ro`, "--volume", "/tmp", "--volume", "/var/tmp", "--workdir", root],
    ...["--env", `AMBIT_ENGINE_BACKEND=${backend}`, "--env", "NO_COLOR=1"],
    ...["--sysctl", "net.ipv6.conf.all.disable_ipv6=0", "--sysctl", "net.ipv6.conf.lo.disable_ipv6=0"],
  ];
  const inside = (options: readonly string[], ...words: readonly string[]): void => {
    const vitest = ["node", join("node_modules", "vitest", "vitest.mjs"), "run", "--configLoader", "runner"];
    const { status, output } = run([...TESTS, ...options], ...vitest, ...words);
    expect([status, status === 0 ? "" : output.slice(-20_000)]).toEqual([0, ""]);
  };

  test(
    "the attack suite holds, as root and as an ordinary user",
    () => inside([], "test/attack/attack.test.ts"),
    suiteMillisecondsMax,
  );

  test(
    "`npm start` and the README work",
    () => inside([], "test/supervised/first-steps.test.ts"),
    suiteMillisecondsMax,
  );

  // Claude Code, Codex, opencode and Gemini CLI, as the image's user. There is no tmux in the image.
  test(
    "whole clients work within their grants and get nothing beyond them, and their guides work as printed",
    () => {
      const options = ["--user", "agent", "--env", "AMBIT_EXTRA_TESTS=clients"];
      inside(options, "test/clients/whole-clients.test.ts", "--testNamePattern", "^(?!.*under tmux)");
    },
    suiteMillisecondsMax,
  );

  if (backend === "supervised")
    test(
      "connections are the broker's, and everything ends with a supervisor that is killed, stopped or flooded",
      () => inside([], "test/supervised/network.test.ts", "test/supervised/ends.test.ts"),
      suiteMillisecondsMax,
    );
});

// The commit, as a person who clones it has it: what the registry gives is installed by the container itself.
test.each(["docker", "podman"])(
  "%s: the devcontainer is built, sets ambit up, and runs `npm start` and tests with real sandboxes",
  (name) => {
    const clone = mkdtempSync(join(tmpdir(), "ambit-devcontainer-"));
    execFileSync("git", ["clone", "--quiet", root, clone]);
    execFileSync("chown", ["-R", "1000:1000", clone]);
    const script =
      "npm start && bin/ambit doctor && npx vitest run test/e2e/exec.test.ts test/attack/drafts.test.ts test/attack/names.test.ts";
    const { status, output } = (engines.get(name) as Engine).develop(clone, ["sh", "-c", script]);
    rmSync(clone, { recursive: true });
    expect([status, status === 0 ? "" : output.slice(-20_000)]).toEqual([0, ""]);
    expect(output).toMatch(/\n(\d\d+) of \1 as expected\n/);
    expect(output).toContain("sandbox: bubblewrap");
  },
  prepareMillisecondsMax,
);
