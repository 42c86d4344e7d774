// The protocol's own clients, three of them: the newer library in both eras, and the older one. Their checks of a server apply
// here, and all get the same results.
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { processesWith } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { Fixture } from "../state/fixture.ts";
import type { ToolResult } from "./line-client.ts";
import { AS_CLIENT, textOf } from "./line-client.ts";

let fixture: Fixture;
let peer: Peer | null = null;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent(
    "scout",
    ["fs.read{in=.}", "memory.read{keys=[notes/**]}", "memory.write", "proc.exec{cmds=[sleep]}"],
    "sandbox: .\n",
  );
  fixture.write("project/a.txt", "one line\n");
  await fixture.begin();
});
afterEach(async () => {
  await peer?.close();
  peer = null;
});
afterAll(() => fixture?.remove());

/** What each of them can do. */
interface Peer {
  readonly version: string | undefined;
  list(): Promise<readonly { readonly name: string }[]>;
  call(name: string, input: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>;
  onChanged(ring: () => void): Promise<void>;
  close(): Promise<void>;
}

const WHO = { name: "test", version: "0" };

function server(): { command: string; args: string[]; env: Record<string, string>; cwd: string; stderr: "ignore" } {
  const words = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", "scout"];
  const env = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  // A shell is started in between, so that the test counts as a person.
  return {
    command: "perl",
    args: [...AS_CLIENT, ...words],
    env,
    cwd: fixture.project,
    stderr: "ignore",
  };
}

async function newer(mode: "legacy" | { readonly pin: string }): Promise<Peer> {
  const client = new Client(WHO, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(server()));
  return {
    version: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: async (name, input, signal) =>
      (await client.callTool(
        { name, arguments: input },
        signal === undefined ? {} : { signal },
      )) as unknown as ToolResult,
    onChanged: async (ring) => {
      client.setNotificationHandler("notifications/tools/list_changed", ring);
      if (mode !== "legacy") await client.listen({ toolsListChanged: true });
    },
    close: () => client.close(),
  };
}

async function older(): Promise<Peer> {
  const client = new OlderClient(WHO);
  await client.connect(new OlderTransport(server()));
  const { ToolListChangedNotificationSchema: changed } = await import("@modelcontextprotocol/sdk/types.js");
  return {
    version: "2025-11-25",
    list: async () => (await client.listTools()).tools,
    call: async (name, input, signal) =>
      (await client.callTool(
        { name, arguments: input },
        undefined,
        signal === undefined ? {} : { signal },
      )) as unknown as ToolResult,
    onChanged: async (ring) => client.setNotificationHandler(changed, ring),
    close: () => client.close(),
  };
}

const PEERS: readonly (readonly [string, string, () => Promise<Peer>])[] = [
  ["the newer library, newer era", "2026-07-28", () => newer({ pin: "2026-07-28" })],
  ["the newer library, older era", "2025-11-25", () => newer("legacy")],
  ["the older library", "2025-11-25", older],
];

describe.each(PEERS)("%s", (_, version, open) => {
  test("lists the tools the agent can ever call, sorted, and nothing else", async () => {
    peer = await open();
    expect(peer.version).toBe(version);
    const names = (await peer.list()).map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(["fs_read", "memory_get", "memory_set", "proc_exec"]));
    for (const name of ["obs_append", "agent_grant", "proc_eval"]) expect(names).not.toContain(name);
  });

  test("calls, and gets the result as text and as data", async () => {
    peer = await open();
    const read = await peer.call("fs_read", { path: "a.txt" });
    expect(read.isError ?? false).toBe(false);
    expect(read.content[0]).toEqual({ type: "text", text: "one line\n" });
    expect(read.structuredContent).toMatchObject({ text: "one line\n", more: false });
  });

  test("is denied in text and in data, and continues", async () => {
    peer = await open();
    const denied = await peer.call("memory_get", { key: "diary/today" });
    expect(denied).toMatchObject({
      isError: true,
      structuredContent: { code: "scope_violation", need: "memory.read diary/today", id: expect.stringMatching(/^c_/) },
    });
    expect(textOf(denied)).toContain("denied: memory.read diary/today (scope_violation)");
    expect((await peer.call("memory_get", { key: "notes/today" })).isError ?? false).toBe(false);
  });

  test("cancels a call, and the program it ran is killed", async () => {
    peer = await open();
    const mark = `${4_000 + (process.pid % 1_000)}.${version.replaceAll("-", "")}${_.length}`;
    const taking = new AbortController();
    const call = peer.call("proc_exec", { argv: ["sleep", mark], in: ".", root: "ro" }, taking.signal);
    const over = call.then(
      () => "answered",
      () => "taken back",
    );
    await until(() => processesWith(mark).length > 0, "it sleeps");
    taking.abort();
    expect(await over).toBe("taken back");
    await until(() => processesWith(mark).length === 0, "it is ended");
  });

  test("is notified of a changed list, and the next call is decided by the new text", async () => {
    const record = (grants: readonly string[]): void => fixture.agent("scout", grants, "sandbox: .\n");
    const before = ["fs.read{in=.}", "memory.read{keys=[notes/**]}", "memory.write", "proc.exec{cmds=[sleep]}"];
    peer = await open();
    let changes = 0;
    await peer.onChanged(() => {
      changes++;
    });
    expect((await peer.list()).map(({ name }) => name)).toContain("memory_set");
    expect((await peer.call("memory_set", { key: "notes/a", value: "1" })).isError ?? false).toBe(false);
    try {
      record(before.filter((grant) => grant !== "memory.write"));
      // A narrowing takes effect at once, without trust.
      const after = await peer.call("memory_set", { key: "notes/a", value: "2" });
      expect(after).toMatchObject({ isError: true, structuredContent: { code: "capability_absent" } });
      await until(() => changes > 0, "it is told");
      expect((await peer.list()).map(({ name }) => name)).not.toContain("memory_set");
    } finally {
      record(before);
    }
    await until(() => changes > 1, "it is told again");
    expect((await peer.call("memory_set", { key: "notes/a", value: "3" })).isError ?? false).toBe(false);
  });
});

test("in the newer era the list is for this client alone, and for a short time", async () => {
  const client = new Client(WHO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StdioClientTransport(server()));
  expect(await client.listTools()).toMatchObject({ cacheScope: "private", ttlMs: expect.any(Number) });
  await client.close();
});
