// MCP servers from packages of Python: pip downloads wheels alone from one index, each is pinned by its digest, and they run without
// the index. The index is on loopback; pip, the sandbox, the daemon and the servers are real.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import type { Caller, Ran, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { PythonIndex, source, type WheelContent, wheel } from "./python-index.ts";

const SERVER = readFileSync(join(root, "test", "mcp", "servers", "plain_server.py"), "utf8");
const NAME = "test-plain";
const server = (more: Partial<WheelContent> = {}, text = SERVER): WheelContent => ({
  metadata: ["Requires-Dist: test-leaf>=1", "Provides-Extra: more", 'Requires-Dist: test-more; extra == "more"'],
  programs: ["test-plain = plain_server:main"],
  ...more,
  files: { "plain_server.py": text, ...more.files },
});

let fixture: Fixture;
let index: PythonIndex;
let other: PythonIndex;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  index = new PythonIndex();
  other = new PythonIndex();
  await Promise.all([index.listen(), other.listen()]);
  index.publish("test-leaf", "1.0", { files: { "test_leaf.py": "VALUE = 'of the leaf'\n" } });
  index.publish("test-more", "1.0", { files: { "test_more.py": "" } });
  index.publish(NAME, "1.0", server());
  index.publish(NAME, "1.1", server({}, SERVER.replace('f"The tool {name}."', 'f"Tool {name}."')));
  fixture.agent("scout", ["tool.invoke{tools=[plain__*,odd__*,more__*,theirs__*]}"]);
  fixture.variables = { PIP_INDEX_URL: index.url };
  await fixture.begin();
  caller = fixture.caller();
}, 180_000);

afterAll(async () => {
  index?.close();
  other?.close();
  await fixture?.remove();
});

/** At a terminal that no client shares. */
async function ambit(...words: readonly string[]): Promise<Ran> {
  const { out, status } = await fixture.ambitAtTerminal(...words);
  return { status, out: out.replaceAll("\r\n", "\n") };
}

const add = (name: string, ...rest: readonly string[]): Promise<Ran> =>
  ambit("mcp", "add", name, "--user", "--yes", ...rest);
/** pip is not asked for its settings. */
const addFrom = (name: string, ...rest: readonly string[]): Promise<Ran> => add(name, "--registry", index.url, ...rest);
const own = (): string =>
  existsSync(join(fixture.config, "mcp.yml")) ? readFileSync(join(fixture.config, "mcp.yml"), "utf8") : "";
const store = (): string => join(fixture.state, "packages");
const stored = (): readonly string[] => (existsSync(store()) ? readdirSync(store()) : []);
const lockOf = (name: string): string => new RegExp(`${name}:\\n.*\\n.*lock: "sha256-(\\w+)"`).exec(own())?.[1] ?? "";
const library = (name: string): string => {
  const lib = join(store(), lockOf(name), "lib");
  return join(lib, readdirSync(lib)[0] ?? "", "site-packages");
};

async function session(): Promise<Session> {
  return expectValue(await caller.open(fixture.project, "scout"));
}

async function call(from: Session, tool: string, input: object = {}): Promise<string> {
  const { said, value } = await from.do(tool, input);
  const content = (value["result"] as { readonly content?: readonly { readonly text?: string }[] } | undefined)
    ?.content;
  if (content !== undefined) return content.map(({ text = "" }) => text).join("\n");
  return `${said}: ${String(value["message"] ?? value["reason"] ?? "")}`;
}

