// MCP servers from packages of a registry: fetched by a person's command without install scripts, pinned, kept read-only, and run
// without the registry. The registry is on loopback; npm, the sandbox, the daemon and the servers are real.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import type { Caller, Ran, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { Registry } from "./registry.ts";

const PLAIN = `#!/usr/bin/env node\n${readFileSync(join(root, "test", "mcp", "servers", "plain.mjs"), "utf8")}`;
const NAME = "@test/plain";

let fixture: Fixture;
let registry: Registry;
let caller: Caller;

/** A version of a server whose program is the test's own. */
function publish(name: string, version: string, more: object = {}, text = PLAIN, dist?: Record<string, unknown>): void {
  const bin = { [name.slice(name.indexOf("/") + 1)]: "server.mjs" };
  registry.publish({ name, version, bin, ...more }, { "server.mjs": text }, dist);
}

beforeAll(async () => {
  fixture = await Fixture.make();
  registry = new Registry(fixture.base);
  await registry.listen();
  registry.publish({ name: "leaf", version: "1.0.0" }, { "index.js": "" });
  publish(NAME, "1.0.0", { dependencies: { leaf: "^1.0.0" } });
  publish(NAME, "1.1.0", { dependencies: { leaf: "^1.0.0" } }, PLAIN.replace("`The tool ${name}.`", "`Tool ${name}.`"));
  registry.publishInstalled();
  fixture.write("project/docs/a.txt", "of the docs\n");
  fixture.agent("scout", [
    "fs.read{in=docs}",
    "tool.invoke{tools=[plain__*,files__*,every__*,disk__*,memory__*,think__*]}",
  ]);
  await fixture.begin();
  caller = fixture.caller();
}, 180_000);

afterAll(async () => {
  registry?.close();
  await fixture?.remove();
});

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");

