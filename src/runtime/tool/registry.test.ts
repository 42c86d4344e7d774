// Registration against a policy, its errors, which tools are visible, and that nothing runs without its backends.
import { describe, expect, test } from "vitest";
import { chain, link, moment } from "../../../test/forge/authority.ts";
import {
  CALLER,
  instrumentsOf,
  judgeOf,
  READING,
  registeredOf,
  registryOf,
  type Seen,
  toolOf,
  warrantFor,
} from "../../../test/laws/context-fixture.ts";
import { BUILTIN_TOOLS } from "../../core/authority/axes/name.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { readDeclarationValue } from "../../core/notation/tools/declaration-value.ts";
import type { Capabilities } from "./declaration.ts";
import type { Registration } from "./registry.ts";
import type { Policy } from "./requirement.ts";
import { runTool } from "./run.ts";

function grantsOf(...specs: readonly string[]): readonly Grant[] {
  return specs.map((spec) => {
    const diagnostics = new Diagnostics();
    const found = readCompact(spec, {
      span: { source: spec, start: 0, end: spec.length },
      reading: READING,
      root: null,
      diagnostics,
    });
    if (found === null) throw new Error(`${spec}: ${diagnostics.list[0]?.message}`);
    return found;
  });
}

function policyOf(capabilities: Capabilities): Policy {
  const { requirement } = readDeclarationValue(capabilities, READING);
  return {
    authority: [[link("policy", requirement?.grants ?? [], {}, "limit")]],
    name: "the policy",
    holds: null,
    protectedPaths: READING.pathSettings.protectedPaths,
  };
}

function register(capabilities: Capabilities, policy: Capabilities): Registration {
  return registryOf({ policy: policyOf(policy) }).register(toolOf(capabilities), "application");
}

function told(answer: Registration): readonly string[] {
  return answer.ok
    ? ["ok"]
    : answer.errors.map(({ tool, capability, entry, code }) => `${tool} ${capability} ${entry} ${code}`);
}

describe("registering against a policy", () => {
  const rows: readonly (readonly [string, Capabilities, Capabilities, readonly string[]])[] = [
    ["nothing declared", {}, {}, ["ok"]],
    [
      "the same host",
      { network: { allowedHosts: ["a.example"] } },
      { network: { allowedHosts: ["a.example"] } },
      ["ok"],
    ],
    [
      "one host too many",
      { network: { allowedHosts: ["a.example", "b.example"] } },
      { network: { allowedHosts: ["a.example"] } },
      ["weather network b.example exceeds_policy"],
    ],
    [
      "a domain for its apex",
      { network: { allowedHosts: ["example"] } },
      { network: { allowedHosts: ["*.example"] } },
      ["weather network example exceeds_policy"],
    ],
    [
      "whatever the policy allows",
      { network: { allowedHosts: ["*"] } },
      { network: { allowedHosts: ["a.b"] } },
      ["ok"],
    ],
    [
      "every part that exceeds",
      {
        network: { allowedHosts: ["x.b"] },
        fs_reach: { read: ["/etc"], write: ["/s"] },
        secrets: ["K"],
        process: { allowedBinaries: ["sh"] },
      },
      { network: { allowedHosts: ["a.b"] }, fs_reach: { read: ["/data"], write: ["/out"] } },
      [
        "weather network x.b exceeds_policy",
        "weather fs_reach.read /etc exceeds_policy",
        "weather fs_reach.write /s exceeds_policy",
        "weather secrets K exceeds_policy",
        "weather process sh exceeds_policy",
      ],
    ],
    [
      "a store",
      { storage: { scope: "session", kind: "kv" } },
      { storage: { scope: "tool-private", kind: "kv" } },
      ["weather storage session exceeds_policy"],
    ],
    [
      "a path beside the tree",
      { fs_reach: { read: ["/data", "/database"] } },
      { fs_reach: { read: ["/data/"] } },
      ["weather fs_reach.read /database exceeds_policy"],
    ],
    [
      "a path with `..`",
      { fs_reach: { read: ["/data/../etc"] } },
      { fs_reach: { read: ["/data"] } },
      ["weather fs_reach.read /data/../etc exceeds_policy"],
    ],
    [
      "an entry that is not a pattern",
      { network: { allowedHosts: ["a..b"] } },
      { network: { allowedHosts: ["*"] } },
      ["weather network a..b not_understood"],
    ],
    ["a part that is not a map", { process: ["sh"] as never }, {}, ["weather process sh not_understood"]],
    [
      "an unknown limit",
      { network: { allowedHosts: [], deny: ["a.b"] } as never },
      {},
      ["weather network a.b not_understood"],
    ],
  ];
  test.each(rows)("%s", (_title, capabilities, policy, expected) => {
    expect([...told(register(capabilities, policy))].sort()).toEqual([...expected].sort());
  });

  test("the error shows a request that the entry allows and the policy does not", () => {
    const answer = register({ network: { allowedHosts: ["*.example"] } }, { network: { allowedHosts: ["a.example"] } });
    const request = answer.ok ? null : answer.errors[0]?.counterexample;
    expect(request).toMatch(/^net\.\w+ https?:\/\/.+\.example/);
  });

  test("parts without a policy are not limited by it", () => {
    const policy = { ...policyOf({}), holds: ["network"] };
    const registry = registryOf({ policy });
    expect(registry.register(toolOf({ secrets: ["K"] }), "application")).toMatchObject({ ok: true });
    const network = toolOf({ network: { allowedHosts: ["a.b"] } }, { name: "other" });
    expect(registry.register(network, "application")).toMatchObject({ ok: false });
  });

  test("an unknown part is not provided, and reported", () => {
    expect(register({ browser: {} } as never, {})).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining("browser")],
    });
  });
});

