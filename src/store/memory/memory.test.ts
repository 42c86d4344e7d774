// The memory on a real database: versions, expiry, limits, order and words, and concurrent writers.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MemoryStore, MemoryWrite, MemoryWriteResult, Namespace } from "../../core/ports/stores/memory-store.ts";
import { type TestStore, testStore } from "../testing/memory.ts";
import { memoryListCountMax } from "./memory.ts";
import { memoryKeyBytesMax, memorySpaceBytesMax, memorySpaceKeysMax, memoryValueBytesMax } from "./memory-write.ts";

const noon = 1_800_000_000_000;
const ada = { workspace: "/home/ada/work", agent: "ada" };
const own: Namespace = { kind: "agent", name: ada };

let place: TestStore;
let memory: MemoryStore;
beforeEach(async () => {
  place = await testStore();
  memory = place.memory;
});
afterEach(() => place.remove());

function write(key: string, value: string, more: Partial<MemoryWrite> = {}): MemoryWrite {
  return {
    ...{ namespace: own, key, value, version: null, expires: null, isClean: true, writer: ada, at: noon },
    ...more,
  };
}

async function set(key: string, value: string, more: Partial<MemoryWrite> = {}): Promise<MemoryWriteResult> {
  return place.value(await memory.set(write(key, value, more)));
}

async function got(key: string, namespace: Namespace = own, now = noon): Promise<string | null> {
  return place.value(await memory.get(namespace, key, now))?.value ?? null;
}

async function keys(asked: Partial<Parameters<MemoryStore["list"]>[1]>, now = noon): Promise<readonly string[]> {
  const found = await memory.list(own, { prefix: "", text: null, after: null, count: 1_000, ...asked }, now);
  return place.value(found).map(({ key }) => key);
}

describe("a value", () => {
  test("is returned with everything that was written with it, also after the store was reopened", async () => {
    await set("colour", "green", { expires: noon + 5, isClean: false });
    const [before, again] = [await memory.get(own, "colour", noon), await place.again()];
    const after = await again.memory.get(own, "colour", noon);
    expect(after).toEqual(before);
    const wanted = {
      key: "colour",
      value: "green",
      version: 1,
      at: noon,
      expires: noon + 5,
      isClean: false,
      writer: ada,
    };
    expect(after).toEqual({ ok: true, value: wanted });
  });

  test("that is overwritten has the label of the last write", async () => {
    await set("note", "clean");
    await set("note", "from a web page", { isClean: false });
    expect(place.value(await memory.get(own, "note", noon))?.isClean).toBe(false);
  });

  test.each(["", "\0", "a\0b", "\ud800", "é😀", '"', "\\", "\u2028", "' OR 1=1 --"])(
    "of any text is the same text: %j",
    async (text) => {
      await set("key", text);
      expect(await got("key")).toBe(text);
    },
  );

  test.each(["", "\0", "a\0b", "é😀", "__proto__", '"', "%", "_", "*"])(
    "of any key is found under that key: %j",
    async (key) => {
      await set(key, "here");
      await set(`${key}\0`, "elsewhere");
      expect(await got(key)).toBe("here");
      expect(await keys({})).toEqual([key, `${key}\0`]);
    },
  );

  test("is not stored under half of a character, which would be the key of others too", async () => {
    expect(await set("\ud800", "x")).toMatchObject({ ok: false, code: "quota" });
    expect([await got("\ud800"), await got("\ufffd")]).toEqual([null, null]);
  });
});

describe("namespaces", () => {
  const all: readonly Namespace[] = [
    own,
    { kind: "agent", name: { workspace: null, agent: "ada" } },
    { kind: "agent", name: { workspace: "/home/ada/work", agent: "ada\0" } },
    { kind: "session", session: "ada" },
    { kind: "tool", tool: "ada", workspace: null },
    { kind: "tool", tool: "ada", workspace: "ada" },
    { kind: "shared", workspace: null },
    { kind: "shared", workspace: "null" },
    { kind: "shared", workspace: "" },
  ];
  test("do not see each other, whatever they are called", async () => {
    for (const [at, namespace] of all.entries()) await set("key", String(at), { namespace });
    for (const [at, namespace] of all.entries()) expect(await got("key", namespace)).toBe(String(at));
    await memory.delete(own, "key", null);
    expect(await Promise.all(all.map((namespace) => got("key", namespace)))).toEqual([null, ..."12345678"]);
  });
});

