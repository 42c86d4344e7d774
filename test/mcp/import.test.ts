// `ambit mcp import` and `ambit connect --gateway` on real settings of clients: nothing changes before a yes, values go into the
// secret store and into no file, and disconnecting puts the client's file back.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";

const VALUE = "d41d8cd98f00b204e9800998ecf8427e";
const CURSOR = `{
  // mine
  "mcpServers": {
    "Docs": { "command": "node", "args": ["/srv/docs/server.js"], "env": { "API_KEY": "${VALUE}", "LEVEL": "debug" } },
    "tracker": { "url": "https://tracker.example/mcp", "headers": { "Authorization": "Bearer ${VALUE}-2" } },
    "db": { "command": "db", "args": ["postgres://me:word-of-mine@db.example/x"] }
  }
}
`;

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["fs.read"]);
  fixture.write("project/.cursor/mcp.json", CURSOR);
  fixture.write(
    "project/.codex/config.toml",
    `[mcp_servers.search]\ncommand = "search"\nenv = { SEARCH_TOKEN = "${VALUE}-3" }\n`,
  );
  fixture.write("project/.mcp.json", "{ not json");
  await fixture.begin();
});
afterAll(() => fixture?.remove());

async function ambit(...words: readonly string[]): Promise<{ readonly status: number | null; readonly out: string }> {
  const line = [process.execPath, join(root, "bin", "ambit"), ...words].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const child = spawn("script", ["-qec", line.join(" "), "/dev/null"], {
    cwd: fixture.project,
    env: fixture.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => {
      out += part;
    });
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out: out.replaceAll("\r\n", "\n") };
}

const own = (): string => join(fixture.config, "mcp.yml");
const cursor = (): string => readFileSync(join(fixture.project, ".cursor/mcp.json"), "utf8");

describe("importing", () => {
  test("shows what each would get, without values, and changes nothing", async () => {
    const { status, out } = await ambit("mcp", "import", "cursor", "--project", "--json");
    expect(status).toBe(0);
    const told = JSON.parse(out) as {
      servers: { name: string; secrets: { secret: string }[] }[];
      refused: object[];
      isWritten: boolean;
    };
    expect(told).toMatchObject({
      isWritten: false,
      refused: [{ name: "db", why: expect.stringContaining("credential") }],
    });
    expect(told.servers.map(({ name, secrets }) => [name, secrets.map(({ secret }) => secret)])).toEqual([
      ["docs", ["docs-api-key"]],
      ["tracker", ["tracker-authorization"]],
    ]);
    expect(out).not.toContain(VALUE);
    expect(out).not.toContain("word-of-mine");
    expect(existsSync(own())).toBe(false);
    expect((await ambit("secrets", "list", "--json")).out).not.toContain("docs-api-key");
    expect(cursor()).toBe(CURSOR);
  });

  test("after a yes stores the values, names them in your own file, and leaves the client's file", async () => {
    const { status, out } = await ambit("mcp", "import", "cursor", "--project", "--yes");
    expect([status, out]).toEqual([0, expect.stringContaining("imported docs, tracker")]);
    expect(out).not.toContain(VALUE);
    expect(out).toContain("the values are still in .cursor/mcp.json");
    const text = readFileSync(own(), "utf8");
    expect(text).toContain('API_KEY: { secret: "docs-api-key", reveal: true }');
    expect(text).toContain('Authorization: "Bearer {{secret:tracker-authorization}}"');
    expect(text).not.toContain(VALUE);
    const { secrets } = JSON.parse((await ambit("secrets", "list", "--json")).out) as {
      secrets: { name: string; binding: object }[];
    };
    expect(Object.fromEntries(secrets.map(({ name, binding }) => [name, binding]))).toMatchObject({
      "docs-api-key": { tools: ["mcp.docs"], hosts: [] },
      "tracker-authorization": { tools: ["mcp.tracker"], hosts: ["tracker.example"] },
    });
    expect(cursor()).toBe(CURSOR);
    expect((await ambit("mcp", "check")).status).toBe(0);
  });

  test("again imports nothing twice", async () => {
    const { out } = await ambit("mcp", "import", "cursor", "--project", "--json", "--yes");
    expect(JSON.parse(out)).toMatchObject({
      servers: [],
      isWritten: false,
      refused: [{ why: "a server docs already exists" }, {}, {}],
    });
  });

  test("reads TOML of Codex, and single servers by name", async () => {
    expect((await ambit("mcp", "import", "codex", "other")).out).toContain("codex has no server other");
    const { status, out } = await ambit("mcp", "import", "codex", "search", "--yes");
    expect([status, out]).toEqual([0, expect.stringContaining("imported search")]);
    expect(readFileSync(own(), "utf8")).toContain("search-search-token");
  });

  test("refuses a server alone whose entry would be invalid, and shows hostile names escaped", async () => {
    const servers = {
      loads: { command: "x", env: { LD_PRELOAD: "/tmp/x.so" } },
      bare: { url: "http://tracker.example/mcp" },
      "\u001b[2Jodd\u202e": { command: "x" },
      good: { command: "x" },
    };
    fixture.write("project/.vscode/mcp.json", JSON.stringify({ servers }));
    const { status, out } = await ambit("mcp", "import", "vscode", "--project", "--yes");
    expect([status, out]).toEqual([0, expect.stringContaining("imported good")]);
    expect(out).toContain("set by the sandbox");
    expect(out).toContain("without TLS");
    expect([out.includes("\u001b[2J"), out.includes("\u202e")]).toEqual([false, false]);
    const text = readFileSync(own(), "utf8");
    expect([text.includes("good:"), text.includes("LD_PRELOAD"), text.includes("bare:")]).toEqual([true, false, false]);
  });

  test.each([
    ["claude", "cannot be parsed"],
    ["gemini", "has no servers"],
    ["other", "can be imported"],
  ])("%s is refused with a reason", async (client, why) => {
    const { status, out } = await ambit("mcp", "import", client, "--project", "--yes");
    expect([status === 0, out]).toEqual([false, expect.stringContaining(why)]);
  });
});

