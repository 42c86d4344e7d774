// The HTTP server as a process, with the protocol's own clients of both eras and with raw requests: who is served, what a token
// gives, and that one session never sees another's.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import { Fixture } from "../state/fixture.ts";
import type { ToolResult } from "./line-client.ts";

let fixture: Fixture;
let server: ChildProcess;
let port = 0;
let errors = "";

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["fs.read{in=.}", "memory.read", "memory.write", "proc.exec{cmds=[sleep],in=.,root=ro}"]);
  fixture.agent("other", ["memory.read"]);
  fixture.write("project/a.txt", "one line\n");
  await fixture.begin();
  server = spawn(process.execPath, [join(root, "bin", "ambit"), "mcp", "serve", "--http", "127.0.0.1:0"], {
    cwd: "/",
    env: fixture.environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  server.stderr?.on("data", (text: Buffer) => {
    errors += text.toString();
  });
  await until(() => /127\.0\.0\.1:\d+/.test(errors), "it listens");
  port = Number(/127\.0\.0\.1:(\d+)/.exec(errors)?.[1]);
}, 60_000);

afterAll(async () => {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  await fixture?.remove();
});

async function token(agent = "scout", ...more: readonly string[]): Promise<{ id: string; token: string }> {
  const { out } = await fixture.ambit("tokens", "add", agent, "--json", ...more);
  return JSON.parse(out) as never;
}

const url = (): URL => new URL(`http://127.0.0.1:${port}/mcp`);
const headers = (text: string): { requestInit: RequestInit } => ({
  requestInit: { headers: { Authorization: `Bearer ${text}` } },
});