describe("versions", () => {
  test("0 writes only if there is no value", async () => {
    expect(await set("key", "first", { version: 0 })).toEqual({ ok: true, version: 1 });
    expect(await set("key", "second", { version: 0 })).toMatchObject({ ok: false, code: "version_conflict" });
    expect(await got("key")).toBe("first");
  });

  test("a number writes only over that version, and null over any", async () => {
    await set("key", "first");
    expect(await set("key", "second", { version: 2 })).toMatchObject({ ok: false, code: "version_conflict" });
    expect(await set("key", "second", { version: 1 })).toEqual({ ok: true, version: 2 });
    expect(await set("key", "third", { version: 1 })).toMatchObject({ ok: false, code: "version_conflict" });
    expect(await set("key", "fourth")).toEqual({ ok: true, version: 3 });
    expect(await set("absent", "x", { version: 1 })).toMatchObject({ ok: false, code: "version_conflict" });
  });

  test("are never reused: a reader from before a deletion cannot overwrite the new value", async () => {
    const first = await set("key", "first");
    await memory.delete(own, "key", null);
    await set("key", "anew", { version: 0 });
    expect(await set("key", "stale", { version: first.ok ? first.version : -1 })).toMatchObject({
      code: "version_conflict",
    });
    expect(await got("key")).toBe("anew");
  });

  test("delete removes only the version it names", async () => {
    await set("key", "first");
    expect(place.value(await memory.delete(own, "key", 7))).toBe(false);
    expect(place.value(await memory.delete(own, "key", 1))).toBe(true);
    expect(place.value(await memory.delete(own, "key", null))).toBe(false);
  });

  test("64 concurrent writers who add one each lose nothing", async () => {
    await set("sum", "0");
    const adds = async (): Promise<void> => {
      for (;;) {
        const there = place.value(await memory.get(own, "sum", noon));
        if (there === null) throw new Error("the sum is gone");
        if ((await set("sum", String(Number(there.value) + 1), { version: there.version })).ok) return;
      }
    };
    await Promise.all(Array.from({ length: 64 }, adds));
    expect(await got("sum")).toBe("64");
  });

  test("of 32 concurrent creators of a key, one succeeds", async () => {
    const made = await Promise.all(Array.from({ length: 32 }, (_, at) => set("key", String(at), { version: 0 })));
    expect(made.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await got("key")).toBe(String(made.findIndex(({ ok }) => ok)));
  });
});

describe("an expired value", () => {
  test("does not exist, before it is swept", async () => {
    await set("key", "soon over", { expires: noon + 10 });
    expect([await got("key", own, noon + 9), await got("key", own, noon + 10)]).toEqual(["soon over", null]);
    expect([await keys({}, noon + 9), await keys({}, noon + 10)]).toEqual([["key"], []]);
    expect(await set("key", "anew", { version: 1, at: noon + 10 })).toMatchObject({ code: "version_conflict" });
    expect(await set("key", "anew", { version: 0, at: noon + 10 })).toEqual({ ok: true, version: 2 });
  });

  test("is removed by a sweep, and nothing else is", async () => {
    await set("over", "x", { expires: noon });
    await set("later", "x", { expires: noon + 1 });
    await set("always", "x");
    expect(place.value(await memory.sweep(noon))).toBe(1);
    expect(place.value(await memory.sweep(noon))).toBe(0);
    expect(await keys({})).toEqual(["always", "later"]);
  });

  test("leaves a namespace that is removed after a month, and not before", async () => {
    const month = 30 * 24 * 60 * 60_000;
    const spaces = (): number => place.read((connection) => connection.all("SELECT * FROM memory_space")).length;
    await set("key", "x", { expires: noon + 1 });
    await memory.sweep(noon + month - 1);
    expect(spaces()).toBe(1);
    await set("key", "x", { at: noon, expires: noon + month * 2 });
    await memory.sweep(noon + month);
    expect(spaces()).toBe(1);
    await memory.delete(own, "key", null);
    await memory.sweep(noon + month);
    expect(spaces()).toBe(0);
    expect(await set("key", "x", { version: 0 })).toEqual({ ok: true, version: 1 });
  });

  test("takes no room", async () => {
    const value = "x".repeat(memoryValueBytesMax - 16);
    const room = Math.floor(memorySpaceBytesMax / memoryValueBytesMax) - 1;
    for (let at = 0; at < room; at++) await set(`key ${at}`, value, { expires: noon + 1 });
    expect(await set("more", value)).toMatchObject({ ok: true });
    expect(await set("too much", value)).toMatchObject({ code: "quota" });
    expect(await set("too much", value, { at: noon + 1 })).toMatchObject({ ok: true });
    expect(await keys({}, noon + 1)).toEqual(["more", "too much"]);
  });

  test("a clock that jumps breaks nothing", async () => {
    const month = 30 * 24 * 60 * 60_000;
    await set("key", "x", { at: noon, expires: noon + 1_000 });
    expect([await got("key", own, noon + month), await got("key", own, noon - month)]).toEqual([null, "x"]);
    expect(await set("key", "y", { at: noon - month, version: 1 })).toEqual({ ok: true, version: 2 });
    expect(place.value(await memory.sweep(noon - month))).toBe(0);
    expect(await got("key")).toBe("y");
  });
});

