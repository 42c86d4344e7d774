// Passphrases: only the right one is accepted, guessing is slow, and the stored verifier does not reveal it.
import { beforeEach, expect, test } from "vitest";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SettingStore } from "../../core/ports/stores/secret-store.ts";
import { FailedAttempts, waitMilliseconds, wrongTriesMax } from "../../platform/failed-attempts.ts";
import { PresenceVerifiers } from "./presence.ts";

/** The cheapest cost allowed. */
const CHEAP = { n: 16_384, r: 8, p: 1 } as const;
const WORDS = "correct horse";
const ENTRY: LogEntry = {
  ...{ id: "e1", kind: "control", at: 0, outcome: "set", code: null, of: null, tool: null, verbs: [], more: {} },
  ...{ user: null, agent: null, workspace: null, chain: [], session: null, trace: null },
};
let kept: Map<string, string>;
let now = 1_000_000;

function store(): SettingStore {
  return {
    get: (name) => kept.get(name) ?? null,
    set: async (name, value) => {
      if (value === null) kept.delete(name);
      else kept.set(name, value);
      return { ok: true, value: null };
    },
  };
}

beforeEach(() => {
  kept = new Map();
});

const people = (): PresenceVerifiers => new PresenceVerifiers(store(), () => now, CHEAP);
const check = async (from: PresenceVerifiers, name: string, passphrase: string): Promise<string> => {
  const answer = await from.check({ name, passphrase });
  return answer.ok ? "right" : answer.message;
};

test("the right passphrase of the right person, and no other", async () => {
  const book = people();
  expect(await book.set("ann", WORDS, ENTRY)).toEqual({ ok: true, value: {} });
  await book.set("bob", "another one", ENTRY);
  expect(book.names()).toEqual(["ann", "bob"]);
  expect(await check(book, "ann", WORDS)).toBe("right");
  expect(await check(people(), "ann", WORDS)).toBe("right");
  const wrong = "the name or the passphrase is wrong";
  expect(await check(book, "bob", WORDS)).toBe(wrong);
  expect(await check(book, "ann", `${WORDS} `)).toBe(wrong);
  expect(await check(book, "eve", WORDS)).toBe(wrong);
  expect(await check(book, "__proto__", WORDS)).toBe(wrong);
  expect([...kept.values()].join()).not.toContain(WORDS);
});

test("a passphrase that is set again replaces the one before; a deleted one no longer counts", async () => {
  const book = people();
  await book.set("ann", WORDS, ENTRY);
  await book.set("ann", "something new", ENTRY);
  expect(await check(book, "ann", WORDS)).not.toBe("right");
  expect(await check(book, "ann", "something new")).toBe("right");
  expect(await book.delete("ann", ENTRY)).toMatchObject({ ok: true });
  expect(await check(book, "ann", "something new")).not.toBe("right");
  expect(await book.delete("ann", ENTRY)).toMatchObject({ ok: false, code: "invalid_input" });
});

test.each([
  ["ann", "short"],
  ["ann", "x".repeat(1025)],
  ["a nn", WORDS],
  ["", WORDS],
  ["\u0430nn", WORDS],
  ["__proto__", WORDS],
])("%j with %j cannot be set", async (name, passphrase) => {
  expect(await people().set(name, passphrase, ENTRY)).toMatchObject({ ok: false, code: "invalid_input" });
  expect(kept.size).toBe(0);
});

test("after five wrong attempts even the right one has to wait; other people do not", async () => {
  const book = people();
  await book.set("ann", WORDS, ENTRY);
  await book.set("bob", WORDS, ENTRY);
  for (let times = 0; times < wrongTriesMax; times++) await check(book, "ann", "wrong words");
  expect(await check(book, "ann", WORDS)).toBe("too many wrong passphrases");
  expect(await check(book, "bob", WORDS)).toBe("right");
  now += waitMilliseconds - 1;
  expect(await check(book, "ann", WORDS)).toBe("too many wrong passphrases");
  now += 1;
  expect(await check(book, "ann", WORDS)).toBe("right");
});

test("concurrent attempts do not bypass the wait", async () => {
  const book = people();
  await book.set("ann", WORDS, ENTRY);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => check(book, "ann", `wrong words ${at}`)));
  expect(answers.filter((one) => one.startsWith("the name")).length).toBe(wrongTriesMax);
  expect(await check(book, "ann", WORDS)).toBe("too many wrong passphrases");
});

test("unreadable stored verifiers accept no person, and are not overwritten", async () => {
  const book = people();
  for (const text of ["{", "[]x", '{"ann":{"cost":{"n":2,"r":1,"p":1}}}', '{"ann":null}', "null"]) {
    kept.set("presence", text);
    expect(book.names()).toEqual([]);
    expect(await check(book, "ann", WORDS)).not.toBe("right");
    expect(await book.set("ann", WORDS, ENTRY)).toMatchObject({ ok: false });
    expect(kept.get("presence")).toBe(text);
  }
});

test("a failing store is reported", async () => {
  const full: SettingStore = {
    get: () => null,
    set: async () => ({ ok: false, code: "audit_unavailable", message: "no space left on device" }),
  };
  const book = new PresenceVerifiers(full, () => now, CHEAP);
  expect(await book.set("ann", WORDS, ENTRY)).toMatchObject({ ok: false, code: "audit_unavailable" });
});

test("after each wait one more attempt; a clock that is set back locks no person out for longer", () => {
  let at = 5_000_000;
  const tries = new FailedAttempts(() => at);
  for (let times = 0; times < wrongTriesMax; times++) expect(tries.begin("ann")).toBe(0);
  expect(tries.begin("ann")).toBe(waitMilliseconds);
  at += waitMilliseconds;
  expect(tries.begin("ann")).toBe(0);
  expect(tries.begin("ann")).toBe(waitMilliseconds);
  at -= 30 * 86_400_000;
  expect(tries.begin("ann")).toBe(waitMilliseconds);
  at += waitMilliseconds;
  expect(tries.begin("ann")).toBe(0);
  tries.right("ann");
  for (let times = 0; times < wrongTriesMax; times++) expect(tries.begin("ann")).toBe(0);
});
