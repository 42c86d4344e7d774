// A broken or hostile client: every line that can be answered is, with the protocol's own code; none of them ends the server, and
// the next valid line is answered as usual.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineBytesMax } from "../../src/mcp/limits.ts";
import { Fixture } from "../state/fixture.ts";
import { codeOf, LineClient, META, textOf } from "./line-client.ts";

let fixture: Fixture;
let client: LineClient;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read", "memory.write"]);
  await fixture.begin();
  client = new LineClient(fixture, ["--agent", "keeper"]);
  await client.initialize();
});
afterAll(async () => {
  await client?.end();
  await fixture?.remove();
});

const LONG = "x".repeat(lineBytesMax);

describe("a line that is not a request", () => {
  const rows: readonly (readonly [string, string, number, number | string | null])[] = [
    ["is not JSON", "not json", -32_700, null],
    ["is half of JSON", '{"jsonrpc":"2.0","id":900', -32_700, null],
    ["is a list", '[{"jsonrpc":"2.0","id":901,"method":"ping"}]', -32_600, null],
    ["is a number", "7", -32_600, null],
    ["is null", "null", -32_600, null],
    ["has no version", '{"id":902,"method":"ping"}', -32_600, 902],
    ["has another version", '{"jsonrpc":"1.0","id":903,"method":"ping"}', -32_600, 903],
    ["has no method", '{"jsonrpc":"2.0","id":904}', -32_600, 904],
    ["has a method that is not text", '{"jsonrpc":"2.0","id":905,"method":7}', -32_600, 905],
    ["has a list of parameters", '{"jsonrpc":"2.0","id":906,"method":"ping","params":[]}', -32_602, 906],
    ["has null for its id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600, null],
    ["has an object for its id", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600, null],
    ["has a fraction for its id", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32_600, null],
    ["names an unknown method", '{"jsonrpc":"2.0","id":907,"method":"files/burn"}', -32_601, 907],
    [
      "names a resource that is not there",
      '{"jsonrpc":"2.0","id":908,"method":"resources/read","params":{"uri":"a:b"}}',
      -32_602,
      908,
    ],
    [
      "names a prompt that is not there",
      '{"jsonrpc":"2.0","id":909,"method":"prompts/get","params":{"name":"a"}}',
      -32_602,
      909,
    ],
    [
      "requests a page that was never offered",
      '{"jsonrpc":"2.0","id":910,"method":"tools/list","params":{"cursor":"a"}}',
      -32_602,
      910,
    ],
    [
      "is too long, with its id first",
      `{"jsonrpc":"2.0","id":911,"method":"ping","params":{"a":"${LONG}"}}`,
      -32_600,
      911,
    ],
    [
      "is too long, with its id last",
      `{"method":"ping","params":{"a":"${LONG}"},"jsonrpc":"2.0","id":"nine"}`,
      -32_600,
      "nine",
    ],
    ["is too long, with its id hidden", `{"method":"ping","id":912,"params":{"a":"${LONG}"}}`, -32_600, null],
  ];

  test.each(rows)("%s is answered with its code, and the next line is read", async (_, line, code, id) => {
    const before = client.told.length;
    client.send(`${line}\n`);
    expect(await client.first((one) => client.told.indexOf(one) >= before && one.id === id, "it")).toMatchObject({
      error: { code },
    });
    expect(await client.ask("ping")).toMatchObject({ result: {} });
  });

  test.each([
    ["an empty line", ""],
    ["blanks", "  \t"],
    ["an unknown notification", '{"jsonrpc":"2.0","method":"notifications/none"}'],
    ["a notification with a list", '{"jsonrpc":"2.0","method":"notifications/none","params":[]}'],
    ["a response to no request", '{"jsonrpc":"2.0","id":77,"result":{}}'],
    [
      "a cancellation of an unknown call",
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":78}}',
    ],
    ["a cancellation without an id", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'],
  ])("%s is not answered", async (_, line) => {
    const before = client.told.length;
    client.send(`${line}\n`);
    const { id } = await client.ask("ping");
    expect(client.told.slice(before)).toMatchObject([{ id, result: {} }]);
  });
});

describe("an invalid call", () => {
  test.each([
    ["no parameters", undefined],
    ["no parameters", {}],
    ["a name that is not text", { name: 7 }],
    ["an empty name", { name: "" }],
    ["a list of arguments", { name: "memory_get", arguments: ["key"] }],
    ["arguments that are null", { name: "memory_get", arguments: 5 }],
    ["an unknown argument", { name: "memory_get", arguments: { key: "a", also: 1 } }],
    ["an argument of another type", { name: "memory_get", arguments: { key: 7 } }],
  ])("%s: a result with an error", async (_, params) => {
    const { result } = await client.ask("tools/call", params);
    expect(result).toMatchObject({ isError: true, structuredContent: { code: "invalid_input" } });
  });

  test("nested too deep", async () => {
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    const call = `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"memory_get","arguments":{"key":${deep}}}}`;
    client.send(`${call}\n`);
    expect(await client.answer("deep")).toMatchObject({
      result: { isError: true, structuredContent: { code: "invalid_input" } },
    });
  });

  test("larger than the daemon accepts", async () => {
    const result = await client.call("memory_set", { key: "a", value: "x".repeat(1_100_000) });
    expect([result.isError, codeOf(result)]).toEqual([true, "too_large"]);
    expect((await client.call("memory_get", { key: "b" })).isError ?? false).toBe(false);
  });

  test("names of built-in object properties are ordinary keys", async () => {
    const line =
      '{"jsonrpc":"2.0","id":"proto","method":"tools/call","params":{"name":"memory_get","arguments":{"key":"a","__proto__":{"key":"b"}}}}';
    client.send(`${line}\n`);
    const { result } = await client.answer("proto");
    expect(result).toBeDefined();
    expect(await client.ask("ping")).toMatchObject({ result: {} });
  });
});

describe("an unknown tool", () => {
  test("is unknown; a built-in tool that was not granted says what to request", async () => {
    const [never, other] = [await client.call("no_such_tool", { a: 1 }), await client.call("fs_read", { path: "a" })];
    expect(await client.names()).not.toContain("fs_read");
    expect(textOf(never)).toContain("no_such_tool");
    expect(other.structuredContent).toMatchObject({
      code: "capability_absent",
      need: expect.stringMatching(/^fs\.read \//),
    });
    expect(never).toMatchObject({ isError: true, structuredContent: { code: "unknown_tool", need: null } });
  });

  test("is logged like any other denial", async () => {
    const { structuredContent } = await client.call("no_such_tool_either");
    const written = await fixture.log({ kind: "decision", outcome: "deny", agent: "keeper" });
    expect(written.find(({ id }) => id === structuredContent["id"])).toMatchObject({ tool: "no_such_tool_either" });
  });
});

describe("before the handshake", () => {
  test("a list and a call are answered", async () => {
    const early = new LineClient(fixture, ["--agent", "keeper"]);
    expect(await early.names()).toContain("memory_get");
    expect((await early.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    expect(await early.end()).toBe(0);
  });

  test("an id that is in use is not used twice", async () => {
    const twice = new LineClient(fixture, ["--agent", "keeper"]);
    await twice.initialize();
    const line = '{"jsonrpc":"2.0","id":"same","method":"tools/list"}\n';
    twice.send(line + line);
    expect(await twice.answer("same")).toMatchObject({ result: {} });
    expect(await twice.answer(null)).toMatchObject({ error: { code: -32_600 } });
    await twice.end();
  });

  test("an unknown protocol version is answered with the known ones", async () => {
    const odd = new LineClient(fixture, ["--agent", "keeper"]);
    expect(await odd.ask("initialize", { protocolVersion: "1999-01-01" })).toMatchObject({
      result: { protocolVersion: "2025-11-25" },
    });
    const newer = new LineClient(fixture, ["--agent", "keeper"]);
    const meta = { ...META, "io.modelcontextprotocol/protocolVersion": "2999-01-01" };
    expect(await newer.ask("tools/list", { _meta: meta })).toMatchObject({ error: { code: -32_022 } });
    await Promise.all([odd.end(), newer.end()]);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("version %s is accepted", async (version) => {
    const old = new LineClient(fixture, ["--agent", "keeper"]);
    expect(await old.initialize(version)).toMatchObject({ result: { protocolVersion: version } });
    expect((await old.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    await old.end();
  });
});

describe("the end", () => {
  test("`exit` ends it, and later lines are not read", async () => {
    const leaving = new LineClient(fixture, ["--agent", "keeper"]);
    await leaving.initialize();
    leaving.send('{"jsonrpc":"2.0","method":"exit"}\n{"jsonrpc":"2.0","id":"late","method":"ping"}\n');
    expect(await leaving.over).toBe(0);
    expect(leaving.told.filter((one) => typeof one !== "string" && one.id === "late")).toEqual([]);
  });

  test("a last line without a newline is still a line", async () => {
    const cut = new LineClient(fixture, ["--agent", "keeper"]);
    cut.send('{"jsonrpc":"2.0","id":"last","method":"ping"}');
    expect(await cut.end()).toBe(0);
    expect(cut.told).toMatchObject([{ id: "last", result: {} }]);
  });

  test("nothing but the protocol was ever written", () => {
    expect(client.told.filter((one) => typeof one === "string")).toEqual([]);
  });
});

describe("an unknown agent", () => {
  test("is reported to the person and to the client, and the server exits", async () => {
    const unknown = new LineClient(fixture, ["--agent", "missing"]);
    unknown.request("initialize", {});
    const list = unknown.request("tools/list");
    expect(await unknown.answer(list)).toMatchObject({ error: { code: -32_603 } });
    expect(await unknown.over).toBe(1);
    expect(unknown.errors).toContain("unknown_agent");
  });

  test("and so are unknown arguments", async () => {
    const odd = new LineClient(fixture, ["--agent", "keeper", "--wait", "soon"]);
    expect(await odd.over).toBe(2);
    expect(odd.errors).toContain("fix: --wait 60");
  });
});
