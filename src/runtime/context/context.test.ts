// A context needs a warrant, exposes nothing else, and is useless after its call.
import { describe, expect, test } from "vitest";
import { chain, grant, link, moment } from "../../../test/forge/authority.ts";
import {
  CALLER,
  EMPTY_PAGE,
  type Fixture,
  judgeOf,
  openContext,
  registeredOf,
  toolOf,
  warrantFor,
} from "../../../test/laws/context-fixture.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Context } from "./context.ts";
import type { ToolRequest } from "./tool-request.ts";
import type { UseResult } from "./use-result.ts";

const EVERY = [
  ...["net.get", "net.post", "net.put", "net.delete", "fs.read", "fs.write", "fs.delete", "proc.exec"],
  ...["secret.use", "memory.read", "memory.write", "obs.append", "obs.query", "tool.invoke"],
].map((verb) => grant(verb));

const ALL: Authority = [chain(link("record", EVERY))];

const CAPABILITIES = {
  network: { allowedHosts: ["api.example.com", "*.files.example.com"] },
  secrets: ["API_KEY"],
  storage: { scope: "session", kind: "kv" },
  fs_reach: { read: ["/data"], write: ["/out"] },
  process: { allowedBinaries: ["git"] },
} as const;

async function opened(
  authority: Authority = ALL,
  fixture: Fixture = {},
  capabilities: object | undefined = CAPABILITIES,
) {
  const tool = registeredOf(toolOf(capabilities));
  return openContext(await warrantFor(tool), tool, judgeOf(authority, tool), fixture);
}

/** Every instrument method, each with an allowed use. */
const USES: readonly (readonly [string, (context: Context) => Promise<UseResult<unknown>>])[] = [
  ["net.fetch", ({ net }) => net.fetch("https://api.example.com/x")],
  ["files.read", ({ files }) => files.read("/data/a")],
  ["files.readText", ({ files }) => files.readText("/data/a")],
  ["files.write", ({ files }) => files.write("/out/a", "x")],
  ["files.append", ({ files }) => files.append("/out/a", "x")],
  ["files.remove", ({ files }) => files.remove("/out/a")],
  ["files.stat", ({ files }) => files.stat("/data/a")],
  ["files.list", ({ files }) => files.list("/data")],
  ["files.glob", ({ files }) => files.glob("/data", "**")],
  ["files.search", ({ files }) => files.search("/data", "x")],
  ["process.run", ({ process }) => process.run(["git", "status"], { in: "/data" })],
  ["secrets.has", ({ secrets }) => secrets.has("API_KEY")],
  ["secrets.use", ({ secrets }) => secrets.use("API_KEY")],
  ["storage.get", ({ storage }) => storage.get("k")],
  ["storage.set", ({ storage }) => storage.set("k", "v")],
  ["storage.delete", ({ storage }) => storage.delete("k")],
  ["storage.list", ({ storage }) => storage.list()],
];

describe("within the declaration and the grants", () => {
  test.each(USES)("%s is done", async (_name, use) => {
    const { context, seen } = await opened();
    expect(await use(context)).toMatchObject({ ok: true });
    expect(seen.done.length).toBeGreaterThan(0);
  });

  test.each(USES)("%s is refused to a tool that declares nothing, and nothing is done", async (_name, use) => {
    for (const capabilities of [{}, undefined]) {
      const tool = registeredOf(toolOf(capabilities));
      const { context, seen } = openContext(await warrantFor(tool), tool, judgeOf(ALL, tool));
      expect(await use(context)).toMatchObject({ ok: false, code: "capability_absent" });
      expect(seen.done).toEqual([]);
    }
  });

  test.each(USES)("%s is refused to an agent without grants", async (name, use) => {
    const { context, seen } = await opened(CALLER);
    const answer = await use(context);
    // Lists of keys omit unreadable ones.
    if (name === "storage.list") expect(answer).toMatchObject({ ok: true, value: [] });
    else expect(answer).toMatchObject({ ok: false, code: "capability_absent" });
    if (name !== "storage.list") expect(seen.done).toEqual([]);
  });

  const outside: readonly (readonly [string, (context: Context) => Promise<UseResult<unknown>>, string])[] = [
    ["another host", ({ net }) => net.fetch("https://api.example.co/"), "scope_violation"],
    ["a subdomain of a declared host", ({ net }) => net.fetch("https://x.api.example.com/"), "scope_violation"],
    ["a path beside the tree", ({ files }) => files.read("/database"), "scope_violation"],
    ["a path with `..`", ({ files }) => files.read("/data/../etc/passwd"), "scope_violation"],
    ["writing where it may read", ({ files }) => files.write("/data/a", "x"), "scope_violation"],
    ["another program", ({ process }) => process.run(["gitk"], { in: "/data" }), "scope_violation"],
    ["another secret", ({ secrets }) => secrets.use("API_KEYS"), "scope_violation"],
    ["another store", ({ memory }) => memory.get("agent/x"), "scope_violation"],
    ["observing, which no tool declares", ({ observe }) => observe.append("x"), "capability_absent"],
    ["an unknown scheme", ({ net }) => net.fetch("file:///etc/passwd"), "invalid_input"],
    ["a URL with a user name", ({ net }) => net.fetch("https://api.example.com@evil.example/"), "invalid_input"],
    ["an unknown method", ({ net }) => net.fetch("https://api.example.com/", { method: "TRACE" }), "invalid_input"],
    ["a key with `..`", ({ storage }) => storage.get("../agent/x"), "invalid_input"],
    ["a path that is not text", ({ files }) => files.read(7 as unknown as string), "invalid_input"],
    ["a program that is not a list", ({ process }) => process.run("git" as unknown as string[]), "invalid_input"],
  ];
  test.each(outside)("%s is refused", async (_title, use, code) => {
    const { context, seen } = await opened();
    expect(await use(context)).toMatchObject({ ok: false, code });
    expect(seen.done).toEqual([]);
    expect(Object.keys((await use(context)) as object).sort()).toEqual(["code", "message", "ok", "verb"]);
  });
});