describe("names", () => {
  const refused: readonly string[] = [
    ...[
      "",
      "a b",
      "__proto__",
      "constructor",
      "toString",
      "then",
      "1a",
      "a..b",
      ".a",
      "a.",
      "a/b",
      "a:b",
      "a\u0000",
      "à",
      "a".repeat(65),
    ],
    ...[
      "fs_read",
      "FS_READ",
      "fs-read",
      "fsread",
      "fs.read",
      "Shell",
      "builtin:fs_read",
      "builtin:mine",
      "tool:tool:x",
      "a\u202eb",
      "*",
    ],
  ];
  test.each(refused)("%j is refused to a third-party tool", (name) => {
    for (const origin of ["foreign", "application"] as const)
      expect(registryOf().register(toolOf({}, { name }), origin)).toMatchObject({
        ok: false,
        errors: [{ capability: "name" }],
      });
  });

  test("of built-in tools are reserved", () => {
    const registry = registryOf();
    expect(registry.register(toolOf({}, { name: "fs_read" }), "builtin")).toMatchObject({ ok: true, name: "fs_read" });
    expect(registry.find("builtin:fs_read")?.name).toBe("fs_read");
    expect(registryOf().register(toolOf({}, { name: "mine" }), "builtin")).toMatchObject({ ok: false });
    for (const name of BUILTIN_TOOLS)
      expect(registryOf().register(toolOf({}, { name }), "foreign")).toMatchObject({ ok: false });
  });

  test("of built-in tools that declare nothing are limited by the grants alone; third-party ones are closed", () => {
    const bounded = { fs_reach: { read: ["/data"] } };
    const ours = registryOf();
    ours.register(toolOf({}, { name: "memory_get" }), "builtin");
    ours.register(toolOf(bounded, { name: "fs_read" }), "builtin");
    expect(ours.find("memory_get")?.requirement).toBeNull();
    expect(ours.find("fs_read")?.requirement?.link.grants).toHaveLength(1);
    expect(registeredOf(toolOf({})).requirement?.link.grants).toEqual([]);
  });

  test("are unique, also among look-alikes", () => {
    const registry = registryOf();
    expect(registry.register(toolOf({}, { name: "tool:fetch_weather" }), "foreign")).toMatchObject({
      ok: true,
      name: "fetch_weather",
    });
    for (const name of ["fetch_weather", "Fetch_Weather", "fetch-weather", "fetchweather"])
      expect(registry.register(toolOf({}, { name }), "application")).toMatchObject({
        ok: false,
        errors: [{ code: "duplicate" }],
      });
    expect(registry.remove("fetch_weather")).toBe(true);
    expect(registry.register(toolOf({}, { name: "fetchweather" }), "application")).toMatchObject({ ok: true });
  });
});

