// What the front lets through, what it answers itself, and what it puts right on the way.
import { describe, expect, test } from "vitest";
import { jsonDepthMax } from "../authority/limits.ts";
import type { CallAsked } from "./call-asked.ts";
import { Front, type Heard } from "./front.ts";
import { lineBytesMax } from "./limits.ts";
import { type Line, LineCutter } from "./line-cutter.ts";
import { idAtEdges } from "./wire-message.ts";

function heard(text: string, front: Front = new Front()): Heard {
  return front.hear({ kind: "line", text });
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
  function call(line: string, front: Front = new Front()): CallAsked {
    const one = heard(line, front);
    if (one.kind !== "call") throw new Error(`no call: ${JSON.stringify(one)}`);
    return one.call;
  }

  test("that is whole is taken as it is", () => {
    const input = { b: [1, { c: null }] };
    const line = request("tools/call", { name: "a", arguments: input });
    expect(call(line)).toMatchObject({ id: 1, era: "legacy", tool: "a", input, flaw: null, refused: null });
    expect(call(request("tools/call", { name: "a" }))).toMatchObject({ tool: "a", input: {}, flaw: null });
  });

  test.each([
    [{}],
    [{ name: 1 }],
    [{ name: "a", arguments: [] }],
    [{ name: "a", arguments: 5 }],
    [{ name: "a", arguments: { b: Number.POSITIVE_INFINITY } }],
    [{ name: "a", arguments: { b: [{ c: Number.POSITIVE_INFINITY }] } }],
  ])("%j has a flaw, and nothing of its arguments is used", (params) => {
    const line = request("tools/call", params).replace(/"([bc])":null/, '"$1":1e400');
    const { flaw, input } = call(line);
    expect([flaw === null, input]).toEqual([false, {}]);
  });

  test("is as deep as arguments may be, and no deeper", () => {
    const deep = (levels: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":${"[".repeat(levels)}${"]".repeat(levels)}}}}`;
    expect(call(deep(jsonDepthMax - 1)).flaw).toBeNull();
    expect(call(deep(jsonDepthMax)).flaw).not.toBeNull();
  });

  test("keeps keys that objects have by themselves", () => {
    const line =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"__proto__":{"b":1}}}}';
    expect(JSON.stringify(call(line).input)).toBe('{"__proto__":{"b":1}}');
  });

  test("counts until it is answered or taken back, and whoever works on it hears of that", () => {
    const front = new Front();
    const { wanted } = call(request("tools/call", { name: "a" }), front);
    const before = front.inFlight;
    const taken = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":7}}';
    expect(heard(taken, front)).toEqual({ kind: "nothing" });
    expect([wanted.isTakenBack, front.inFlight]).toEqual([true, before - 1]);
    // Its id is free again.
    expect(call(request("tools/call", { name: "a" }), front).wanted.isTakenBack).toBe(false);
  });

  test("that nobody can hear of any more is taken back with all others", () => {
    const front = new Front();
    const { wanted } = call(request("tools/call", { name: "a" }), front);
    front.takeAllBack();
    expect([wanted.isTakenBack, front.inFlight]).toEqual([true, 0]);
  });

  test("that comes first opens the library, by an id that is nobody's until that is answered", () => {
    const front = new Front();
    const first = heard('{"jsonrpc":"2.0","id":"ambit/opening","method":"tools/call","params":{"name":"a"}}', front);
    const opens = first.kind === "call" ? first.opens : null;
    const id = String(opens?.["id"]);
    expect(opens).toMatchObject({ method: "ping", params: {} });
    expect([front.isOpener(id), front.isOpener("ambit/opening")]).toEqual([true, false]);
    expect(heard(JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }), front)).toMatchObject({
      answer: { id: null },
    });
    front.settle(id);
    expect(front.isOpener(id)).toBe(false);
    expect(heard(request("tools/call", { name: "a" }), front)).toMatchObject({ kind: "call", opens: null });
  });
});

describe("what the library would drop in silence", () => {
  test.each([
    ["a text", "x"],
    ["nothing", null],
    ["a token that is none", { progressToken: 1.5 }],
    ["a task that is none", { "io.modelcontextprotocol/related-task": 5 }],
  ])("is refused: %s in `_meta`", (_, meta) => {
    const front = new Front();
    for (const method of ["tools/call", "tools/list", "ping"])
      expect(heard(request(method, { name: "a", _meta: meta }), front)).toMatchObject({
        answer: { id: 1, error: { code: -32_602 } },
      });
    expect(front.inFlight).toBe(0);
    const note = JSON.stringify({ jsonrpc: "2.0", method: "notifications/a", params: { _meta: meta } });
    expect(heard(note, front)).toEqual({ kind: "nothing" });
  });

  test("a member that no message has does not go there", () => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"ping","also":1}';
    expect(heard(line)).toEqual({ kind: "message", message: { jsonrpc: "2.0", id: 1, method: "ping" } });
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
    const lines: Line[] = [];
    for (const chunk of chunks) cutter.take(Buffer.from(chunk), (line) => lines.push(line) > 0);
    const rest = cutter.rest();
    return [...lines, ...(rest === null ? [] : [rest])].map((one) =>
      one.kind === "line" ? one.text : `long ${one.head.length} ${one.tail.length}`,
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

  test("a line in pieces is whole, although its pieces were all read into the same bytes", () => {
    const cutter = new LineCutter();
    const lines: Line[] = [];
    const bytes = Buffer.alloc(4);
    for (const piece of ["ab", "cd", "e\nf", "\n"]) {
      const length = bytes.write(piece);
      cutter.take(bytes.subarray(0, length), (line) => lines.push(line) > 0);
    }
    expect(lines.map((line) => (line.kind === "line" ? line.text : line.kind))).toEqual(["abcde", "f"]);
  });

  test("nothing is heard after whoever hears has heard enough", () => {
    const cutter = new LineCutter();
    const lines: Line[] = [];
    cutter.take(Buffer.from("a\nb\nc"), (line) => lines.push(line) > 1);
    expect(lines).toHaveLength(1);
  });

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
