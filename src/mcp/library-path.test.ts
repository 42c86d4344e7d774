// Calls never go to the protocol's library. What it would answer is the measure: the same lines are given to a server of the
// library's own that has a tool, and to ours.
import { PassThrough, type Readable } from "node:stream";
import { type JSONRPCMessage, Server, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../authority/json.ts";
import type { CallMessages, SessionOpening } from "../ports/daemon-calls.ts";
import type { Answer, Asking } from "../ports/exchange.ts";
import { callAnswers } from "./call-answer.ts";
import { Front } from "./front.ts";
import { KeptSession } from "./kept-session.ts";
import { servers } from "./server.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { Wanted } from "./wanted.ts";

const IDENTITY = { name: "ambit", version: "1.2.3" };
const VERSION = "io.modelcontextprotocol/protocolVersion";
const CLIENT = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const LEVEL = "io.modelcontextprotocol/logLevel";
const META: JsonObject = {
  [VERSION]: "2026-07-28",
  [CLIENT]: { name: "test", version: "0" },
  [CAPABILITIES]: {},
};
const RESULTS: Readonly<Record<string, Json>> = {
  text: "é\u2028\n",
  nothing: null,
  list: [1, { a: [] }],
  object: { b: 1, a: "x", 7: true },
  read: { path: "a", text: "one\n", more: false },
};

/** An owner that does at once whatever is asked of it. */
function session(): KeptSession {
  const denied = { outcome: "denied", id: "c_1", code: "scope_violation", need: "x", hint: "No.", approval: null };
  const ask = async (name: string, { tool = "" }: { readonly tool?: string }): Promise<unknown> => {
    if (name === "session.open") return { ok: true, value: { session: "s_1", agent: "a", notes: [] } };
    if (name === "tools.list") return { ok: true, value: { tools: [] } };
    if (tool === "failing") return { ok: false, code: "not_found", message: "it is not there", fix: null };
    if (!(tool in RESULTS)) return { ok: true, value: { ...denied, reason: null } };
    return { ok: true, value: { outcome: "done", receipt: "c_1", result: RESULTS[tool] } };
  };
  return new KeptSession({
    opening: {} as SessionOpening,
    waitMilliseconds: 0,
    connect: async () =>
      ({ ok: true, value: { ask, close: () => undefined } }) as unknown as Answer<Asking<CallMessages>>,
    present: (_tool, _input, result) => result,
    note: () => undefined,
  });
}

async function turns(): Promise<void> {
  for (let at = 0; at < 50; at++) await new Promise((go) => setImmediate(go));
}

/** What the library answers by itself. */
async function library(messages: readonly object[]): Promise<readonly string[]> {
  const told: string[] = [];
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => void told.push(JSON.stringify(message)),
    close: async () => undefined,
  };
  const kept = session();
  serveStdio(
    () => {
      const server = new Server(IDENTITY, { capabilities: { tools: { listChanged: true } } });
      server.setRequestHandler("tools/list", () => ({ tools: [] }));
      server.setRequestHandler("tools/call", ({ params }) => {
        const { name, arguments: input = {} } = params;
        return kept.call(name, input as JsonObject, new Wanted()) as never;
      });
      return server;
    },
    { transport },
  );
  for (const message of messages) transport.onmessage?.(JSON.parse(JSON.stringify(message)) as JSONRPCMessage);
  await turns();
  return told;
}

/** What our server answers. */
async function ours(messages: readonly object[]): Promise<readonly string[]> {
  const [input, output, front, kept] = [new PassThrough(), new PassThrough(), new Front(), session()];
  const answerCall = callAnswers(kept, IDENTITY);
  const openInput = (take: (chunk: Buffer) => void): Readable => input.on("data", take);
  const transport = new StdioTransport({ openInput, output, front, answerCall, isClientGone: () => false });
  const served = servers({ identity: IDENTITY, session: kept });
  serveStdio(({ era }) => served.make(era), { transport });
  input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  await turns();
  await transport.close();
  served.stop();
  return (output.read()?.toString("utf8") ?? "").split("\n").filter((line: string) => line !== "");
}

interface Told {
  readonly id?: number | string;
  readonly result?: object;
  readonly error?: { readonly code: number };
}

/** Of calls alone: what else there is, is told of itself by each. */
function calls(lines: readonly string[]): readonly Told[] {
  return lines.map((line) => JSON.parse(line) as Told).filter(({ id }) => typeof id === "number");
}

/** As they stand; in which order they come is left open by both. */
function ofCalls(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.includes('"content"')).sort();
}

function codes(lines: readonly string[]): readonly unknown[] {
  return calls(lines)
    .map(({ id, result, error }) => [
      id,
      error?.code ?? (result !== undefined && "resultType" in result ? "newer" : "older"),
    ])
    .sort();
}

const call = (id: number | string, params: unknown): object => ({ jsonrpc: "2.0", id, method: "tools/call", params });
const INITIALIZE = {
  ...{ jsonrpc: "2.0", id: "i", method: "initialize" },
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } },
};
const DISCOVER = { jsonrpc: "2.0", id: "d", method: "server/discover", params: { _meta: META } };
const list = (meta?: JsonObject): object => ({
  ...{ jsonrpc: "2.0", id: "l", method: "tools/list" },
  params: meta === undefined ? {} : { _meta: meta },
});
const note = (meta?: JsonObject): object => ({
  ...{ jsonrpc: "2.0", method: "notifications/initialized" },
  ...(meta === undefined ? {} : { params: { _meta: meta } }),
});