describe("a missing backend", () => {
  test.each([
    ["fetching", USES[0]],
    ["files", USES[1]],
    ["programs", USES[10]],
    ["secrets", USES[12]],
    ["storage", USES[13]],
  ] as const)("%s: the result says so", async (name, row) => {
    const { context } = await opened(ALL, { without: [name] });
    expect(await row?.[1](context)).toMatchObject({ ok: false, code: "not_available" });
  });

  test("that throws returns nothing", async () => {
    const { context } = await opened(ALL, {
      respond: () => {
        throw new Error("boom");
      },
    });
    expect(await context.net.fetch("https://api.example.com/")).toMatchObject({ ok: false, code: "not_available" });
  });
});

describe("once the call has ended", () => {
  test.each(USES)("%s answers revoked, also apart from its object", async (name, use) => {
    const { context, end, seen } = await opened();
    const [instrument = "", method = ""] = name.split(".");
    const kept = (context as unknown as Record<string, Record<string, (...all: unknown[]) => unknown>>)[instrument]?.[
      method
    ];
    end();
    expect(await use(context)).toMatchObject({ ok: false, code: "revoked" });
    expect(await kept?.("x", "y")).toMatchObject({ ok: false, code: "revoked" });
    expect(seen.done).toEqual([]);
  });

  test("running operations are cancelled, and their results are not returned", async () => {
    const stopped: string[] = [];
    const { context, end } = await opened(ALL, {
      respond: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            stopped.push("stopped");
            resolve({ ok: true, value: EMPTY_PAGE });
          });
        }),
    });
    const answer = context.net.fetch("https://api.example.com/");
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    end();
    expect(await answer).toMatchObject({ ok: false, code: "revoked" });
    expect(stopped).toEqual(["stopped"]);
  });

  test("listeners are called once, one that throws does not stop the others, and late ones are called at once", async () => {
    const { context, end } = await opened();
    const told: string[] = [];
    context.signal.onStop(() => {
      throw new Error("mine");
    });
    context.signal.onStop(() => void told.push("a"));
    const forget = context.signal.onStop(() => void told.push("forgotten"));
    forget();
    expect(context.signal.isStopped()).toBe(false);
    end();
    end();
    context.signal.onStop(() => void told.push("late"));
    expect(context.signal.isStopped()).toBe(true);
    expect(told).toEqual(["a", "late"]);
  });

  test("a grant that expires during a call ends there", async () => {
    const tool = registeredOf(toolOf(CAPABILITIES));
    let now = 0;
    const lasting: Authority = [chain(link("r", [grant("fs.read", undefined, { expires: 10 })]))];
    const { context } = openContext(
      await warrantFor(tool),
      tool,
      judgeOf(lasting, tool, () => moment({ now })),
    );
    expect(await context.files.read("/data/a")).toMatchObject({ ok: true });
    now = 10;
    expect(await context.files.read("/data/a")).toMatchObject({ ok: false, code: "expired" });
  });
});