describe("the tools an agent is shown", () => {
  const registry = registryOf();
  const tools: readonly (readonly [string, Capabilities])[] = [
    ["plain", {}],
    ["online", { network: { allowedHosts: ["api.example"] } }],
    ["reader", { fs_reach: { read: ["/data"] } }],
    ["both", { network: { allowedHosts: ["api.example"] }, fs_reach: { read: ["/data"] } }],
  ];
  for (const [name, capabilities] of tools) registry.register(toolOf(capabilities, { name }), "foreign");
  const names = (authority: Authority, at = moment()): readonly string[] =>
    registry.listFor(authority, at).map(({ name }) => name);
  const own = (...specs: readonly string[]): Authority => [chain(link("r", grantsOf(...specs)))];

  const rows: readonly (readonly [string, Authority, readonly string[]])[] = [
    ["none without a grant to call", own("net.get{hosts=[*]}", "fs.read{in=/data}"), []],
    ["those that need nothing", CALLER, ["plain"]],
    ["one that is named", own("tool.invoke{tools=[plain]}"), ["plain"]],
    ["those it can do one verb of", own("tool.invoke{tools=[*]}", "net.get{hosts=[*.example]}"), ["online", "plain"]],
    ["none for another host", own("tool.invoke{tools=[*]}", "net.get{hosts=[other.test]}"), ["plain"]],
    [
      "all of it",
      own("tool.invoke{tools=[*]}", "net.get{hosts=[*]}", "fs.read{in=/}"),
      ["both", "online", "plain", "reader"],
    ],
    [
      "none that one chain alone cannot do",
      [...own("tool.invoke{tools=[*]}", "net.get{hosts=[*]}"), ...own("tool.invoke{tools=[*]}", "fs.read{in=/}")],
      ["online", "plain", "reader"],
    ],
    [
      "none that a link above does not hold",
      [
        chain(
          link("a", grantsOf("tool.invoke{tools=[*]}")),
          link("b", grantsOf("tool.invoke{tools=[*]}", "net.get{hosts=[*]}")),
        ),
      ],
      ["plain"],
    ],
    ["none from nothing", [], []],
  ];
  test.each(rows)("%s", (_title, authority, expected) => {
    expect(names(authority)).toEqual(expected);
  });

  test("none of a revoked link", () => {
    expect(names(CALLER, moment({ revoked: () => true }))).toEqual([]);
  });

  test("the risk is the higher of the stated and the declared one", () => {
    const risks = Object.fromEntries(registry.list().map(({ name, risk }) => [name, risk]));
    expect(risks).toMatchObject({ plain: "low", reader: "medium", online: "high" });
    const raised = registeredOf(toolOf({}, { risk: "high" }));
    expect(raised.risk).toBe("high");
  });
});

describe("a tool with missing backends or secrets", () => {
  const needy = { network: { allowedHosts: ["a.example"] }, secrets: ["KEY", "ns/*"], fs_reach: { read: ["/d"] } };

  test("is listed as not available, with what is missing", () => {
    const registry = registryOf({ backends: { has: (one) => one !== "files", hasSecret: () => false } });
    registry.register(toolOf(needy), "application");
    expect(registry.availability("weather")).toEqual({
      ok: false,
      code: "not_available",
      backends: ["files"],
      secrets: ["KEY"],
    });
    expect(registry.list()[0]?.availability.ok).toBe(false);
  });

  test("needs nothing for an empty part; and a backend that throws counts as missing", () => {
    const registry = registryOf({
      backends: {
        has: () => {
          throw new Error("down");
        },
        hasSecret: () => true,
      },
    });
    registry.register(toolOf({ network: { allowedHosts: [] } }, { name: "empty" }), "application");
    registry.register(toolOf(needy), "application");
    expect(registry.availability("empty")).toEqual({ ok: true });
    expect(registry.availability("weather")).toMatchObject({ ok: false, backends: ["network", "secrets", "files"] });
  });

  test("does not run", async () => {
    let ran = 0;
    const registry = registryOf({ backends: { has: () => false, hasSecret: () => true } });
    const tool = registeredOf(toolOf(needy, { execute: () => ++ran }), registry);
    const availability = registry.availability("weather");
    if (availability === null) throw new Error("no tool");
    const seen: Seen = { done: [], fetches: [], denials: [] };
    const parts = {
      ...{ availability, signal: null, instruments: instrumentsOf(seen), judge: judgeOf(CALLER, tool) },
      ...{ pathSettings: READING.pathSettings, toAscii: READING.toAscii, denied: () => undefined },
    };
    expect(await runTool(tool, await warrantFor(tool), parts)).toMatchObject({ ok: false, code: "not_available" });
    expect(ran).toBe(0);
    expect(await runTool(tool, await warrantFor(tool), { ...parts, availability: { ok: true } })).toEqual({
      ok: true,
      value: 1,
    });
  });
});

test("the requests of a call are derived from its input, and an unreadable input is refused", () => {
  const asking = (requests: unknown) => registeredOf(toolOf({}, { requests: () => requests as never })).requests({});
  expect(asking([{ verb: "fs.read", path: "/data/a" }])).toMatchObject({ ok: true });
  for (const odd of [
    ...[null, {}, [1], [{ verb: "fs.read" }], [{ verb: "nope", path: "/" }], [{ verb: "net.get", url: "x" }]],
    ...[[{ verb: "proc.exec", argv: "sh" }], new Array(300).fill({ verb: "fs.read", path: "/a" })],
  ])
    expect(asking(odd)).toMatchObject({ ok: false });
});

test("watchers are notified of every change, and of nothing after they stop", () => {
  const registry = registryOf();
  const seen: string[] = [];
  registry.watch(() => {
    throw new Error("mine");
  });
  const forget = registry.watch(({ kind, name }) => void seen.push(`${kind} ${name}`));
  registry.register(toolOf({}), "foreign");
  registry.register(toolOf({}, { name: "fs_read" }), "foreign");
  registry.remove("tool:weather");
  registry.remove("weather");
  forget?.();
  registry.register(toolOf({}), "foreign");
  expect(seen).toEqual(["added weather", "removed weather"]);
});