describe("the answer to a call is the library's, character by character", () => {
  const tools = [...Object.keys(RESULTS), "failing", "unknown"];
  test.each(tools)("%s, in the older era", async (name) => {
    const said = [INITIALIZE, note(), call(1, { name }), call('a"\u2028', { name, arguments: { a: 1 } })];
    const lines = ofCalls(await ours(said));
    expect(lines).toEqual(ofCalls(await library(said)));
    expect(lines).toHaveLength(2);
  });

  test.each(tools)("%s, in the newer era", async (name) => {
    const said = [
      list(META),
      call(-1, { name, _meta: META }),
      call(2, { name, _meta: { ...META, progressToken: 9, a: 1 } }),
    ];
    const lines = ofCalls(await ours(said));
    expect(lines).toEqual(ofCalls(await library(said)));
    expect(lines).toHaveLength(2);
  });
});

describe("what goes along with a call is taken, or refused with the code the library has for it", () => {
  const rows: readonly JsonObject[] = [
    { task: {} },
    { task: { ttl: 5 } },
    { task: 5 },
    { task: null },
    { task: { ttl: "x" } },
    { requestState: "x" },
    { requestState: 5 },
    { requestState: null },
    { inputResponses: 5 },
    { inputResponses: { a: { action: "accept" } } },
    { also: 1 },
  ];
  test.each(rows)("%j", async (more) => {
    for (const said of [
      [INITIALIZE, call(1, { name: "read", ...more })],
      [list(META), call(1, { name: "read", _meta: META, ...more })],
      [call(1, { name: "read", ...more }), list()],
    ])
      expect(codes(await ours(said))).toEqual(codes(await library(said)));
  });
});

describe("the era of a call is the one the library speaks, whatever came first", () => {
  const metas: readonly (JsonObject | undefined)[] = [
    undefined,
    META,
    {},
    { progressToken: 3 },
    { ...META, progressToken: 3 },
    { [VERSION]: "2026-07-28" },
    { [VERSION]: "2026-07-28", [CAPABILITIES]: {} },
    { [VERSION]: 7, [CAPABILITIES]: {} },
    { [VERSION]: null, [CAPABILITIES]: {} },
    { [CAPABILITIES]: {} },
    { ...META, [CAPABILITIES]: 5 },
    { ...META, [CAPABILITIES]: null },
    { ...META, [CAPABILITIES]: { roots: 5 } },
    { ...META, [CAPABILITIES]: { roots: { listChanged: true }, elicitation: {} } },
    { ...META, [CLIENT]: null },
    { ...META, [CLIENT]: { name: "x" } },
    { ...META, [LEVEL]: "debug" },
    { ...META, [LEVEL]: "loud" },
    { ...META, also: 1 },
  ];
  const both = [call(1, { name: "read" }), call(2, { name: "read", _meta: META })];
  test.each(metas.map((meta) => [JSON.stringify(meta) ?? "nothing", meta] as const))("%s", async (_, meta) => {
    const with_ = meta === undefined ? {} : { _meta: meta };
    const claimed = call(3, { name: "read", ...with_ });
    const initialize = { ...INITIALIZE, params: { ...INITIALIZE.params, ...with_ } };
    for (const said of [
      [INITIALIZE, claimed],
      [DISCOVER, list(META), claimed],
      // What was found to be whole once says nothing about the next one.
      [DISCOVER, list(META), call(9, { name: "read", _meta: META }), claimed],
      [claimed, ...both],
      [DISCOVER, claimed, ...both],
      [list(meta), ...both],
      [note(meta), ...both],
      [DISCOVER, note(meta), ...both],
      [initialize, ...both],
      [DISCOVER, initialize, ...both],
    ])
      expect([said, codes(await ours(said))]).toEqual([said, codes(await library(said))]);
  });

  test.each([
    ["a call of the older one", {}],
    ["a call of the newer one", { _meta: META }],
  ])("and the other way round: after %s", async (_, more) => {
    const first = call("c", { name: "read", ...more });
    for (const rest of [[list()], [list(META)], [DISCOVER], [INITIALIZE], [DISCOVER, list()]]) {
      const numbered = rest.map((message, id) => ({ ...message, id }));
      const said = [first, ...numbered];
      expect(codes(await ours(said))).toEqual(codes(await library(said)));
      const probed = [{ ...DISCOVER, id: "d" }, first, ...numbered];
      expect(codes(await ours(probed))).toEqual(codes(await library(probed)));
    }
  });

  test("and what opened the library is told to nobody", async () => {
    for (const more of [{}, { _meta: META }])
      expect((await ours([call(1, { name: "read", ...more })])).map((line) => (JSON.parse(line) as Told).id)).toEqual([
        1,
      ]);
  });
});

describe("where the library is silent or forgets something", () => {
  test("a call with a member that no message has is answered", async () => {
    const said = [INITIALIZE, { ...call(1, { name: "read" }), also: 1 }];
    expect(codes(await library(said))).toEqual([]);
    expect(codes(await ours(said))).toEqual([[1, "older"]]);
  });

  test("a call that is taken back is not answered, whatever the reason is", async () => {
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: 7 } };
    const said = [INITIALIZE, call(1, { name: "read" }), cancelled, call(1, { name: "list" })];
    const lines = await ours(said);
    expect(calls(lines)).toMatchObject([{ id: 1, result: { structuredContent: { result: RESULTS["list"] } } }]);
  });

  test("a call that nobody can write down says that nothing came of it", async () => {
    const kept = { call: () => Promise.reject(new RangeError("deep")) } as unknown as KeptSession;
    const answer = callAnswers(kept, IDENTITY);
    const asked = {
      id: 1,
      era: "legacy",
      tool: "a",
      input: {},
      flaw: null,
      refused: null,
      wanted: new Wanted(),
    } as const;
    expect(JSON.parse(await answer(asked))).toMatchObject({
      result: { isError: true, structuredContent: { code: "not_available" } },
    });
  });
});
