// The server behind its transport, with a fake daemon connection: calls in both protocol eras, and what the SDK alone would
// get wrong.
import { PassThrough, type Readable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { beforeEach, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../core/base/json.ts";
import type { CallMessages, OpenSessionRequest } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import { InboundMessages } from "./inbound-messages.ts";
import { ReconnectingSession } from "./reconnecting-session.ts";
import { ServerFactory } from "./server.ts";
import { StdioTransport } from "./stdio-transport.ts";

const IDENTITY = { name: "ambit", version: "1.2.3" };
const VERSION = "io.modelcontextprotocol/protocolVersion";
const CLIENT = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
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

const received: { readonly tool: string; readonly input: unknown }[] = [];

/** A session whose daemon answers every call at once. */
function session(): ReconnectingSession {
  const denied = { outcome: "denied", id: "c_1", code: "scope_violation", need: "x", hint: "No.", approval: null };
  const ask = async (
    name: string,
    { tool = "", input }: { readonly tool?: string; readonly input?: unknown },
  ): Promise<unknown> => {
    if (name === "session.open") return { ok: true, value: { session: "s_1", agent: "a", notes: [] } };
    if (name === "tools.list") return { ok: true, value: { tools: [] } };
    received.push({ tool, input });
    if (tool === "failing") return { ok: false, code: "not_found", message: "it is not there", fix: null };
    if (!(tool in RESULTS)) return { ok: true, value: { ...denied, reason: null } };
    return { ok: true, value: { outcome: "done", receipt: "c_1", result: RESULTS[tool] } };
  };
  return new ReconnectingSession({
    opening: {} as OpenSessionRequest,
    waitMilliseconds: 0,
    connect: async () =>
      ({ ok: true, value: { ask, close: () => undefined } }) as unknown as Answer<MessageClient<CallMessages>>,
    present: (_tool, _input, result) => result,
    note: () => undefined,
  });
}

beforeEach(() => {
  received.length = 0;
});

interface Response {
  readonly id?: number | string | null;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number };
}

/** Sends lines in one chunk, closes the input, and returns every line of output once the server has closed. */
async function serve(messages: readonly (object | string)[], kept = session()): Promise<readonly Response[]> {
  const [input, output, inbound] = [new PassThrough(), new PassThrough(), new InboundMessages()];
  const openInput = (onChunk: (chunk: Buffer) => void): Readable => input.on("data", onChunk);
  const transport = new StdioTransport({ openInput, output, inbound, isClientGone: () => false });
  const servers = new ServerFactory({
    identity: IDENTITY,
    session: kept,
    callProblem: (id) => inbound.callProblem(id),
  });
  const closed = new Promise<void>((resolve) => {
    serveStdio(({ era }) => servers.create(era), { transport });
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  input.end(messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""));
  await closed;
  servers.stop();
  const lines: readonly string[] = (output.read()?.toString("utf8") ?? "").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Response);
}

/** Of the requests with a numeric id: the id, and the error code or the era of the result. */
function outcomes(responses: readonly Response[]): readonly unknown[] {
  return responses
    .filter(({ id }) => typeof id === "number")
    .map(({ id, result, error }) => [
      id,
      error?.code ?? (result !== undefined && "resultType" in result ? "modern" : "legacy"),
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
const cancel = (requestId: number, reason?: unknown): object => ({
  ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
  params: { requestId, reason },
});

describe("a call", () => {
  test.each(Object.keys(RESULTS))("of %s has the same result in both eras", async (name) => {
    const [older] = (await serve([INITIALIZE, call(1, { name })])).filter(({ id }) => id === 1);
    const [newer] = (await serve([call(1, { name, _meta: META })])).filter(({ id }) => id === 1);
    const { resultType, _meta, ...rest } = newer?.result ?? {};
    expect(rest).toEqual(older?.result);
    expect(resultType).toBe("complete");
    expect(_meta).toEqual({ "io.modelcontextprotocol/serverInfo": IDENTITY });
  });

  test.each<[string, string]>([
    ["failing", "not_found"],
    ["unknown", "unknown_tool"],
  ])("of %s is a result with an error code", async (name, code) => {
    const [response] = await serve([call(1, { name })]);
    expect(response).toMatchObject({ id: 1, result: { isError: true, structuredContent: { code } } });
  });

  test("keeps argument names that objects inherit", async () => {
    const line =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"__proto__":{"b":1},"a":1}}}';
    await serve([line]);
    expect(received.map(({ input }) => JSON.stringify(input))).toEqual(['{"__proto__":{"b":1},"a":1}']);
  });

  test("that is malformed is a result, and does not reach the daemon", async () => {
    const responses = await serve([INITIALIZE, call(1, { name: "read", arguments: [1] }), call(2, {})]);
    for (const id of [1, 2])
      expect(responses.find((one) => one.id === id)).toMatchObject({
        result: { isError: true, structuredContent: { code: "invalid_input" } },
      });
    expect(received).toEqual([]);
  });

  test("that is malformed and cancelled in the same chunk does not reach the daemon either", async () => {
    const responses = await serve([INITIALIZE, call(1, { name: "read", arguments: [1] }), cancel(1)]);
    expect(outcomes(responses)).toEqual([]);
    expect(received).toEqual([]);
  });

  test("with a member that JSON-RPC does not define is answered", async () => {
    expect(outcomes(await serve([INITIALIZE, { ...call(1, { name: "read" }), also: 1 }]))).toEqual([[1, "legacy"]]);
  });

  test("that is cancelled is not answered, whatever the reason, and its id is free again", async () => {
    const said = [INITIALIZE, call(1, { name: "read" }), cancel(1, 7), call(1, { name: "list" })];
    const responses = (await serve(said)).filter(({ id }) => id === 1);
    expect(responses).toMatchObject([{ result: { structuredContent: { result: RESULTS["list"] } } }]);
  });

  test("that fails with an exception is a result without details", async () => {
    const failing = { call: () => Promise.reject(new RangeError("secret detail")) } as unknown as ReconnectingSession;
    const [response] = await serve([call(1, { name: "a" })], failing);
    expect(response).toMatchObject({ result: { isError: true, structuredContent: { code: "not_available" } } });
    expect(JSON.stringify(response)).not.toContain("secret detail");
  });
});

describe("the era of a connection", () => {
  const both = [call(1, { name: "read" }), call(2, { name: "read", _meta: META })];
  test.each<[string, readonly object[], readonly unknown[]]>([
    [
      "`initialize` first",
      [INITIALIZE, ...both],
      [
        [1, "legacy"],
        [2, "legacy"],
      ],
    ],
    [
      "a call without a version first",
      both,
      [
        [1, "legacy"],
        [2, "legacy"],
      ],
    ],
    [
      "a call with a version first",
      [...both].reverse(),
      [
        [1, -32_602],
        [2, "modern"],
      ],
    ],
    [
      "a list with a version first",
      [list(META), ...both],
      [
        [1, -32_602],
        [2, "modern"],
      ],
    ],
    [
      "a probe, then a call without a version",
      [DISCOVER, ...both],
      [
        [1, "legacy"],
        [2, "legacy"],
      ],
    ],
    [
      "a probe, then a call with a version",
      [DISCOVER, ...[...both].reverse()],
      [
        [1, -32_602],
        [2, "modern"],
      ],
    ],
    [
      "a probe, then `initialize`",
      [DISCOVER, INITIALIZE, ...both],
      [
        [1, "legacy"],
        [2, "legacy"],
      ],
    ],
  ])("%s", async (_, messages, expected) => {
    expect(outcomes(await serve(messages))).toEqual(expected);
  });

  test.each<[string, JsonObject, number]>([
    ["without capabilities", { [VERSION]: "2026-07-28" }, -32_602],
    ["whose version is not a string", { [VERSION]: 7, [CAPABILITIES]: {} }, -32_602],
    ["whose capabilities are malformed", { ...META, [CAPABILITIES]: 5 }, -32_602],
    ["whose client is malformed", { ...META, [CLIENT]: { name: "x" } }, -32_602],
    ["whose log level is unknown", { ...META, [LOG_LEVEL]: "loud" }, -32_602],
    ["whose version is unknown", { ...META, [VERSION]: "2999-01-01" }, -32_022],
  ])("a modern call %s is refused", async (_, meta, code) => {
    expect(outcomes(await serve([call(3, { name: "read", _meta: meta })]))).toEqual([[3, code]]);
    expect(outcomes(await serve([list(META), call(3, { name: "read", _meta: meta })]))).toEqual([[3, code]]);
    expect(received).toEqual([]);
  });
});