describe("limits", () => {
  test("a key and a value have their limit, to the byte", async () => {
    const key = "é".repeat(memoryKeyBytesMax / 2);
    const value = "é".repeat(memoryValueBytesMax / 2);
    expect(await set(key, value)).toMatchObject({ ok: true });
    expect(await set(`${key}x`, "")).toMatchObject({ code: "quota" });
    expect(await set("key", `${value}x`)).toMatchObject({ code: "quota" });
  });

  test("a namespace has a maximum number of keys; another one is not affected by it", async () => {
    await Promise.all(Array.from({ length: memorySpaceKeysMax }, (_, at) => set(`key ${at}`, "")));
    expect(await set("one more", "")).toMatchObject({ code: "quota" });
    expect(await set("key 0", "over")).toMatchObject({ ok: true });
    expect(await set("one more", "", { namespace: { kind: "shared", workspace: null } })).toMatchObject({ ok: true });
    await memory.delete(own, "key 1", null);
    expect(await set("one more", "")).toMatchObject({ ok: true });
    expect(await keys({ count: 1_000_000 })).toHaveLength(memoryListCountMax);
  });

  test("a namespace has a maximum number of bytes, also for concurrent writes and growing values", async () => {
    const value = "x".repeat(memoryValueBytesMax - 8);
    const whole = Math.floor(memorySpaceBytesMax / memoryValueBytesMax);
    const set80 = await Promise.all(
      Array.from({ length: whole + 16 }, (_, at) => set(`key-${String(at).padStart(4, "0")}`, value)),
    );
    expect(set80.filter(({ ok }) => ok)).toHaveLength(whole);
    expect(await set("key-0000", `${value}x`)).toMatchObject({ code: "quota" });
    expect(await set("key-0000", "smaller")).toMatchObject({ ok: true });
  });
});

describe("the list", () => {
  test("is in order of the keys' bytes, from a prefix on, after a key, up to a count", async () => {
    for (const key of ["b/2", "a", "b/1", "b", "b/10", "c", "b/é", "b0"]) await set(key, "x");
    expect(await keys({})).toEqual(["a", "b", "b/1", "b/10", "b/2", "b/é", "b0", "c"]);
    expect(await keys({ prefix: "b/" })).toEqual(["b/1", "b/10", "b/2", "b/é"]);
    expect(await keys({ prefix: "b/", after: "b/10" })).toEqual(["b/2", "b/é"]);
    expect(await keys({ prefix: "b/", after: "a" })).toEqual(["b/1", "b/10", "b/2", "b/é"]);
    expect(await keys({ prefix: "b/", after: "c" })).toEqual([]);
    expect(await keys({ prefix: "b", after: "b", count: 2 })).toEqual(["b/1", "b/10"]);
    expect(await keys({ count: 0 })).toEqual([]);
    expect(await keys({ prefix: "%" })).toEqual([]);
  });

  test("finds words in key or value, all of them, in any letter case", async () => {
    await set("shopping", "Äpfel and pears");
    await set("apples", "none");
    expect(await keys({ text: "äpfel PEARS" })).toEqual(["shopping"]);
    expect(await keys({ text: "shop pears" })).toEqual(["shopping"]);
    expect(await keys({ text: "pears none" })).toEqual([]);
    expect(await keys({ text: "%" })).toEqual([]);
    expect(await keys({ text: "   " })).toEqual(["apples", "shopping"]);
    expect(await keys({ text: "x".repeat(100_000) })).toEqual([]);
  });

  test("is paged over more than one turn scans, and returns every key once", async () => {
    const names = Array.from({ length: 700 }, (_, at) => `key ${String(at).padStart(3, "0")}`);
    await Promise.all(names.map((name, at) => set(name, at % 7 === 0 ? "lucky" : "other")));
    const met: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: readonly string[] = await keys({ after, count: 23, text: "LUCKY" });
      met.push(...page);
      after = page.at(-1) ?? null;
      if (page.length < 23) break;
    }
    expect(met).toEqual(names.filter((_, at) => at % 7 === 0));
  });
});
