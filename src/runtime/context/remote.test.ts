// A remote context: the same results as a local one, only the fixed methods, and an end.
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Context } from "./context.ts";
import { remoteContext, serveUse } from "./remote.ts";
import { remoteJson, remoteValue } from "./remote-value.ts";
import { useResult } from "./use-result.ts";

test("values are sent and returned; what is not plain data is not sent", () => {
  const value = { a: [1, "b", null, true], bytes: new Uint8Array([1, 2]), ["__proto__"]: 3, deep: { gone: undefined } };
  const json = remoteJson(value);
  expect(JSON.parse(JSON.stringify(json))).toEqual({
    a: [1, "b", null, true],
    bytes: { $bytes: "AQI=" },
    ["__proto__"]: 3,
    deep: {},
  });
  const back = remoteValue(json as Json) as { readonly bytes: Uint8Array };
  expect(back.bytes).toEqual(new Uint8Array([1, 2]));
  expect(Object.isFrozen(back)).toBe(true);
  let deep: unknown = 1;
  for (let at = 0; at < 20; at++) deep = [deep];
  const getter = Object.defineProperty({}, "a", { get: () => 1, enumerable: true });
  for (const odd of [() => 1, Number.NaN, 1n, Symbol("a"), deep, { a: () => 1 }, [new Array(300_000).fill([])]])
    expect(remoteJson(odd)).toBeUndefined();
  expect(remoteJson(getter)).toEqual({});
  for (const odd of [{ $bytes: "?" }, { $bytes: 1 }, deep] as readonly Json[]) expect(remoteValue(odd)).toBeUndefined();
});

/** An instrument that returns its arguments. */
function echoing(heard: unknown[]): Context {
  const echo =
    (name: string) =>
    async (...given: readonly unknown[]) => {
      heard.push([name, ...given]);
      return useResult({ name });
    };
  const methods: Readonly<Record<string, readonly string[]>> = {
    files: ["read", "readText", "write", "append", "remove", "stat", "list", "glob", "search"],
    process: ["run"],
    secrets: ["has", "use"],
    storage: ["get", "set", "delete", "list"],
    memory: ["get", "set", "delete", "list"],
    observe: ["append", "query"],
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, list]) => [
      name,
      Object.fromEntries(list.map((method) => [method, echo(`${name}.${method}`)])),
    ]),
  ) as unknown as Context;
}

test("every method of a context is sent as itself, with its arguments", async () => {
  const heard: unknown[] = [];
  const there = echoing(heard);
  const { context } = remoteContext(async (use) => serveUse(there, JSON.parse(JSON.stringify(use)) as JsonObject));
  const bytes = new Uint8Array([0, 255]);
  expect(await context.files.write("/a", bytes)).toEqual({ ok: true, value: { name: "files.write" } });
  await context.files.read("/a", { offset: 3 });
  await context.memory.set("k", "v", { version: 0 });
  await context.observe.append("seen");
  expect(heard).toEqual([
    ["files.write", "/a", bytes, undefined],
    ["files.read", "/a", { offset: 3 }],
    ["memory.set", "k", "v", { version: 0 }],
    ["observe.append", "seen", undefined],
  ]);
  for (const name of Object.keys(there) as (keyof Context)[])
    for (const method of Object.keys(there[name])) {
      const instrument = context[name] as unknown as Record<string, () => Promise<unknown>>;
      expect(await instrument[method]?.()).toEqual({ ok: true, value: { name: `${name}.${method}` } });
    }
});

test("a response is a response on the other side, too", async () => {
  const { context } = remoteContext(async () => ({
    ok: true,
    value: {
      status: 203,
      url: "https://a.example/",
      redirects: 1,
      isTruncated: false,
      headers: [["A", "b"]],
      body: { $bytes: "e30=" },
    },
  }));
  const answer = await context.net.fetch("https://a.example/");
  if (!answer.ok) throw new Error(answer.message);
  expect(answer.value).toMatchObject({ status: 203, ok: true, redirected: true });
  expect(answer.value.headers.get("a")).toBe("b");
  expect(await answer.value.json()).toEqual({});
});

test("unlisted methods are refused, and nothing is called", async () => {
  const heard: unknown[] = [];
  const context = echoing(heard);
  const rows: readonly JsonObject[] = [
    {},
    { instrument: "files", method: "constructor", arguments: [] },
    { instrument: "files", method: "__proto__", arguments: [] },
    { instrument: "signal", method: "onStop", arguments: [] },
    { instrument: "files.read", method: "", arguments: [] },
    { instrument: "files", method: "read", arguments: "a" },
    { instrument: "files", method: "read", arguments: [1, 2, 3, 4, 5] },
    { instrument: "files", method: "read", arguments: [], more: 1 },
    { instrument: "files", method: "read", arguments: [{ $bytes: "?" }] },
    { instrument: ["files"], method: "read", arguments: [] },
  ];
  for (const use of rows) expect(await serveUse(context, use)).toMatchObject({ ok: false, code: "invalid_input" });
  expect(heard).toEqual([]);
});

test("after the end everything is revoked, including running operations, and nothing is sent", async () => {
  let sent = 0;
  let answer: (value: Json) => void = () => undefined;
  const { context, end } = remoteContext(() => {
    sent++;
    return new Promise((give) => {
      answer = give;
    });
  });
  const waiting = context.files.readText("/a");
  let stopped = 0;
  context.signal.onStop(() => stopped++);
  await Promise.resolve();
  end();
  answer({ ok: true, value: "x" });
  expect(await waiting).toMatchObject({ ok: false, code: "revoked", verb: "fs.read" });
  expect(await context.net.fetch("https://a.example/")).toMatchObject({ ok: false, code: "revoked" });
  expect([sent, stopped, context.signal.isStopped()]).toEqual([1, 1, true]);
});

test("an invalid answer, or none, is a refusal", async () => {
  const odd: readonly Json[] = [
    null,
    1,
    [],
    {},
    { ok: true },
    { ok: false },
    { ok: false, code: "yes" },
    { ok: "true" },
  ];
  for (const answer of odd) {
    const { context } = remoteContext(async () => answer);
    expect(await context.files.stat("/a")).toMatchObject({ ok: false, code: "not_available" });
    expect(await context.net.fetch("/a")).toMatchObject({ ok: false });
  }
  const { context } = remoteContext(() => Promise.reject(new Error("gone")));
  expect(await context.files.stat("/a")).toMatchObject({ ok: false, code: "not_available" });
  expect(Object.isFrozen(context) && Object.getPrototypeOf(context) === null).toBe(true);
});
