// The command line as in a container with an engine's default settings: no namespaces, no mounts, no ptrace, few capabilities. As root
// and as an ordinary user.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Ran, root } from "../e2e/ambit.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent, writeFiles } from "../house/files.ts";
import { ORDINARY } from "../house/ordinary-user.ts";
import { removeState } from "../house/remove-state.ts";
import { until } from "../house/until.ts";
import { Registry } from "../mcp/registry.ts";
import { FILTERED } from "./container-filter.ts";

const own = process.getuid?.() ?? 0;
const USERS = own === 0 ? [0, ORDINARY] : [own];
const ALL = ["proc.exec", "proc.eval", "sandbox.exec", "fs.read", "fs.write", "fs.delete"];

let base = "";
let project = "";
let port = 0;
const server: Server = createServer((_, response) => response.end("hello\n"));

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-container-")));
  chmodSync(base, 0o755);
  project = join(base, "project");
  prepareState(join(base, "state"), join(base, "config"));
});
afterEach(() => removeState(base));

describe.each(USERS)("in a container, for user %i", (user) => {
  const start = (words: readonly string[], isHeld = true): Promise<Ran> =>
    run([process.execPath, join(root, "bin", "ambit"), ...words], null, isHeld);
  const run = (words: readonly string[], input: string | null, isHeld = true): Promise<Ran> =>
    new Promise((resolve) => {
      const as = user === own ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
      const held = isHeld ? FILTERED : [];
      const [command = "", ...rest] = [...as, ...held, ...words];
      const env = {
        ...{ PATH: process.env["PATH"], NO_COLOR: "1", HOME: base },
        ...{ XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") },
      };
      const child = spawn(command, rest, { cwd: project, env, stdio: ["pipe", "pipe", "pipe"] });
      if (input === null) child.stdin.end();
      else child.stdin.write(input);
      const heard = { out: "", err: "" };
      child.stdout.on("data", (bytes: Buffer) => (heard.out += bytes.toString()));
      child.stderr.on("data", (bytes: Buffer) => (heard.err += bytes.toString()));
      child.once("close", (status) => resolve({ status, ...heard }));
    });
  /** At a terminal of its own; the shell line before is run in it. */
  const atTerminal = (words: readonly string[], before = "", input = ""): Promise<Ran> => {
    const line = [process.execPath, join(root, "bin", "ambit"), ...words].map((word) => `'${word}'`).join(" ");
    return run(["script", "-qec", `${before} exec ${line}`, "/dev/null"], input);
  };
  const exec = (...words: readonly string[]): Promise<Ran> => start(["exec", "coder", ...words]);
  const trusted = async (
    grants: readonly string[] = ALL,
    files: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    writeAgent(project, "coder", ...grants);
    writeFiles(base, files);
    spawnSync("git", ["init", "-q", project]);
    const all = readdirSync(base, { recursive: true, encoding: "utf8" }).map((one) => join(base, one));
    if (user !== own) for (const path of [base, ...all]) chownSync(path, user, user);
    expect(await start(["trust", "--yes"])).toMatchObject({ status: 0 });
  };

  test("`doctor` says which sandbox there is and why, and the configuration can require the other one", async () => {
    await trusted();
    const told = await start(["doctor"]);
    expect(told.out).toContain("sandbox: without namespaces (Landlock, filtered system calls, a supervisor)");
    expect(told.out).toMatch(/sandbox_weaker: programs run in sandboxes without namespaces: .*namespace/);
    expect(await exec("--", "true")).toMatchObject({ status: 0 });
    writeFiles(base, { "config/ambit/config.yml": "namespaces: required\n" });
    const refused = await exec("--", "true");
    expect([refused.status, refused.err]).toEqual([125, expect.stringMatching(/sandbox_unavailable: .*namespace/)]);
    expect((await start(["doctor"])).out).toContain("sandbox_blocked");
  });

  test("a project cannot require or choose it", async () => {
    await trusted();
    writeFiles(base, { "project/.ambit/config.yml": "namespaces: preferred\n" });
    expect((await start(["doctor"])).out).toContain("`namespaces` is a setting of the user, not of a project");
  });

  test("with namespaces the first sandbox is used, by the same program and state", async () => {
    await trusted();
    expect(await exec("--", "true")).toMatchObject({ status: 0 });
    // The daemon was started in the container, and is still there.
    const ran = await start(["exec", "coder", "--json", "--", "true"], false);
    expect(JSON.parse(ran.out).enforcement[0].note).toContain("without namespaces");
    expect(await start(["daemon", "stop"], false)).toMatchObject({ status: 0 });
    expect((await start(["doctor"], false)).out).toContain("sandbox: bubblewrap");
    const other = await start(["exec", "coder", "--json", "--", "true"], false);
    expect(JSON.parse(other.out).enforcement[0].note).not.toContain("without namespaces");
  });

  test("in a linked worktree a commit lands in the repository, and nothing but its objects is visible", async () => {
    const main = join(base, "main");
    const git = (...words: readonly string[]): string =>
      spawnSync("git", ["-c", "safe.directory=*", "-c", "user.name=P", "-c", "user.email=p@example.com", ...words], {
        encoding: "utf8",
      }).stdout.trimEnd();
    git("init", "-q", "-b", "main", main);
    git("-C", main, "commit", "-q", "--allow-empty", "-m", "first");
    git("-C", main, "worktree", "add", "-q", "-b", "feature", project);
    await trusted();
    const commit = "echo x > x.txt; git add x.txt; git commit -qm second; git log --format=%s";
    const ran = await exec("--shell", "--", `${commit}; cat ${main}/.git/config`);
    expect([ran.out, ran.err]).toEqual(["second\nfirst\n", expect.stringContaining("Permission denied")]);
    expect(git("-C", main, "log", "--format=%s", "feature")).toBe("second\nfirst");
    expect(git("-C", project, "status", "--porcelain", "x.txt")).toBe("");
  });

  test("what a program writes lands, git too; protected names do not; nothing else changes", async () => {
    await trusted(ALL, { "project/a.txt": "old\n", "project/gone.txt": "", "outside.txt": "old" });
    const ran = await exec(
      ...["--", "sh", "-c"],
      "echo new > a.txt; mkdir d; echo x > d/b.txt; chmod +x d/b.txt; rm gone.txt; git add -A d; git commit -qm first; echo '* evil' > .git/hooks/pre-commit; echo x > .ambit/agents/evil.md; echo x > ../../outside.txt; cat ../../../outside.txt",
    );
    expect(ran.out).toBe("");
    expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("new\n");
    expect(readFileSync(join(project, "d", "b.txt"), "utf8")).toBe("x\n");
    expect(existsSync(join(project, "gone.txt"))).toBe(false);
    const git = spawnSync("git", ["-C", project, "-c", "safe.directory=*", "log", "--format=%s"], { encoding: "utf8" });
    expect(git.stdout).toBe("first\n");
    expect(existsSync(join(project, ".git", "hooks", "pre-commit"))).toBe(false);
    expect(existsSync(join(project, ".ambit", "agents", "evil.md"))).toBe(false);
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("old");
    expect(ran.err).toMatch(/self_modification|protected|kept/);
  });

  test("a live root lands while the program runs, and shows what a person writes meanwhile", async () => {
    await trusted(["proc.exec{root=live}", "fs.read", "fs.write", "fs.delete"]);
    const wait = "until [ -s answer.txt ]; do sleep 0.1; done";
    const running = exec("--root", "live", "--", "sh", "-c", `echo asked > question.txt; ${wait}; cat answer.txt`);
    await until(() => existsSync(join(project, "question.txt")), "the program's file lands");
    writeFiles(base, { "project/answer.txt": "answered\n" });
    expect(await running).toMatchObject({ status: 0, out: "answered\n" });
  });

  test("hidden names are not in the copy, and a read-only root changes nothing", async () => {
    await trusted(["proc.exec", "fs.read{paths=[shown/**]}", "fs.write{paths=[]}"], {
      ...{ "project/shown/a.txt": "shown\n", "project/hidden/b.txt": "hidden\n" },
    });
    const ran = await exec("--", "sh", "-c", "cat shown/a.txt; ls; cat hidden/b.txt; echo x > shown/a.txt");
    expect(ran.out).toBe("shown\nshown\n");
    expect(readFileSync(join(project, "shown", "a.txt"), "utf8")).toBe("shown\n");
  });

  test("a folder that is too large for a copy is read-only, and the report says so", async () => {
    await trusted(ALL, {
      "config/ambit/config.yml": "limits: { copy_mib: 1 }\n",
      "project/large.bin": "x".repeat(1_100_000),
    });
    const ran = await exec("--json", "--", "sh", "-c", "wc -c < large.bin; echo x > new.txt || echo refused");
    const told = JSON.parse(ran.out);
    expect(told.output).toBe("1100000\nrefused\n");
    const mode = told.enforcement.find(({ axis }: { axis: string }) => axis === "mode");
    expect(mode.note).toContain("read-only, although a grant allows writing");
    expect(existsSync(join(project, "new.txt"))).toBe(false);
  });

  test("the network is the granted one", async () => {
    await trusted([...ALL, `net.connect{hosts=[localhost],ports=[${port}]}`]);
    const ran = await exec("--", "sh", "-c", `curl -sS http://localhost:${port}/; curl -sS http://127.0.0.1:9/; true`);
    expect(ran.out).toBe("hello\n");
    expect(ran.err).toContain("net.connect 127.0.0.1:9");
    const none = await exec("--", "curl", "-sS", "http://example.com/");
    expect(none.err).toContain("net.connect example.com");
  });

  test("shared stores are read by those that may, and written by no program", async () => {
    await trusted(["proc.exec{root=ro}", "fs.read", "records.read{classes=[contact]}"]);
    expect(await start(["store", "put", "crm", "acme", '{"name":"Acme"}'])).toMatchObject({ status: 0 });
    expect(await start(["store", "put", "goals", "one", '{"title":"hidden"}'])).toMatchObject({ status: 0 });
    const ran = await exec(
      ...["--", "sh", "-c"],
      "cat $AMBIT_STORES/crm/crm.json; ls $AMBIT_STORES; touch $AMBIT_STORES/crm/new $AMBIT_STORES/new; echo x >> $AMBIT_STORES/crm/crm.json; chmod 777 $AMBIT_STORES/crm/crm.json; cat $AMBIT_STORES/../../../../stores/*/goals/goals.json",
    );
    expect(ran.out).toContain('"Acme"');
    expect(ran.out).toMatch(/\ncrm\n$/);
    expect(ran.out).not.toContain("hidden");
    expect(ran.err.match(/denied|not permitted/gi)?.length).toBeGreaterThanOrEqual(4);
  });

  test("a program has a terminal of its own, and no other", async () => {
    await trusted();
    const script =
      "test -t 0 && test -t 1 && stty size; stty -echo; read line; echo got $line; head -c 1 /dev/ptmx || echo no other";
    const told = await atTerminal(
      ["exec", "coder", "-t", "--", "sh", "-c", script],
      "stty cols 77 rows 33;",
      "typed\n",
    );
    expect(told.out).toContain("33 77");
    expect(told.out).toContain("got typed");
    expect(told.out).toContain("no other");
    expect(told.status).toBe(0);
  });

  test("an MCP server from a package is fetched, pinned and run, and cannot write its package", async () => {
    const registry = new Registry(base);
    await registry.listen();
    try {
      const text = readFileSync(join(root, "test", "mcp", "servers", "plain.mjs"), "utf8");
      registry.publish({ name: "leaf", version: "1.0.0" }, { "index.js": "" });
      registry.publish(
        ...[{ name: "@test/plain", version: "1.0.0", bin: { plain: "server.mjs" }, dependencies: { leaf: "^1.0.0" } }],
        { "server.mjs": `#!/usr/bin/env node\n${text}` },
      );
      await trusted(["tool.invoke{tools=[plain__*]}"]);
      const words = ["mcp", "add", "plain", "--user", "--yes", "--", "npx", "-y", "@test/plain@^1.0.0"];
      const added = await atTerminal(words, `export npm_config_registry=${registry.url};`);
      expect([added.status, added.out]).toEqual([0, expect.stringContaining("added plain")]);
      const call = (tool: string, input: object): Promise<Ran> =>
        start(["call", "coder", `plain__${tool}`, JSON.stringify(input)]);
      expect((await call("echo", { value: "from a package" })).out).toContain("from a package");
      const [lock = ""] = readdirSync(join(base, "state", "ambit", "packages"));
      const file = join(base, "state", "ambit", "packages", lock, "node_modules", "@test", "plain", "server.mjs");
      const written = await call("write", { path: file, value: "" });
      expect(written.out + written.err).toMatch(/EROFS|EACCES/);
      expect(readFileSync(file, "utf8")).toContain(text);
    } finally {
      registry.close();
    }
  });
});
