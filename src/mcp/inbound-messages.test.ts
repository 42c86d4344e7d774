// Which messages go to the SDK, which are answered with an error, and which repairs are made on the way.
import { describe, expect, test } from "vitest";
import { jsonDepthMax } from "../core/base/limits.ts";
import { type Inbound, InboundMessages } from "./inbound-messages.ts";
import { idAtEdges } from "./json-rpc.ts";

function read(text: string, inbound: InboundMessages = new InboundMessages()): Inbound {
  return inbound.read({ kind: "line", text });
}

const request = (method: string, params?: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

describe("initialize", () => {
  test.each([
    ["no members", {}],
    ["members of the wrong type", { protocolVersion: 7, capabilities: [], clientInfo: "me" }],
  ])("with %s gets defaults", (_, params) => {
    expect(read(request("initialize", params))).toMatchObject({
      message: {
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "unknown", version: "0" },
        },
      },
    });
  });

  test("that is complete stays unchanged", () => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: { roots: { listChanged: true } },
      clientInfo: { name: "a", version: "1", title: "A" },
      _meta: { b: 1 },
    };
    expect(read(request("initialize", params))).toMatchObject({ message: { params } });
  });
});

describe("a request that names a version", () => {
  const named = (version: unknown): string =>
    request("tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": version } });

  test("is passed on where the version is supported, or malformed: the SDK answers that", () => {
    expect(read(named("2026-07-28")).kind).toBe("message");
    expect(read(named(7)).kind).toBe("message");
  });

  test("that is not supported is refused at any time, and is not pending", () => {
    const inbound = new InboundMessages();
    read(named("2026-07-28"), inbound);
    inbound.answered(1, true);
    expect(read(named("2099-01-01"), inbound)).toMatchObject({
      kind: "response",
      response: { id: 1, error: { code: -32_022, data: { supported: ["2026-07-28"], requested: "2099-01-01" } } },
    });
    expect(inbound.inFlight).toBe(0);
  });

  test.each([
    ["has no effect after `initialize` succeeded", true, "message"],
    ["is still checked after `initialize` failed", false, "response"],
  ])("%s", (_, isResult, kind) => {
    const inbound = new InboundMessages();
    read(request("initialize", {}), inbound);
    inbound.answered(1, isResult);
    expect(read(named("2025-11-25"), inbound).kind).toBe(kind);
  });
});

describe("a call", () => {
  interface Call {
    readonly name: string;
    readonly arguments: unknown;
  }
  function call(line: string, inbound: InboundMessages = new InboundMessages()): Call {
    const one = read(line, inbound);
    if (one.kind !== "message") throw new Error(`no message: ${JSON.stringify(one)}`);
    return one.message["params"] as unknown as Call;
  }

  test("that is well-formed stays unchanged", () => {
    const inbound = new InboundMessages();
    const params = { name: "a", arguments: { b: [1, { c: null }] }, _meta: { progressToken: 1 } };
    expect(call(request("tools/call", params), inbound)).toEqual(params);
    expect(inbound.callProblem(1)).toBeNull();
    expect(call(request("tools/call", { name: "a" }))).toEqual({ name: "a" });
  });

  test.each([
    [{}],
    [{ name: 1 }],
    [{ name: "" }],
    [{ name: "a", arguments: [] }],
    [{ name: "a", arguments: 5 }],
    [{ name: "a", arguments: { b: Number.POSITIVE_INFINITY } }],
    [{ name: "a", arguments: { b: [{ c: Number.POSITIVE_INFINITY }] } }],
  ])("%j is malformed: it loses its name and arguments, and its problem is known", (params) => {
    const inbound = new InboundMessages();
    const line = request("tools/call", params).replace(/"([bc])":null/, '"$1":1e400');
    expect(call(line, inbound)).toEqual({ name: "", arguments: {} });
    expect(inbound.callProblem(1)?.message).toMatch(/^`(name|arguments)` /);
  });

  test("has arguments up to the depth limit, and no deeper", () => {
    const deep = (levels: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":${"[".repeat(levels)}${"]".repeat(levels)}}}}`;
    expect(call(deep(jsonDepthMax - 1)).name).toBe("a");
    expect(call(deep(jsonDepthMax)).name).toBe("");
  });
});

describe("what the SDK would drop without a response", () => {
  test.each([
    ["a string", "x"],
    ["null", null],
    ["a malformed token", { progressToken: 1.5 }],
    ["a malformed task", { "io.modelcontextprotocol/related-task": 5 }],
  ])("is refused: %s in `_meta`", (_, meta) => {
    const inbound = new InboundMessages();
    for (const method of ["tools/call", "tools/list", "ping"])
      expect(read(request(method, { name: "a", _meta: meta }), inbound)).toMatchObject({
        response: { id: 1, error: { code: -32_602 } },
      });
    expect(inbound.inFlight).toBe(0);
    const note = JSON.stringify({ jsonrpc: "2.0", method: "notifications/a", params: { _meta: meta } });
    expect(read(note, inbound)).toEqual({ kind: "ignore" });
  });

  test("members that JSON-RPC does not define are removed", () => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"ping","also":1}';
    expect(read(line)).toEqual({ kind: "message", message: { jsonrpc: "2.0", id: 1, method: "ping" } });
  });

  test("a cancellation loses a malformed reason and is still passed on", () => {
    const line = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":7}}';
    const message = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    expect(read(line)).toEqual({ kind: "message", message });
  });
});

describe("requests in flight", () => {
  test("are counted until they are answered or cancelled; a subscription is not", () => {
    const inbound = new InboundMessages();
    read('{"jsonrpc":"2.0","id":1,"method":"a"}', inbound);
    read('{"jsonrpc":"2.0","id":"1","method":"a"}', inbound);
    read('{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{}}', inbound);
    expect(inbound.inFlight).toBe(2);
    expect(read('{"jsonrpc":"2.0","id":1,"method":"a"}', inbound)).toMatchObject({ response: { id: null } });
    read('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}', inbound);
    expect(inbound.inFlight).toBe(1);
    inbound.answered(1, true);
    expect(read('{"jsonrpc":"2.0","id":1,"method":"a"}', inbound)).toMatchObject({ kind: "message" });
  });
});

describe("the id of a line that is too long", () => {
  test.each<[string, string, string | number | null]>([
    ['{"jsonrpc":"2.0","id":7,"method":"', '"}', 7],
    ['{ "id" : "a" , "method":"', '"}', "a"],
    ['{"method":"', 'x","jsonrpc":"2.0","id":8}', 8],
    ['{"method":"', 'x","id":8,"jsonrpc":"2.0"}', 8],
    ['{"method":"', 'x\\"id":8}', null],
    ['{"method":"', '"}', null],
    ['{"params":{"id":7,', '"}', null],
  ])("in %s ... %s", (head, tail, id) => expect(idAtEdges(head, tail)).toBe(id));
});