describe("nothing on a context leads anywhere", () => {
  test("every object is frozen, without a prototype, and every property a value", async () => {
    const { context } = await opened();
    const seen = new Set<unknown>();
    const walk = (value: unknown, way: string): void => {
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
      seen.add(value);
      expect(Object.getPrototypeOf(value), way).toBeNull();
      expect(Object.isFrozen(value), way).toBe(true);
      for (const key of Reflect.ownKeys(value)) {
        const property = Object.getOwnPropertyDescriptor(value, key);
        expect(property?.get, `${way}.${String(key)}`).toBeUndefined();
        walk(property?.value, `${way}.${String(key)}`);
      }
    };
    walk(context, "context");
    const answer = await context.net.fetch("https://api.example.com/");
    if (!answer.ok) throw new Error(answer.code);
    walk(answer.value, "response");
    expect(seen.size).toBeGreaterThan(25);
    expect((context.net.fetch as unknown as { constructor: unknown }).constructor).toBeUndefined();
  });

  test("a context needs a warrant of the gate, and nothing that looks like one", async () => {
    const tool = registeredOf(toolOf(CAPABILITIES));
    const warrant = await warrantFor(tool);
    const forged = [
      { ...warrant },
      Object.create(warrant),
      new Proxy(warrant, {}),
      structuredClone({ ...warrant, requests: [] }),
      null,
    ];
    for (const one of forged)
      expect(() => openContext(one as typeof warrant, tool, judgeOf(ALL, tool))).toThrow(TypeError);
  });
});

describe("what needs approval", () => {
  const asking: Authority = [chain(link("r", [grant("fs.read", undefined, { ask: 1 }), grant("tool.invoke")]))];
  const reading: readonly ToolRequest[] = [{ verb: "fs.read", path: "/data/approved" }];

  test("is allowed for exactly the requests that were approved with the call", async () => {
    const tool = registeredOf(toolOf(CAPABILITIES, { requests: () => reading }));
    const { context, seen } = openContext(await warrantFor(tool, asking), tool, judgeOf(asking, tool));
    expect(await context.files.read("/data/approved")).toMatchObject({ ok: true });
    expect(await context.files.read("/data/approved2")).toMatchObject({ ok: false, code: "approval_required" });
    expect(await context.files.write("/data/approved", "x")).toMatchObject({ ok: false });
    expect(seen.done).toEqual(["read /data/approved"]);
    expect(seen.denials).toContain("fs.read approval_required");
  });

  test("is refused if the call requested nothing beforehand", async () => {
    const tool = registeredOf(toolOf(CAPABILITIES));
    const { context } = openContext(await warrantFor(tool, asking), tool, judgeOf(asking, tool));
    expect(await context.files.read("/data/approved")).toMatchObject({ ok: false, code: "approval_required" });
  });
});

describe("lists omit what may not be read", () => {
  test("whatever the port answers", async () => {
    const { context } = await opened();
    expect(await context.files.list("/data")).toEqual({ ok: true, value: [{ path: "/data/a", kind: "file" }] });
    expect(await context.files.glob("/data", "**")).toEqual({ ok: true, value: [] });
    expect(await context.files.search("/data", "x")).toEqual({
      ok: true,
      value: [{ path: "/data/a", line: 1, text: "x" }],
    });
  });

  test("and the keys of a store are shown without its name", async () => {
    const { context, seen } = await opened();
    expect(await context.storage.list()).toEqual({ ok: true, value: ["a", "b"] });
    expect(await context.storage.set("k", "v")).toMatchObject({ ok: true });
    expect(seen.done).toEqual(["list session/", "set session/k"]);
  });
});

test("hostile arguments are refused, and nothing throws", async () => {
  const { context, seen } = await opened();
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error("trap");
      },
      ownKeys: () => {
        throw new Error("trap");
      },
    },
  );
  const uses: readonly Promise<UseResult<unknown>>[] = [
    context.net.fetch("https://api.example.com/", trap),
    context.net.fetch("https://api.example.com/", { headers: { host: "evil" } }),
    context.net.fetch("https://api.example.com/", { headers: { "x-a": "b\r\nc: d" } }),
    context.net.fetch("https://api.example.com/", { method: "GET", body: "x" }),
    context.net.fetch("https://api.example.com/", { bytesMax: 1e12 }),
    context.net.fetch("https://api.example.com/", { nonsense: 1 } as object),
    context.files.read("/data/a", { offset: -1 }),
    context.files.write("/out/a", {} as string),
    context.process.run(
      new Proxy(["git"], {
        get: () => {
          throw new Error("trap");
        },
      }),
    ),
    context.process.run(["git"], { millisecondsMax: Number.NaN }),
    context.storage.set("k", "x".repeat(2_000_000)),
    context.secrets.use("API_KEY", trap),
  ];
  for (const one of uses) expect(await one).toMatchObject({ ok: false });
  expect(seen.done).toEqual([]);
});

test("an argument vector that changes while it is read is run as it was decided", async () => {
  const { context, seen } = await opened();
  let reads = 0;
  const words = new Proxy(["git", "status"], {
    get: (target, key, receiver) => {
      if (key === "0") return reads++ === 0 ? "git" : "evil";
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  await context.process.run(words, { in: "/data" });
  expect(seen.done).toEqual(["run git status"]);
});