/** At a terminal that no client shares; npm's registry is a variable of the person's. */
function started(...words: readonly string[]): { readonly child: ChildProcess; readonly ran: Promise<Ran> } {
  const line = quoted([process.execPath, join(root, "bin", "ambit"), ...words]);
  const child = spawn("script", ["-qec", `exec ${line}`, "/dev/null"], {
    ...{ cwd: fixture.project, stdio: ["ignore", "pipe", "pipe"] },
    env: { ...fixture.environment, npm_config_registry: registry.url },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (part: Buffer) => {
      out += part;
    });
  const ran = once(child, "close").then(([status]) => ({
    status: status as number | null,
    out: out.replaceAll("\r\n", "\n"),
  }));
  return { child, ran };
}

const ambit = (...words: readonly string[]): Promise<Ran> => started(...words).ran;
const add = (name: string, ...rest: readonly string[]): Promise<Ran> =>
  ambit("mcp", "add", name, "--user", "--yes", ...rest);

const own = (): string =>
  existsSync(join(fixture.config, "mcp.yml")) ? readFileSync(join(fixture.config, "mcp.yml"), "utf8") : "";
const store = (): string => join(fixture.state, "packages");
const stored = (): readonly string[] => (existsSync(store()) ? readdirSync(store()) : []);
const lockOf = (server: string): string =>
  new RegExp(`${server}:\\n.*\\n.*lock: "sha256-(\\w+)"`).exec(own())?.[1] ?? "";

async function session(): Promise<Session> {
  return expectValue(await caller.open(fixture.project, "scout"));
}

async function call(from: Session, tool: string, input: object = {}): Promise<string> {
  const { said, value } = await from.do(tool, input);
  if (said !== "done") return `${said}: ${String(value["message"] ?? value["reason"] ?? "")}`;
  const { content } = value["result"] as { readonly content: readonly { readonly text?: string }[] };
  return content.map(({ text = "" }) => text).join("\n");
}

describe("adding", () => {
  test("resolves the version, shows what was fetched, pins it, and keeps it read-only", async () => {
    const { status, out } = await add("plain", "--", "npx", "-y", `${NAME}@^1.0.0`);
    expect([status, out]).toEqual([0, expect.stringContaining("added plain")]);
    expect(out).toContain(`${NAME}@1.1.0 (${NAME}@^1.0.0) from ${registry.url}`);
    expect(out).toMatch(/sha512-[\w+/]+=*\n +2 packages, 0\.0 MiB\n +no install scripts/);
    expect(own()).toMatch(/command: \["plain"\]\n {4}package: \{ npm: "@test\/plain@1\.1\.0", integrity: "sha512-/);
    expect(stored()).toEqual([lockOf("plain")]);
    const folder = join(store(), lockOf("plain"));
    expect(
      [folder, join(folder, "node_modules/@test/plain/server.mjs")].map((path) => statSync(path).mode & 0o222),
    ).toEqual([0, 0]);
    const entries = await fixture.log({ outcome: "package_fetched" });
    expect(JSON.stringify(entries)).toContain("@test/plain@1.1.0");
  });

  test("runs it without the registry, without npm, and without a writable package", async () => {
    registry.asked.length = 0;
    const one = await session();
    expect(await call(one, "plain__echo", { value: "from a package" })).toBe("from a package");
    expect(await call(one, "plain__dial", { value: new URL(registry.url).port })).toMatch(/^refused/);
    const file = "/run/ambit/package/node_modules/@test/plain/server.mjs";
    expect(await call(one, "plain__write", { path: file, value: "" })).toMatch(/EROFS|EACCES/);
    expect(registry.asked).toEqual([]);
  });

  test("its entry is read by check, and list names the package", async () => {
    expect((await ambit("mcp", "check")).status).toBe(0);
    expect((await ambit("mcp", "list")).out).toContain("@test/plain@1.1.0");
  });

  test.each([
    ["a repository", ["npx", "-y", "github:someone/server"], "is not a registry package"],
    ["an address", ["npx", "-y", "https://example.test/a.tgz"], "is not a registry package"],
    ["a folder", ["npx", "-y", "./server"], "is not a registry package"],
    ["an alias", ["npx", "-y", "a@npm:b@1.0.0"], "is not a registry package"],
    ["another registry in an option", ["npx", "--registry=http://evil.test", "a"], "is not supported here"],
    ["no package", ["npx", "-y"], "names no package"],
  ])("%s is refused with a reason, and nothing is asked", async (_, words, why) => {
    registry.asked.length = 0;
    const { status, out } = await add("odd", "--", ...words);
    expect([status, out]).toEqual([2, expect.stringContaining(why)]);
    expect([registry.asked, own().includes("odd:")]).toEqual([[], false]);
  });

  test.each([
    ["is not there", "@test/absent", "404"],
    ["has no such version", `${NAME}@9.9.9`, "9.9.9"],
    ["needs a folder", "@test/folder", "from outside the registry"],
    ["has a weak integrity", "@test/weak", "no SHA-2 integrity"],
    ["has an archive on another host", "@test/elsewhere", "refused: net.connect elsewhere.example.test"],
    ["has another archive than its integrity says", "@test/swapped", "EINTEGRITY"],
    ["has no program", "leaf", "it has no programs"],
  ])("a package that %s is refused, and nothing is left", async (_, spec, why) => {
    publish("@test/folder", "1.0.0", { dependencies: { other: "file:../other" } });
    publish("@test/weak", "1.0.0", {}, PLAIN, { tarball: `${registry.url}@test/weak/-/1.0.0.tgz` });
    publish("@test/elsewhere", "1.0.0", {}, PLAIN, {
      tarball: "http://elsewhere.example.test/a.tgz",
      integrity: `sha512-${"A".repeat(86)}==`,
    });
    publish("@test/swapped", "1.0.0", {}, PLAIN, {
      tarball: `${registry.url}@test/swapped/-/1.0.0.tgz`,
      integrity: `sha512-${"A".repeat(86)}==`,
    });
    const before = stored();
    const { status, out } = await add("odd", "--", "npx", "-y", spec);
    expect([status === 0, out]).toEqual([false, expect.stringContaining(why)]);
    expect([stored(), own().includes("odd:")]).toEqual([before, false]);
  });

  test("a registry that is not there is told, and nothing is left", async () => {
    const { status, out } = await add("odd", "--registry", "http://localhost:9/", "--", "npx", "-y", NAME);
    expect([status === 0, out]).toEqual([false, expect.stringMatching(/npm could not fetch it: .*ECONN/)]);
    expect(stored().length).toBe(1);
  });

  test("what npm advises with an error is left out", async () => {
    const { out } = await add("odd", "--", "npx", "-y", "@test/nowhere");
    expect(out).toMatch(/npm could not fetch it: code E404; 404 Not Found/);
    expect(out).not.toMatch(/Note that|tarball|; 404(?:;|$)/m);
  });

  test("an interrupted fetch leaves nothing", async () => {
    publish("@test/slow", "1.0.0");
    registry.held.add("@test/slow/-/");
    const isAsked = new Promise<void>((asked) => {
      registry.onHeld = asked;
    });
    const { child, ran } = started("mcp", "add", "slow", "--user", "--yes", "--", "npx", "-y", "@test/slow");
    await isAsked;
    expect(stored().filter((name) => name.startsWith("stage-")).length).toBe(1);
    // The command itself: it is the terminal's child.
    const [command] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
    process.kill(Number(command), "SIGINT");
    await ran;
    await until(() => stored().every((name) => !name.startsWith("stage-")), "the stage is removed");
    expect([own().includes("slow:"), stored().length]).toEqual([false, 1]);
  });

  test("two at once of one package are stored once, and both servers run", async () => {
    const both = await Promise.all([
      add("memory", "--", "npx", "-y", `${NAME}@1.0.0`, "rug-notified"),
      add("think", "--", "bunx", `${NAME}@1.0.0`),
    ]);
    expect(both.map(({ status, out }) => [status, status === 0 ? "" : out])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(lockOf("memory")).toBe(lockOf("think"));
    expect(stored().length).toBe(2);
    expect(await call(await session(), "think__echo")).toBe("echo");
  });

  test("a package is removed with the last entry that names it", async () => {
    expect((await ambit("mcp", "remove", "memory", "--user")).status).toBe(0);
    expect(stored().length).toBe(2);
    expect((await ambit("mcp", "remove", "think", "--user")).status).toBe(0);
    expect(stored()).toEqual([lockOf("plain")]);
  });
});

describe("install scripts", () => {
  const script = (port: number): string =>
    `const { writeFileSync } = require("node:fs");
const socket = require("node:net").connect(${port}, "127.0.0.1");
const told = (text) => { writeFileSync("made.txt", text + JSON.stringify(Object.keys(process.env).filter((name) => /TOKEN|SECRET/.test(name)))); process.exit(0); };
socket.on("connect", () => told("connected"));
socket.on("error", () => told("refused"));
`;

  test("do not run, and are named", async () => {
    const scripts = { postinstall: "node script.js" };
    const bin = { scripted: "server.mjs" };
    registry.publish(
      { name: "scripted", version: "1.0.0", bin, scripts },
      {
        ...{ "server.mjs": PLAIN, "script.js": script(Number(new URL(registry.url).port)) },
      },
    );
    const { status, out } = await add("every", "--", "npx", "-y", "scripted");
    expect([status, out]).toEqual([0, expect.stringContaining("install scripts that did not run: scripted@1.0.0")]);
    expect(existsSync(join(store(), lockOf("every"), "node_modules/scripted/made.txt"))).toBe(false);
    await ambit("mcp", "remove", "every", "--user");
  });

  test("run with --run-scripts, in a sandbox without network, and the entry says so", async () => {
    const { status, out } = await add("every", "--run-scripts", "--", "npx", "-y", "scripted");
    expect([status, out]).toEqual([0, expect.stringContaining("ran install scripts, without network: scripted@1.0.0")]);
    expect(own()).toContain("scripts: true }");
    const folder = join(store(), `${lockOf("every")}-scripts`);
    expect(readFileSync(join(folder, "node_modules/scripted/made.txt"), "utf8")).toBe("refused[]");
    await ambit("mcp", "remove", "every", "--user");
    expect(stored().length).toBe(1);
  });
});

describe("the stored package", () => {
  test("is not run once a byte of it changed, with a code in the log, and is fetched again by its pin", async () => {
    const file = join(store(), lockOf("plain"), "node_modules/@test/plain/server.mjs");
    chmodSync(file, 0o755);
    appendFileSync(file, "\n");
    const one = await session();
    expect(await call(one, "plain__echo")).toContain(
      "pin_changed: the stored package @test/plain@1.1.0 changed since it was fetched",
    );
    expect(JSON.stringify(await fixture.log({ outcome: "server_denied" }))).toContain("pin_changed");
    const { status, out } = await ambit("mcp", "fetch");
    expect([status, out]).toEqual([0, expect.stringContaining("fetched @test/plain@1.1.0 for plain")]);
    expect(await call(await session(), "plain__echo")).toBe("echo");
    expect((await ambit("mcp", "fetch")).out).toContain("nothing to fetch");
  });

  test("a registry that answers differently later is refused", async () => {
    const file = join(store(), lockOf("plain"), "node_modules/leaf/added.js");
    chmodSync(join(store(), lockOf("plain"), "node_modules/leaf"), 0o755);
    writeFileSync(file, "");
    registry.publish({ name: "leaf", version: "1.0.1" }, { "index.js": "module.exports = 'newer';" });
    const { status, out } = await ambit("mcp", "fetch", "plain");
    expect([status === 0, out]).toEqual([false, expect.stringContaining("pin_changed")]);
    expect(out).toContain("its dependencies resolve to different versions");
    expect(out).toContain("ambit mcp update plain --to 1.1.0");
  });

  test("an update shows the versions and pins them, and other texts wait for a person", async () => {
    const before = lockOf("plain");
    const down = await ambit("mcp", "update", "plain", "--to", "1.0.0", "--yes");
    expect([down.status, down.out]).toEqual([0, expect.stringContaining(`${NAME}@1.1.0 -> ${NAME}@1.0.0`)]);
    expect([own().includes("@test/plain@1.0.0"), lockOf("plain") === before]).toEqual([true, false]);
    expect(stored()).toEqual([lockOf("plain")]);
    expect(await call(await session(), "plain__echo")).toMatch(/^pin_changed: .*differently since it was pinned/);
    expect((await fixture.ambitAtTerminal("mcp", "pin", "plain", "--yes")).status).toBe(0);
    expect(await call(await session(), "plain__echo")).toBe("echo");
    expect((await ambit("mcp", "update", "plain", "--to", "1.0.0", "--yes")).out).toContain(
      "already pinned, with the same dependencies",
    );
  });
});

describe("files that name packages", () => {
  test("a project's file fetches nothing: a person does, after trust", async () => {
    registry.asked.length = 0;
    fixture.write(
      "project/.ambit/mcp.yml",
      `servers:\n  every: # ours\n    command: [npx, "-y", "${NAME}@1.0.0"] # as its page says\n    env: { A: b }\n`,
    );
    expect(await call(await session(), "every__echo")).toContain("unknown_tool");
    const early = await ambit("mcp", "fetch", "--yes");
    expect([early.status === 0, early.out]).toEqual([false, expect.stringContaining("no effect until you trust")]);
    await fixture.trust();
    expect(await call(await session(), "every__echo")).toContain("the package of the server every is not fetched");
    expect(registry.asked).toEqual([]);
    const { status, out } = await ambit("mcp", "fetch", "every", "--yes");
    expect([status, out]).toEqual([0, expect.stringContaining("pinned the package of every")]);
    const text = readFileSync(join(fixture.project, ".ambit/mcp.yml"), "utf8");
    expect(text).toMatch(
      /every: # ours\n {4}command: \["plain"\]\n {4}package: \{ npm: "@test\/plain@1\.0\.0".*\} # as its page says\n {4}env: \{ A: b \}\n$/,
    );
    expect(await call(await session(), "every__echo")).toBe("echo");
  });

  test("import fetches and pins what the client would fetch at each start", async () => {
    const servers = {
      Files: { command: "npx", args: ["-y", NAME], env: { LEVEL: "debug" } },
      gone: { command: "npx", args: ["-y", "@test/absent"] },
    };
    fixture.write("project/.cursor/mcp.json", JSON.stringify({ mcpServers: servers }));
    registry.asked.length = 0;
    const dry = await ambit("mcp", "import", "cursor", "--project", "--json");
    expect([dry.status, registry.asked]).toEqual([0, []]);
    const { status, out } = await ambit("mcp", "import", "cursor", "--project", "--yes");
    expect([status, out]).toEqual([0, expect.stringContaining("imported files")]);
    expect(out).toContain("its package cannot be fetched");
    expect(own()).toMatch(/files:\n {4}command: \["plain"\]\n {4}package: \{ npm: "@test\/plain@1\.1\.0"/);
    expect(await call(await session(), "files__echo", { value: "imported" })).toBe("imported");
    await ambit("mcp", "remove", "files", "--user");
  });
});

describe("the reference servers", () => {
  test("server-filesystem on / reads the folder that it requires, from its package", async () => {
    const requires = `fs.read{in=${join(fixture.project, "docs")}}`;
    const words = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/"];
    const { status, out } = await add("disk", "--requires", requires, "--", ...words);
    expect([status, out]).toEqual([0, expect.stringContaining("added disk")]);
    const one = await session();
    expect(await call(one, "disk__read_text_file", { path: join(fixture.project, "docs/a.txt") })).toBe(
      "of the docs\n",
    );
    expect(await call(one, "disk__read_text_file", { path: join(fixture.config, "mcp.yml") })).toMatch(
      /^scope_violation/,
    );
  });

  test("server-memory and server-everything run from theirs", async () => {
    await ambit("mcp", "remove", "every");
    const memory = await add("memory", "--", "pnpm", "dlx", "@modelcontextprotocol/server-memory");
    expect([memory.status, memory.out]).toEqual([0, expect.stringContaining("added memory")]);
    const every = await add("every", "--", "npm", "exec", "-y", "@modelcontextprotocol/server-everything", "stdio");
    expect([every.status, every.out]).toEqual([0, expect.stringContaining("added every")]);
    const one = await session();
    const own = /^(?:PATH|HOME|TMPDIR|USER|LOGNAME|SHELL|LANG|TERM|TZ|PWD)$/;
    const shown = JSON.parse(await call(one, "every__get-env")) as Record<string, string>;
    expect(Object.keys(shown).filter((name) => !own.test(name))).toEqual([]);
    expect(await call(one, "memory__read_graph")).toContain("entities");
  });
});
