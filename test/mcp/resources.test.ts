// Resources and prompts of a real MCP server through ambit: listed and read as far as `mcp.resource` reaches, logged, and never
// under the name of another server.
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { AS_CLIENT } from "./line-client.ts";

const packages = join(root, "node_modules");
const servers = join(root, "test", "mcp", "servers");
const EVERYTHING = join(packages, "@modelcontextprotocol", "server-everything", "dist", "index.js");

let fixture: Fixture;

interface Listed {
  readonly items: readonly { readonly uri: string }[];
  readonly problems: readonly { readonly server: string }[];
}

beforeAll(async () => {
  fixture = await Fixture.make();
  const entry = `{ command: [node, "${EVERYTHING}"], runtime: ["${packages}"] }`;
  const hostile = ["many", "pages", "rubbish", "lies", "big", "exit"].map(
    (mode) =>
      `  h-${mode}: { command: [node, "${join(servers, "resources.mjs")}", ${mode}], runtime: ["${servers}"] }\n`,
  );
  fixture.write("config/ambit/mcp.yml", `servers:\n  every: ${entry}\n  twin: ${entry}\n${hostile.join("")}`);
  fixture.agent("hostile", ['mcp.resource{servers=["h-*"],uris=[**]}']);
  fixture.agent("reader", ["mcp.resource{servers=[every],uris=[demo://resource/dynamic/**,prompt:simple-*]}"]);
  fixture.agent("all", ["mcp.resource{servers=[every,twin],uris=[**]}"]);
  fixture.agent("none", ["memory.read"]);
  await fixture.begin();
}, 60_000);
afterAll(() => fixture?.remove());

async function connected(agent: string, mode: "legacy" | { readonly pin: string } = "legacy"): Promise<Client> {
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
  const env = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  const words = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent];
  await client.connect(
    new StdioClientTransport({
      command: "perl",
      args: [...AS_CLIENT, ...words],
      env,
      cwd: fixture.project,
      stderr: "ignore",
    }),
  );
  return client;
}

describe.each([["legacy" as const], [{ pin: "2026-07-28" }]])("in the era %j", (mode) => {
  test("a client lists and reads what is granted, and is refused the rest", async () => {
    const client = await connected("reader", mode);
    try {
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
        "every+demo://resource/dynamic/text/{resourceId}",
      );
      // Static documents are listed by the server, and not granted.
      expect((await client.listResources()).resources).toEqual([]);
      const { contents } = await client.readResource({ uri: "every+demo://resource/dynamic/text/1" });
      expect(contents[0]?.uri).toBe("every+demo://resource/dynamic/text/1");
      expect(JSON.stringify(contents)).toContain("Resource 1");
      for (const uri of [
        "every+demo://resource/static/document/features.md",
        "every+demo://resource/dynamic/../static/document/features.md",
        "every+demo://resource/dynamic/%2e%2e/static/document/features.md",
        "twin+demo://resource/dynamic/text/1",
        "other+demo://resource/dynamic/text/1",
        "demo://resource/dynamic/text/1",
      ])
        await expect(client.readResource({ uri }), uri).rejects.toThrow();
      const prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
      expect(prompts.filter((name) => name.includes("__"))).toEqual(["every__simple-prompt"]);
      const { messages } = await client.getPrompt({ name: "every__simple-prompt" });
      expect(messages.length).toBeGreaterThan(0);
      await expect(client.getPrompt({ name: "every__args-prompt", arguments: { city: "Oslo" } })).rejects.toThrow();
    } finally {
      await client.close();
    }
  });
});

test("a prompt gets its arguments, and two servers with the same resources stay apart", async () => {
  const client = await connected("all");
  const { messages } = await client.getPrompt({ name: "every__args-prompt", arguments: { city: "Oslo" } });
  expect(JSON.stringify(messages)).toContain("Oslo");
  const uris = (await client.listResources()).resources.map(({ uri }) => uri);
  expect(uris.some((uri) => uri.startsWith("every+demo://"))).toBe(true);
  expect(new Set(uris).size).toBe(uris.length);
  expect(uris.filter((uri) => uri.startsWith("twin+")).length).toBe(uris.length / 2);
  await client.close();
});

test("an agent without such grants has no resources, starts no server, and no denial is logged for its client's question", async () => {
  const before = (await fixture.log({ outcome: "deny" })).length;
  const client = await connected("none");
  expect((await client.listResources()).resources).toEqual([]);
  expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
  await expect(client.readResource({ uri: "every+demo://resource/dynamic/text/1" })).rejects.toThrow(/mcp.resource/);
  await client.close();
  expect((await fixture.log({ outcome: "deny" })).length).toBe(before + 1);
});

test("a hostile server's lists and contents are cut, checked, and never pass for another server's", async () => {
  const caller = fixture.caller();
  const session = expectValue(await caller.open(fixture.project, "hostile"));
  const list = async (server: string): Promise<Listed> => {
    const { said, value } = await session.do("resources_list", { server });
    expect(said).toBe("done");
    return value["result"] as Listed;
  };
  const many = await list("h-many");
  expect([many.items.length, many.problems.length]).toEqual([1_000, 1]);
  const pages = await list("h-pages");
  expect([pages.items.map(({ uri }) => uri), pages.problems.length]).toEqual([["h://a/1"], 1]);
  const lies = await list("h-lies");
  expect(lies.items.map(({ uri }) => uri)).toEqual(["h://a/ok", "prompt:../x", "prompt:p__q"]);
  expect(lies.problems.length).toBe(1);
  for (const server of ["h-rubbish", "h-exit"]) expect((await list(server)).problems[0]?.server).toBe(server);
  for (const server of ["h-rubbish", "h-big", "h-exit"])
    expect([server, (await session.do("resources_read", { server, uri: "h://a/1" })).said]).toEqual([
      server,
      "not_available",
    ]);
  await caller.end();
}, 60_000);

test("a read is decided, logged with its URI, and marks the session", async () => {
  const client = await connected("reader");
  await client.readResource({ uri: "every+demo://resource/dynamic/text/2" });
  await client.close();
  const entries = await fixture.log({});
  const read = entries.findLast(({ tool }) => tool === "resources_read");
  expect([read?.outcome, JSON.stringify(read)]).toEqual([
    "allow",
    expect.stringContaining("mcp.resource every demo://resource/dynamic/text/2"),
  ]);
  const closed = entries.findLast(({ outcome }) => outcome === "closed");
  expect(closed?.more["clean"]).toBe(false);
});