describe("adding", () => {
  test("resolves the version, shows what was fetched, pins it, and stores it read-only", async () => {
    const { status, out } = await add("plain", "--", "uvx", `${NAME}>=1,<2`, "--fast");
    expect([status, out]).toEqual([0, expect.stringContaining("added plain")]);
    expect(out).toContain(`${NAME}==1.1 (${NAME}>=1,<2) from ${index.url}`);
    expect(out).toMatch(/sha256-[\w+/]+=\n +2 packages, 0\.\d MiB\n +wheels alone: nothing was built/);
    expect(own()).toMatch(
      /command: \["test-plain", "--fast"\]\n {4}package: \{ pypi: "test-plain==1\.1", integrity: "sha256-/,
    );
    expect(stored()).toEqual([lockOf("plain")]);
    expect(JSON.stringify(await fixture.log({ outcome: "package_fetched" }))).toContain(`${NAME}==1.1`);
  });

  test("runs it with its dependency, without the index, without the machine's packages, and read-only", async () => {
    index.asked.length = 0;
    const one = await session();
    expect(await call(one, "plain__echo", { value: "from a wheel" })).toBe("from a wheel");
    expect(await call(one, "plain__leaf")).toBe("of the leaf");
    expect(await call(one, "plain__arguments")).toBe('["--fast"]');
    expect(await call(one, "plain__modules")).not.toContain("dist-packages");
    expect(await call(one, "plain__dial", { value: String(index.port) })).toMatch(/Error/);
    const file = "/run/ambit/package/pyvenv.cfg";
    expect(await call(one, "plain__write", { path: file })).toMatch(/Read-only|Permission/);
    expect(await call(one, "plain__env")).not.toMatch(/PIP_|XDG_|AMBIT/);
    expect(index.asked).toEqual([]);
  });

  test("extras, pipx and uv tool run name packages, too", async () => {
    const { status, out } = await add("more", "--", "pipx", "run", "--spec", `${NAME}[more]==1.0`, NAME);
    expect([status, out]).toEqual([0, expect.stringContaining("3 packages")]);
    expect(own()).toContain('pypi: "test-plain[more]==1.0"');
    expect(await call(await session(), "more__echo")).toBe("echo");
    expect((await ambit("mcp", "remove", "more", "--user")).status).toBe(0);
    expect((await add("more", "--", "uv", "tool", "run", "--from", NAME, "other")).out).toContain(
      "it has no program other: it has test-plain",
    );
    expect(stored()).toEqual([lockOf("plain")]);
  });

  test.each([
    ["a repository", ["uvx", "--from", "git+https://x.test/a", "a"], "is not a registry package"],
    ["a script at an address", ["pipx", "run", "https://x.test/a.py"], "is not a registry package"],
    ["another index in an option", ["uvx", "--index-url", "http://evil.test", "a"], "is not supported here"],
    ["a look-alike name", ["uvx", "tеst-plain"], "is not a registry package"],
  ])("%s is refused with a reason, and nothing is asked", async (_, words, why) => {
    index.asked.length = 0;
    const { status, out } = await add("odd", "--", ...words);
    expect([status, out]).toEqual([2, expect.stringContaining(why)]);
    expect([index.asked, own().includes("odd:")]).toEqual([[], false]);
  });

  test.each([
    ["extra-index-url", { PIP_EXTRA_INDEX_URL: "http://localhost:9/simple/" }, "your pip has extra-index-url"],
    ["find-links", { PIP_FIND_LINKS: "/opt" }, "your pip has find-links"],
    ["an index of uv", { UV_DEFAULT_INDEX: "http://localhost:9/simple/" }, "your variable UV_DEFAULT_INDEX"],
    ["a credential", { PIP_INDEX_URL: "http://u:word@localhost:9/" }, "must be a plain URL without a credential"],
    ["no pip", { PATH: "/nowhere" }, "pip does not run here"],
  ])("settings with %s are refused, because one index is asked", async (_, variables, why) => {
    const before = fixture.variables;
    fixture.variables = { ...before, ...variables };
    const { status, out } = "PATH" in variables ? await withoutPython() : await add("odd", "--", "uvx", NAME);
    fixture.variables = before;
    expect([status === 0, out]).toEqual([false, expect.stringContaining(why)]);
    expect([out.includes("word"), own().includes("odd:")]).toEqual([false, false]);
  });

  /** The terminal's program is found by an absolute path; python3 is not. */
  async function withoutPython(): Promise<Ran> {
    const line = [
      process.execPath,
      join(root, "bin", "ambit"),
      "mcp",
      "add",
      "odd",
      "--user",
      "--yes",
      "--",
      "uvx",
      NAME,
    ];
    const child = spawn("/usr/bin/script", ["-qec", line.join(" "), "/dev/null"], {
      ...{ cwd: fixture.project, env: { ...fixture.environment, PATH: "/nowhere", SHELL: "/bin/sh" } },
    });
    let out = "";
    child.stdout.on("data", (part: Buffer) => {
      out += part;
    });
    const [status] = (await once(child, "close")) as [number | null];
    return { status, out };
  }

  test("a package is removed with the last entry that names it", async () => {
    expect((await add("theirs", "--", "uvx", `${NAME}@1.1`)).status).toBe(0);
    expect(lockOf("theirs")).toBe(lockOf("plain"));
    expect((await ambit("mcp", "remove", "theirs", "--user")).status).toBe(0);
    expect(stored()).toEqual([lockOf("plain")]);
  });
});

describe("what a package may not do while it is fetched", () => {
  /** Reports to the index that it ran. */
  const beacon = (): string =>
    `import urllib.request\nurllib.request.urlopen("http://localhost:${index.port}/files/ran/beacon")\n`;
  const SDIST = (): Buffer =>
    source({
      "evil-1.0/setup.py": `${beacon()}from setuptools import setup\nsetup(name="evil", version="1.0")\n`,
      "evil-1.0/backend.py": beacon(),
      "evil-1.0/pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n",
      "evil-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    });

  test.each([
    ["that is source alone", "evil", "published as source alone"],
    ["that is not there", "test-absent", "it is not there"],
    ["with no such version", `${NAME}==9.9`, "9.9"],
    ["that needs source by its address", "needs-source", "only wheels are installed"],
    ["that needs a repository", "needs-git", "only wheels are installed"],
    ["with another file than its hash says", "swapped", "DO NOT MATCH THE HASHES"],
    ["whose files leave its folder", "leaving", "outside the target directory"],
    ["with an absolute path", "absolute", "outside the target directory"],
    ["whose data leaves its folder", "data-leaving", "Unexpected file"],
    ["whose page leads elsewhere", "moved", "refused: net.connect elsewhere.example.test"],
    ["whose page leads to another port", "moved-port", "pip could not connect: "],
    ["whose file is elsewhere", "elsewhere", "refused: net.connect elsewhere.example.test"],
    ["without a program", "test-leaf", "it has no programs"],
    ["with another name in its file", "confused", "does not start with 'confused'"],
    ["whose page has the files of another name alone", "test-plian", "the index has no wheel of test-plian"],
  ])("a package %s is refused, nothing of it runs, and nothing is left", async (_, spec, why) => {
    index.add("evil", "evil-1.0.tar.gz", SDIST());
    index.publish("needs-source", "1.0", {
      files: {},
      metadata: [`Requires-Dist: evil @ http://localhost:${index.port}/files/evil/evil-1.0.tar.gz`],
    });
    index.publish("needs-git", "1.0", { files: {}, metadata: ["Requires-Dist: evil @ git+http://localhost/evil.git"] });
    index.publish("swapped", "1.0", server(), { hash: "0".repeat(64) });
    index.publish("leaving", "1.0", server({ files: { "../../../../../left.py": "" } }));
    index.publish("absolute", "1.0", server({ files: { "/run/ambit/home/left.py": "" } }));
    index.publish("data-leaving", "1.0", server({ files: { "data_leaving-1.0.data/data/../../left.py": "" } }));
    index.redirects.set("moved", "http://elsewhere.example.test/simple/moved/");
    index.redirects.set("moved-port", `${other.url}moved/`);
    other.publish("moved", "1.0", server());
    index.publish("elsewhere", "1.0", server(), {
      at: "http://elsewhere.example.test/files/elsewhere/elsewhere-1.0-py3-none-any.whl",
    });
    index.add("confused", "confused-1.0-py3-none-any.whl", wheel(NAME, "1.0", server()));
    index.add("test-plian", "test_plain-1.0-py3-none-any.whl", wheel(NAME, "1.0", server()));
    index.asked.length = 0;
    other.asked.length = 0;
    const before = stored();
    const { status, out } = await addFrom("odd", "--", "uvx", spec);
    expect([status === 0, out]).toEqual([false, expect.stringContaining(why)]);
    expect(index.asked.filter((path) => path.includes("beacon"))).toEqual([]);
    expect([other.asked, stored(), own().includes("odd:")]).toEqual([[], before, false]);
  });

  test("an index that is not there is told, without a hint to allow it", async () => {
    const { status, out } = await add("odd", "--registry", "http://localhost:9/simple/", "--", "uvx", NAME);
    expect([status === 0, out]).toEqual([false, expect.stringContaining("pip could not connect")]);
    expect(out).not.toContain("--host");
  });

  test("files at another host are fetched once a person names it", async () => {
    const hint = await addFrom("odd", "--", "uvx", "--from", "elsewhere", NAME);
    expect(hint.out).toContain("if the registry has its files there: --host elsewhere.example.test");
    other.publish("apart", "1.0", server());
    index.publish("apart", "1.0", server(), {
      at: `http://localhost:${other.port}/files/apart/apart-1.0-py3-none-any.whl`,
    });
    const { status, out } = await addFrom(
      ...["odd", "--host", `localhost:${other.port}`, "--", "uvx", "--from", "apart", NAME],
    );
    expect([status, out]).toEqual([0, expect.stringContaining("added odd")]);
    await ambit("mcp", "remove", "odd", "--user");
  });

  test("links in a wheel become files, and a .pth file runs inside the walls alone", async () => {
    const beyond = join(fixture.base, "beyond.txt");
    const pth = `import os; os.environ["PTH"] = "ran"; os.system("echo x > ${beyond}"); ${beacon().trim().replace("\n", "; ")}`;
    index.publish("with-pth", "1.0", {
      ...server({ files: { "evil.pth": `${pth}\n` } }),
      links: { "secrets.txt": "/etc/passwd" },
    });
    index.asked.length = 0;
    const { status, out } = await addFrom("odd", "--", "uvx", "--from", "with-pth", NAME);
    expect([status, out]).toEqual([0, expect.stringContaining("added odd")]);
    expect(index.asked.filter((path) => path.includes("beacon"))).toEqual([]);
    expect(readFileSync(join(library("odd"), "secrets.txt"), "utf8")).toBe("/etc/passwd");
    const one = await session();
    // It ran, as uvx would have run it: in the server's process, which reaches nothing.
    expect(await call(one, "odd__env")).toContain('"PTH"');
    expect([existsSync(beyond), index.asked.filter((path) => path.includes("beacon"))]).toEqual([false, []]);
    await ambit("mcp", "remove", "odd", "--user");
  });
});

describe("the stored package", () => {
  test("is not run once a byte of it changed, and is fetched again by its pin", async () => {
    const file = join(library("plain"), "test_leaf.py");
    chmodSync(file, 0o644);
    appendFileSync(file, "\n");
    expect(await call(await session(), "plain__echo")).toContain("pin_changed: the stored package test-plain==1.1");
    const { status, out } = await ambit("mcp", "fetch");
    expect([status, out]).toEqual([0, expect.stringContaining(`fetched ${NAME}==1.1 for plain`)]);
    expect(await call(await session(), "plain__echo")).toBe("echo");
  });

  test("a wheel that is another one later is refused by its pin", async () => {
    const file = join(library("plain"), "test_leaf.py");
    chmodSync(file, 0o644);
    appendFileSync(file, "\n");
    index.publish("test-leaf", "1.0", { files: { "test_leaf.py": "VALUE = 'swapped'\n" } });
    const { status, out } = await ambit("mcp", "fetch", "plain");
    expect([status === 0, out]).toEqual([false, expect.stringContaining("pin_changed")]);
    expect(out).toContain("its dependencies resolve to different files");
    expect(out).toContain("ambit mcp update plain --to 1.1");
    index.publish(NAME, "1.1", server({}, `${SERVER}# another\n`));
    expect((await ambit("mcp", "fetch", "plain")).out).toContain("the package itself has a different integrity");
  });

  test("an update shows the versions and pins them", async () => {
    const { status, out } = await ambit("mcp", "update", "plain", "--to", "1.0", "--yes");
    expect([status, out]).toEqual([0, expect.stringContaining(`${NAME}==1.1 -> ${NAME}==1.0`)]);
    expect(stored()).toEqual([lockOf("plain")]);
    expect((await fixture.ambitAtTerminal("mcp", "pin", "plain", "--yes")).status).toBe(0);
    expect(await call(await session(), "plain__leaf")).toBe("swapped");
  });
});

test("import fetches and pins what the client would fetch at each start", async () => {
  const servers = {
    Theirs: { command: "uvx", args: [`${NAME}==1.0`] },
    gone: { command: "uvx", args: ["test-absent"] },
  };
  fixture.write("project/.cursor/mcp.json", JSON.stringify({ mcpServers: servers }));
  const { status, out } = await ambit("mcp", "import", "cursor", "--project", "--yes");
  expect([status, out]).toEqual([0, expect.stringContaining("imported theirs")]);
  expect(out).toContain("its package cannot be fetched");
  expect(own()).toMatch(/theirs:\n {4}command: \["test-plain"\]\n {4}package: \{ pypi: "test-plain==1\.0"/);
  expect(await call(await session(), "theirs__echo", { value: "imported" })).toBe("imported");
});