describe("one gateway", () => {
  test("takes no server from a client that ambit does not offer", async () => {
    const { status, out } = await ambit("connect", "cursor", "--agent", "coder", "--gateway", "--yes");
    expect([status === 0, out]).toEqual([false, expect.stringContaining("not behind ambit yet: db")]);
    expect(cursor()).toBe(CURSOR);
  });

  test("is the only server of the file afterwards, and disconnecting puts the file back", async () => {
    await ambit("mcp", "add", "db", "--user", "--yes", "--", "db");
    const dry = await ambit("connect", "cursor", "--agent", "coder", "--gateway", "--dry-run");
    expect([dry.status, cursor()]).toEqual([0, CURSOR]);
    const { out } = await ambit("connect", "cursor", "--agent", "coder", "--gateway", "--yes", "--json");
    expect(JSON.parse(out)).toMatchObject({ isWritten: true });
    expect(cursor()).toContain("// mine");
    expect(cursor()).not.toContain(VALUE);
    expect(cursor()).not.toContain("tracker.example");
    expect(cursor()).toContain('"mcp"');
    // What is there by now is ambit itself.
    const written = cursor();
    const again = await ambit("connect", "cursor", "--agent", "coder", "--gateway", "--yes", "--json");
    expect([JSON.parse(again.out), cursor()]).toMatchObject([{ isWritten: true }, written]);
    expect((await ambit("mcp", "import", "cursor", "--project", "--yes")).out).toContain("it is ambit itself");
    expect((await ambit("disconnect", "cursor")).status).toBe(0);
    expect(cursor()).toBe(CURSOR);
  });

  test("names servers of other files, which stay direct", async () => {
    fixture.write("project/opencode.json", '{ "mcp": { "docs": { "type": "local", "command": ["x"] } } }');
    fixture.write("project/opencode.jsonc", '{ "mcp": { "elsewhere": { "type": "local", "command": ["x"] } } }');
    const { out } = await ambit("connect", "opencode", "--agent", "coder", "--gateway", "--dry-run", "--json");
    expect(JSON.parse(out)).toMatchObject({ direct: [{ name: "elsewhere", file: "opencode.jsonc" }] });
  });

  test("does not rewrite TOML", async () => {
    const before = readFileSync(join(fixture.project, ".codex/config.toml"), "utf8");
    const { status, out } = await ambit("connect", "codex", "--agent", "coder", "--gateway", "--project", "--yes");
    expect([status === 0, out]).toEqual([false, expect.stringContaining("is not rewritten")]);
    expect(readFileSync(join(fixture.project, ".codex/config.toml"), "utf8")).toBe(before);
  });
});
