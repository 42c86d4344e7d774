// A tool runs only with a warrant. These are ways to forge one; none may be recognised.
import { describe, expect, test } from "vitest";
import { parseName } from "../../src/core/authority/axes/name.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { done } from "../../src/core/base/result.ts";
import { authorize } from "../../src/core/gate/call.ts";
import type { KnownTool } from "../../src/core/gate/known-tool.ts";
import { isWarrant, type Warrant } from "../../src/core/gate/warrant.ts";
import { chain, grant, link, moment, verb } from "./authority.ts";

function key(text: string): Request {
  const name = parseName(text);
  if (!name.ok) throw new Error(name.message);
  return { verb: verb("memory.read"), values: [name.value] };
}

const tool: KnownTool = { name: "memory_get", requirement: null, requests: () => done([key("notes")]) };

async function real(): Promise<Warrant> {
  const caller = { agent: "scout", authority: [chain(link("record", [grant("memory.read"), grant("tool.invoke")]))] };
  const answer = await authorize(
    caller,
    { tool: "memory_get", input: { key: "notes", list: [{ a: 1 }] } },
    () => tool,
    moment(),
    [],
    {
      approvals: async () => ({ kind: "pending", approval: "1" }),
      commit: async () => ({ ok: true, receipt: "r1" }),
    },
  );
  if (!answer.ok) throw new Error(answer.code);
  return answer.warrant;
}

const forgeries: readonly (readonly [string, (warrant: Warrant) => unknown])[] = [
  ["an object of the same shape", (warrant) => ({ ...warrant })],
  [
    "a copy with the same prototype and descriptors",
    (warrant) => Object.create(Object.getPrototypeOf(warrant), Object.getOwnPropertyDescriptors(warrant)),
  ],
  ["an object that inherits from a warrant", (warrant) => Object.create(warrant)],
  ["a proxy around a warrant", (warrant) => new Proxy(warrant, {})],
  ["a structured clone", (warrant) => structuredClone({ ...warrant, requests: [], basis: [] })],
  ["a round trip through JSON", (warrant) => JSON.parse(JSON.stringify({ ...warrant, requests: [], basis: [] }))],
  ["an object whose prototype is set to a warrant", (warrant) => Object.setPrototypeOf({}, warrant)],
  [
    "an instance of a class with a private field of the same name",
    () =>
      new (class {
        readonly #minted = true;
        get minted(): boolean {
          return this.#minted;
        }
      })(),
  ],
  [
    "an object with every symbol and key of a warrant",
    (warrant) => {
      const copy: Record<PropertyKey, unknown> = {};
      for (const name of Reflect.ownKeys(warrant)) copy[name] = Reflect.get(warrant, name);
      return copy;
    },
  ],
  [
    "a class whose instances claim to be anything",
    () => Object.create({ [Symbol.toStringTag]: "Warrant", constructor: Object }),
  ],
  ["a primitive", () => "warrant"],
  ["nothing", () => null],
  ["a function", () => () => ({})],
];

describe("a warrant", () => {
  test("from the gate is recognised", async () => {
    expect(isWarrant(await real())).toBe(true);
  });

  for (const [name, forge] of forgeries) {
    test(`is not recognised in ${name}`, async () => {
      expect(isWarrant(forge(await real()))).toBe(false);
    });
  }

  test("leads to no constructor that could make another", async () => {
    const warrant = await real();
    expect(Object.getPrototypeOf(warrant)).toBe(null);
    expect("constructor" in warrant).toBe(false);
  });

  test("cannot be changed, nor can its arguments, at any depth", async () => {
    const warrant = await real();
    expect(Object.isFrozen(warrant)).toBe(true);
    expect(() => Object.assign(warrant, { agent: "root" })).toThrow(TypeError);
    expect(() => Object.assign((warrant.arguments["list"] as unknown as object[])[0] as object, { a: 2 })).toThrow(
      TypeError,
    );
    expect(() => (warrant.requests as Request[]).push(key("other"))).toThrow(TypeError);
    expect(warrant.agent).toBe("scout");
  });

  test("is still recognised correctly when the language's own methods are replaced", async () => {
    const warrant = await real();
    const has = WeakSet.prototype.has;
    const own = Object.hasOwn;
    try {
      WeakSet.prototype.has = () => true;
      Object.hasOwn = () => true;
      expect(isWarrant({ ...warrant })).toBe(false);
      expect(isWarrant(warrant)).toBe(true);
    } finally {
      WeakSet.prototype.has = has;
      Object.hasOwn = own;
    }
  });
});
