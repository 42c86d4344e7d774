// What the front lets through, what it answers itself, and what it puts right on the way.
import { describe, expect, test } from "vitest";
import { Front, type Heard } from "./front.ts";
import { lineBytesMax } from "./limits.ts";
import { LineCutter } from "./line-cutter.ts";
import { idAtEdges } from "./wire-message.ts";

function heard(text: string, front: Front = new Front()): Heard {
  return front.hear({ kind: "line", bytes: Buffer.from(text) });
}

const request = (method: string, params?: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

describe("initialize", () => {
  test.each([
    ["nothing", {}],
    ["wrong kinds", { protocolVersion: 7, capabilities: [], clientInfo: "me" }],
  ])("with %s in it is made whole", (_, params) => {
    expect(heard(request("initialize", params))).toMatchObject({
      message: {
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "unknown", version: "0" },
        },
      },
    });
  });

  test("that is whole is left as it is", () => {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: { roots: { listChanged: true } },
      clientInfo: { name: "a", version: "1", title: "A" },
      _meta: { b: 1 },
    };
    expect(heard(request("initialize", params))).toMatchObject({ message: { params } });
  });
});

describe("a request that names a version", () => {
  const named = (version: unknown): string =>
    request("tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": version } });

  test("that is spoken, or none at all, is let through", () => {
    const front = new Front();
    expect(heard(named("2026-07-28"), front).kind).toBe("message");
    front.settle(1);
    // Whoever names something else than a text is told so by the library.
    expect(heard(named(7), front).kind).toBe("message");
  });

  test("that is not spoken is refused, at any time, and leaves nothing open", () => {
    const front = new Front();
    heard(named("2026-07-28"), front);
    front.settle(1);
    expect(heard(named("2099-01-01"), front)).toMatchObject({
      kind: "answer",
      answer: { id: 1, error: { code: -32_022, data: { supported: ["2026-07-28"], requested: "2099-01-01" } } },
    });
    expect(front.inFlight).toBe(0);
  });

  test("is not held to it where a version was agreed on", () => {
    const front = new Front();
    heard(request("initialize", {}), front);
    front.settle(1);
    expect(heard(named("2025-11-25"), front).kind).toBe("message");
  });
});

describe("a call", () => {
  test("that is whole is not touched", () => {
    const front = new Front();
    const params = { name: "a", arguments: { b: [1, { c: null }] } };
    expect(heard(request("tools/call", params), front)).toEqual({
      kind: "message",
      message: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    });
    expect(front.flawOf(1)).toBeNull();
  });

  test.each([
    [{}],
    [{ name: 1 }],
    [{ name: "a", arguments: [] }],
    [{ name: "a", arguments: { b: Number.POSITIVE_INFINITY } }],
  ])("%j is put right, and what was wrong is remembered until it is answered", (params) => {
    const front = new Front();
    const line = request("tools/call", params).replace('"b":null', '"b":1e400');
    expect(heard(line, front)).toMatchObject({ message: { params: { arguments: {} } } });
    expect(front.flawOf(1)).not.toBeNull();
    front.settle(1);
    expect([front.flawOf(1), front.inFlight]).toEqual([null, 0]);
  });
});

describe("requests in flight", () => {
  test("are counted until they are answered or taken back; a subscription is not", () => {
    const front = new Front();
    heard('{"jsonrpc":"2.0","id":1,"method":"a"}', front);
    heard('{"jsonrpc":"2.0","id":"1","method":"a"}', front);
    heard('{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{}}', front);
    expect(front.inFlight).toBe(2);
    expect(heard('{"jsonrpc":"2.0","id":1,"method":"a"}', front)).toMatchObject({ answer: { id: null } });
    heard('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}', front);
    expect(front.inFlight).toBe(1);
    front.settle(1);
    expect(heard('{"jsonrpc":"2.0","id":1,"method":"a"}', front)).toMatchObject({ kind: "message" });
  });
});

describe("lines", () => {
  const cut = (chunks: readonly (string | Buffer)[]): readonly string[] => {
    const cutter = new LineCutter();
    const lines = chunks.flatMap((chunk) => [...cutter.take(Buffer.from(chunk))]);
    const rest = cutter.rest();
    return [...lines, ...(rest === null ? [] : [rest])].map((one) =>
      one.kind === "line" ? one.bytes.toString("utf8") : `long ${one.head.length} ${one.tail.length}`,
    );
  };

  test.each<[string, readonly (string | Buffer)[], readonly string[]]>([
    ["one chunk, many lines", ["a\nb\n\nc\n"], ["a", "b", "", "c"]],
    ["one line, many chunks", ["a", "b", "c\nd"], ["abc", "d"]],
    ["a letter cut in two", [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a])], ["ä"]],
    ["as long as it may be", [`${"x".repeat(lineBytesMax)}\ny\n`], ["x".repeat(lineBytesMax), "y"]],
    ["one byte longer", [`${"x".repeat(lineBytesMax + 1)}\ny\n`], ["long 256 256", "y"]],
    [
      "much longer, in pieces",
      [...Array.from({ length: 40 }, () => "x".repeat(100_000)), "z\ny\n"],
      ["long 256 256", "y"],
    ],
  ])("%s", (_, chunks, lines) => expect(cut(chunks)).toEqual(lines));

  test.each<[string, string, string | number | null]>([
    ['{"jsonrpc":"2.0","id":7,"method":"', '"}', 7],
    ['{ "id" : "a" , "method":"', '"}', "a"],
    ['{"method":"', 'x","jsonrpc":"2.0","id":8}', 8],
    ['{"method":"', 'x","id":8,"jsonrpc":"2.0"}', 8],
    ['{"method":"', 'x\\"id":8}', null],
    ['{"method":"', '"}', null],
    ['{"params":{"id":7,', '"}', null],
  ])("the id at the edges of %s ... %s", (head, tail, id) => expect(idAtEdges(head, tail)).toBe(id));
});