interface Peer {
  list(): Promise<readonly string[]>;
  call(name: string, input: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

async function newer(text: string, mode: "legacy" | { readonly pin: string }): Promise<Peer & { client: Client }> {
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url(), headers(text)));
  return {
    client,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input) => (await client.callTool({ name, arguments: input })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

async function older(text: string): Promise<Peer> {
  const client = new OlderClient({ name: "test", version: "0" });
  await client.connect(new OlderTransport(url(), headers(text)) as never);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input) => (await client.callTool({ name, arguments: input })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

/** Ids of the daemon's sessions. */
async function httpSessions(): Promise<readonly string[]> {
  return (await fixture.status()).sessions.filter(({ face }) => face === "http").map(({ session }) => session);
}

const PEERS: readonly (readonly [string, (text: string) => Promise<Peer>])[] = [
  ["the newer client in the newer era", (text) => newer(text, { pin: "2026-07-28" })],
  ["the newer client in the older era", (text) => newer(text, "legacy")],
  ["the older client", older],
];

describe.each(PEERS)("%s", (_, connectPeer) => {
  test("lists what the token's agent may call, calls, and is denied the rest", async () => {
    const peer = await connectPeer((await token()).token);
    try {
      expect(await peer.list()).toContain("fs_read");
      const read = await peer.call("fs_read", { path: "a.txt" });
      expect([read.isError ?? false, read.structuredContent["text"]]).toEqual([false, "one line\n"]);
      const denied = await peer.call("fs_write", { path: "a.txt", content: "x" });
      expect([denied.isError, denied.structuredContent["code"]]).toEqual([true, "capability_absent"]);
    } finally {
      await peer.close();
    }
  });

  test("a revoked token ends the client at once", async () => {
    const { id, token: text } = await token();
    const before = await httpSessions();
    const peer = await connectPeer(text);
    await peer.list();
    expect((await httpSessions()).length).toBe(before.length + 1);
    expect((await fixture.ambit("tokens", "revoke", id)).status).toBe(0);
    await expect(peer.call("fs_read", { path: "a.txt" })).rejects.toThrow();
    await peer.close().catch(() => undefined);
    expect(await httpSessions()).toEqual(before);
  });
});

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Exactly these headers. `body` is sent as it is. */
function raw(given: Readonly<Record<string, string>>, body = "", method = "POST", path = "/mcp"): Promise<Raw> {
  return new Promise((done, failed) => {
    const sent = httpRequest(
      { host: "127.0.0.1", port, path, method, headers: { host: `127.0.0.1:${port}`, ...given }, setHost: false },
      (answer) => {
        let text = "";
        answer.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.on("end", () => done({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
        answer.on("error", failed);
      },
    );
    sent.on("error", failed);
    sent.end(body);
  });
}

const JSON_TYPE = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } },
});
const message = (method: string, params: object = {}, id: unknown = 2): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

describe("who is served", () => {
  const authorized = async (): Promise<Record<string, string>> => ({
    ...JSON_TYPE,
    authorization: `Bearer ${(await token()).token}`,
  });

  test.each([
    ["no token", {}, 401],
    ["an empty token", { authorization: "Bearer " }, 401],
    ["another scheme", { authorization: "Basic YTpi" }, 401],
    ["a token that was never given", { authorization: `Bearer ambit_k_2222222222222222_${"A".repeat(43)}` }, 401],
    ["a text that is no token", { authorization: "Bearer x" }, 401],
    ["a name of another host", { host: "evil.example:80" }, 403],
    ["a name that ends like ours", { host: "127.0.0.1.evil.example" }, 403],
    ["another port", { host: "127.0.0.1:1" }, 403],
    ["an origin of a page", { origin: "https://evil.example" }, 403],
    ["an origin that starts like ours", { origin: "http://127.0.0.1.evil.example" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
  ])("%s is refused", async (_, given, status) => {
    const answer = await raw({ ...JSON_TYPE, ...given }, INITIALIZE);
    expect(answer.status).toBe(status);
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
  });

  test.each([
    ["a page of this machine", (): Record<string, string> => ({ origin: "http://localhost:3000" })],
    ["our address by name", (): Record<string, string> => ({ host: `localhost:${port}` })],
  ])("%s with a token is served", async (_, given) => {
    const answer = await raw({ ...(await authorized()), ...given() }, INITIALIZE);
    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("another path, another method and another content type are refused", async () => {
    const given = await authorized();
    expect((await raw(given, INITIALIZE, "POST", "/")).status).toBe(404);
    expect((await raw(given, INITIALIZE, "PUT")).status).toBe(405);
    expect((await raw({ ...given, "content-type": "text/plain" }, INITIALIZE)).status).toBe(415);
  });

  test.each([
    ["no JSON", "{", 400],
    ["a list", `[${INITIALIZE}]`, 400],
    ["a deep value", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, 400],
    [
      "a number beyond all numbers",
      message("tools/call", { name: "fs_read", arguments: { a: 1 } }).replace(":1}", ":1e999}"),
      400,
    ],
    ["too many bytes", " ".repeat(2 * 1_048_576 + 1), 413],
    ["a call without a session", message("tools/list"), 400],
  ])("%s is answered with an error", async (_, body, status) => {
    expect((await raw(await authorized(), body)).status).toBe(status);
  });

  test.each(["Host", "Authorization", "Mcp-Session-Id", "Origin"])("two headers %s are refused", async (name) => {
    const { token: text } = await token();
    const lines = [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${text}`, "Content-Type: application/json"];
    const sent = `POST /mcp HTTP/1.1\r\n${[...lines, `${name}: a`, `${name}: b`].join("\r\n")}\r\nContent-Length: 0\r\n\r\n`;
    const socket = connect(port, "127.0.0.1");
    socket.write(sent);
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(answer.toString().split("\r\n")[0]).toBe("HTTP/1.1 400 Bad Request");
  });

  test("a token that has expired is refused", async () => {
    const { token: text } = await token("scout", "--for", "1s");
    await until(
      async () => (await raw({ ...JSON_TYPE, authorization: `Bearer ${text}` }, INITIALIZE)).status === 401,
      "it has expired",
    );
  });

  test("refused tokens are in the log, and no token is", async () => {
    const { token: text } = await token();
    await raw({ ...JSON_TYPE, authorization: `Bearer ${text}` }, INITIALIZE);
    await raw({ ...JSON_TYPE, authorization: "Bearer nothing" }, INITIALIZE);
    const entries = await fixture.log({ kind: "session", outcome: "deny" });
    expect(entries.map(({ code }) => code)).toContain("unknown_token");
    const secret = text.slice(-43);
    expect(JSON.stringify(await fixture.log({}))).not.toContain(secret);
    const state = join(fixture.base, "state");
    for (const file of readdirSync(state, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()))
      expect(readFileSync(join(file.parentPath, file.name)).includes(secret)).toBe(false);
  });
});

describe("one session and another", () => {
  async function opened(text: string): Promise<Record<string, string>> {
    const given = { ...JSON_TYPE, authorization: `Bearer ${text}` };
    const { headers: answered } = await raw(given, INITIALIZE);
    return { ...given, "mcp-session-id": String(answered["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" };
  }

  test("a session id does not exist under another token", async () => {
    const [mine, theirs] = [await opened((await token()).token), await token("other")];
    expect((await raw(mine, message("tools/list"))).status).toBe(200);
    const stolen = { ...mine, authorization: `Bearer ${theirs.token}` };
    expect((await raw(stolen, message("tools/list"))).status).toBe(404);
    expect((await raw(stolen, "", "DELETE")).status).toBe(404);
    expect((await raw(mine, message("tools/list"))).status).toBe(200);
  });

  test("a token has the grants of its own agent", async () => {
    const theirs = await opened((await token("other")).token);
    const { body } = await raw(theirs, message("tools/list"));
    expect(body).toContain("memory_get");
    expect(body).not.toContain("fs_read");
  });

  test("two sessions of one token are two sessions of the daemon, and one ends without the other", async () => {
    const { token: text } = await token();
    const before = await httpSessions();
    const [one, other] = [await opened(text), await opened(text)];
    for (const given of [one, other]) await raw(given, message("tools/list"));
    expect((await httpSessions()).length).toBe(before.length + 2);
    expect((await raw(one, "", "DELETE")).status).toBe(200);
    expect((await raw(one, message("tools/list"))).status).toBe(404);
    expect((await raw(other, message("tools/list"))).status).toBe(200);
  });

  test("an id that is not answered yet is refused, and may be used again later", async () => {
    const given = await opened((await token()).token);
    const slow = raw(
      given,
      message("tools/call", { name: "proc_exec", arguments: { argv: ["sleep", "1"], in: ".", root: "ro" } }, 7),
    );
    await until(async () => (await raw(given, message("tools/list", {}, 7))).status === 400, "the call runs");
    expect((await slow).body).toContain('"isError":false');
    expect((await raw(given, message("tools/list", {}, 7))).status).toBe(200);
  });
});

test("a token for a user with a record is refused once the record is gone", async () => {
  fixture.user("alice", ["memory.read"]);
  const { token: text } = await token("scout", "--user", "alice");
  const first = await older(text);
  expect((await first.call("memory_set", { key: "a", value: "b" })).isError).toBe(true);
  await first.close();
  rmSync(join(fixture.config, "users", "alice.md"));
  const second = await older(text);
  const written = await second.call("memory_set", { key: "a", value: "b" });
  await second.close();
  expect(written.isError).toBe(true);
  expect((await fixture.log({ kind: "outcome" })).filter(({ user }) => user === "alice")).toEqual([]);
});

describe("a client that disconnects", () => {
  test("before its token is checked leaves no request open", async () => {
    const { token: text } = await token();
    for (let sent = 0; sent < 300; sent++) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      const head = `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${text}\r\n\r\n`;
      await new Promise<void>((written) => socket.write(head, () => written()));
      socket.resetAndDestroy();
    }
    const peer = await older(text);
    expect(await peer.list()).toContain("fs_read");
    await peer.close();
  });

  test("in the newer era cancels its call", async () => {
    const peer = await newer((await token()).token, { pin: "2026-07-28" });
    const stop = new AbortController();
    const call = peer.client.callTool(
      { name: "proc_exec", arguments: { argv: ["sleep", "300"], in: ".", root: "ro" } },
      { signal: stop.signal },
    );
    const isRunning = async (): Promise<boolean> =>
      (await fixture.status()).sessions.some(({ face, running }) => face === "http" && running > 0);
    await until(isRunning, "it sleeps");
    stop.abort();
    await expect(call).rejects.toThrow();
    await until(async () => !(await isRunning()), "it was ended");
    await peer.close();
  });
});

test("a client of the newer era hears that its list has changed", async () => {
  const peer = await newer((await token("other")).token, { pin: "2026-07-28" });
  let rings = 0;
  peer.client.setNotificationHandler("notifications/tools/list_changed", () => void rings++);
  await peer.client.listen({ toolsListChanged: true });
  await peer.list();
  // The baseline is taken by the server after the stream is open.
  await pause(2_500, "the server takes its baseline after the stream is open, and reports no event");
  fixture.agent("other", ["memory.read", "memory.write"]);
  await fixture.trust();
  await until(() => rings > 0, "the list has changed");
  await peer.close();
}, 30_000);

test("calls go on after the daemon was killed", async () => {
  const peer = await newer((await token()).token, "legacy");
  await peer.call("fs_read", { path: "a.txt" });
  await fixture.killDaemon();
  await fixture.startDaemon();
  const read = await peer.call("fs_read", { path: "a.txt" });
  expect(read.structuredContent["text"]).toBe("one line\n");
  await peer.close();
}, 60_000);

test("an address that is not of this machine's loopback, and an agent beside a token, are usage errors", async () => {
  for (const words of [
    ["--http", "0.0.0.0:0"],
    ["--http", "127.0.0.1"],
    ["--http", "127.0.0.1:70000"],
    ["--http", "127.0.0.1:0", "--agent", "scout"],
  ])
    expect([words, (await fixture.ambit("mcp", "serve", ...words)).status]).toEqual([words, 2]);
  const taken = await fixture.ambit("mcp", "serve", "--http", `127.0.0.1:${port}`);
  expect([taken.status, taken.out]).toEqual([1, expect.stringContaining("EADDRINUSE")]);
});

test("a signal ends it with status 0", async () => {
  const exited = once(server, "exit");
  server.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
});
