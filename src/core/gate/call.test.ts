// The order of checks of a tool call, and that every failure on the way is a denial.
import { describe, expect, test } from "vitest";
import { chain, grant, link, moment, verb } from "../../../test/forge/authority.ts";
import { parseName, parseToolPattern } from "../authority/axes/name.ts";
import type { Scope } from "../authority/axes/scope.ts";
import type { Authority } from "../authority/chain.ts";
import type { Request } from "../authority/request.ts";
import { done, refuse } from "../base/result.ts";
import type { ApprovalAnswer } from "../ports/approvals.ts";
import type { CommitResult, Entry } from "../ports/stores/commit.ts";
import { type Authorization, authorize, permit } from "./call.ts";
import type { KnownTool } from "./known-tool.ts";

function memory(key: string): Request {
  const name = parseName(key);
  if (!name.ok) throw new Error(name.message);
  return { verb: verb("memory.read"), values: [name.value] };
}

function only(tool: string): Scope[] {
  const pattern = parseToolPattern(tool);
  if (!pattern.ok) throw new Error(pattern.message);
  return [{ kind: "sequences", of: [pattern.value] }, { kind: "any" }];
}

const tools: Readonly<Record<string, KnownTool>> = {
  memory_get: { name: "memory_get", requirement: null, requests: (input) => done([memory(String(input["key"]))]) },
  fussy: { name: "fussy", requirement: null, requests: () => refuse("bad_value", "no") },
  modest: {
    name: "modest",
    requirement: link("needs", [grant("memory.write")], {}, "limit"),
    requests: () => done([memory("a")]),
  },
};

interface Outside {
  readonly entries: Entry[];
  commit: (entry: Entry) => Promise<CommitResult>;
  approvals: () => Promise<ApprovalAnswer>;
}

function outside(more: Partial<Outside> = {}): Outside {
  const entries: Entry[] = [];
  return {
    entries,
    commit: async (entry) => {
      entries.push(entry);
      return { ok: true, receipt: "r" };
    },
    approvals: async () => ({ kind: "pending", approval: "a1" }),
    ...more,
  };
}

function call(authority: Authority, tool: string, ports: Outside, at = moment()): Promise<Authorization> {
  const known = (name: string): KnownTool | null => tools[name] ?? null;
  return authorize({ agent: "scout", authority }, { tool, input: { key: "a" } }, known, at, [], ports);
}

const everything = [chain(link("record", [grant("memory.read"), grant("tool.invoke")]))];

describe("a call is denied", () => {
  const rows: readonly (readonly [string, Authority, string, Partial<Outside>, string])[] = [
    ["when the tool is unknown", everything, "nope", {}, "unknown_tool"],
    [
      "when the tool may not be invoked",
      [chain(link("r", [grant("memory.read")]))],
      "memory_get",
      {},
      "capability_absent",
    ],
    [
      "when only another tool may be invoked",
      [chain(link("r", [grant("memory.read"), grant("tool.invoke", only("fs_read"))]))],
      "memory_get",
      {},
      "scope_violation",
    ],
    ["when its input is refused", everything, "fussy", {}, "invalid_input"],
    [
      "when one of its requests is not covered",
      [chain(link("r", [grant("tool.invoke")]))],
      "memory_get",
      {},
      "capability_absent",
    ],
    ["when it requests more than it declared", everything, "modest", {}, "capability_absent"],
    [
      "when no approver is present",
      [chain(link("r", [grant("memory.read", undefined, { ask: 1 }), grant("tool.invoke")]))],
      "memory_get",
      {},
      "approval_required",
    ],
    [
      "when the approval request fails",
      [chain(link("r", [grant("memory.read", undefined, { ask: 1 }), grant("tool.invoke")]))],
      "memory_get",
      { approvals: () => Promise.reject(new Error("down")) },
      "approval_unavailable",
    ],
    [
      "when a person refuses",
      [chain(link("r", [grant("memory.read", undefined, { ask: 1 }), grant("tool.invoke")]))],
      "memory_get",
      { approvals: async () => ({ kind: "refused", reason: "no" }) },
      "approval_refused",
    ],
    [
      "when the decision cannot be logged",
      everything,
      "memory_get",
      { commit: () => Promise.reject(new Error("disk")) },
      "audit_unavailable",
    ],
    [
      "when another call took the last of the budget",
      everything,
      "memory_get",
      { commit: async () => ({ ok: false, code: "budget_exhausted" }) },
      "budget_exhausted",
    ],
    ["when there is no chain at all", [], "memory_get", {}, "capability_absent"],
  ];
  for (const [title, authority, tool, more, code] of rows) {
    test(title, async () => {
      const answer = await call(authority, tool, outside(more));
      expect(answer).toMatchObject({ ok: false, code });
    });
  }
});

describe("untrusted grants", () => {
  const known = (name: string): KnownTool | null => tools[name] ?? null;
  const under = (authority: Authority, written: () => Authority, tool: string, ports: Outside) =>
    authorize({ agent: "scout", authority, written }, { tool, input: { key: "a" } }, known, moment(), [], ports);
  const invoking = [chain(link("r", [grant("tool.invoke")]))];
  const asking = [chain(link("r", [grant("memory.read", undefined, { ask: 1 }), grant("tool.invoke")]))];
  const other = [chain(link("r", [grant("memory.read"), grant("tool.invoke", only("fs_read"))]))];

  test.each([
    ["would allow it", [], everything, "memory_get", "untrusted_policy"],
    ["would allow the rest of it", invoking, everything, "memory_get", "untrusted_policy"],
    ["would reach that far", other, everything, "memory_get", "untrusted_policy"],
    ["would need approval", [], asking, "memory_get", "untrusted_policy"],
    ["would deny it, too", [], invoking, "memory_get", "capability_absent"],
    ["would not reach that far, either", other, other, "memory_get", "scope_violation"],
    ["cannot extend what the tool declared", [], everything, "modest", "capability_absent"],
    ["reveal nothing about arguments", everything, everything, "fussy", "invalid_input"],
    ["reveal nothing about unknown tools", [], everything, "nope", "unknown_tool"],
  ] as const)("%s: still denied, with the code that says what to do", async (_what, held, text, tool, code) => {
    const ports = outside({ approvals: () => Promise.reject(new Error("no approval is requested")) });
    const answer = await under(held, () => text, tool, ports);
    expect(answer).toMatchObject({ ok: false, code });
    expect(ports.entries).toMatchObject([{ outcome: "deny", code, requests: [], basis: [], charges: [] }]);
  });

  test("are not read for an allowed call, and unreadable ones have no effect", async () => {
    const unread = (): Authority => {
      throw new Error("unread");
    };
    expect(await under(everything, unread, "memory_get", outside())).toMatchObject({ ok: true });
    expect(await under([], unread, "memory_get", outside())).toMatchObject({ ok: false, code: "capability_absent" });
  });
});

test("a denied call charges nothing, and is logged", async () => {
  const ports = outside();
  const limited = [chain(link("r", [grant("tool.invoke")], { calls: 3 }))];
  expect(await call(limited, "memory_get", ports)).toMatchObject({ ok: false });
  expect(ports.entries).toMatchObject([{ outcome: "deny", code: "capability_absent", charges: [] }]);
});

test("a call whose budget others use up is logged once, as a denial", async () => {
  const kept = outside();
  const commit = (entry: Entry): ReturnType<Outside["commit"]> =>
    entry.outcome === "allow" ? Promise.resolve({ ok: false, code: "budget_exhausted" }) : kept.commit(entry);
  const answer = await call(everything, "memory_get", { ...kept, commit });
  expect(kept.entries).toMatchObject([{ outcome: "deny", code: "budget_exhausted", charges: [] }]);
  expect(answer).toMatchObject({ ok: false, code: "budget_exhausted", receipt: expect.any(String) });
});

test("an allowed call charges every limited account of its chain once, before the warrant exists", async () => {
  const ports = outside();
  const root = link("root", [grant("memory.read", undefined, { calls: 9 }), grant("tool.invoke")], { calls: 10 });
  const child = link("child", [grant("memory.read"), grant("tool.invoke")], { calls: 5 });
  const answer = await call([chain(root, child)], "memory_get", ports);
  expect(answer).toMatchObject({ ok: true, warrant: { receipt: "r", tool: "memory_get", agent: "scout" } });
  expect(ports.entries[0]?.charges).toEqual([
    { link: "root", grant: -1 },
    { link: "child", grant: -1 },
    { link: "root", grant: 0 },
  ]);
});

test("an approved call executes exactly what was requested", async () => {
  const asked: unknown[] = [];
  const ports = outside({
    approvals: async (...all: unknown[]) => {
      asked.push(...all);
      return { kind: "approved", approval: "a1", level: 2 };
    },
  });
  const authority = [chain(link("r", [grant("memory.read", undefined, { ask: 2 }), grant("tool.invoke")]))];
  expect(await call(authority, "memory_get", ports)).toMatchObject({ ok: true });
  expect(asked).toMatchObject([{ agent: "scout", tool: "memory_get", level: 2 }]);
});

test("a revoked or stale link denies with its own code", async () => {
  expect(await call(everything, "memory_get", outside(), moment({ revoked: () => true }))).toMatchObject({
    ok: false,
    code: "revoked",
  });
  const old = [
    chain(
      link("r", [grant("memory.read"), grant("tool.invoke")], {
        validity: { notBefore: null, expires: null, generations: [7] },
      }),
    ),
  ];
  expect(await call(old, "memory_get", outside())).toMatchObject({ ok: false, code: "generation_stale" });
  expect(await call(old, "memory_get", outside(), moment({ generation: 7 }))).toMatchObject({ ok: true });
});

describe("the warrant has exactly what was decided", () => {
  const free = [chain(link("r", [grant("memory.read"), grant("tool.invoke")]))];
  const known = (name: string): KnownTool | null => tools[name] ?? null;

  test("whatever the caller does to the arguments meanwhile", async () => {
    const input = { key: "a", deep: { list: [1] } };
    const ports = outside({
      commit: async () => {
        input.key = "b";
        input.deep.list.push(2);
        return { ok: true, receipt: "r" };
      },
    });
    const answer = await authorize(
      { agent: "scout", authority: free },
      { tool: "memory_get", input },
      known,
      moment(),
      [],
      ports,
    );
    expect(answer).toMatchObject({ ok: true, warrant: { arguments: { key: "a", deep: { list: [1] } } } });
  });

  const odd: readonly (readonly [string, unknown])[] = [
    ["a getter", Object.defineProperty({}, "key", { get: () => "a", enumerable: true })],
    ["a function inside", { key: "a", run: () => 1 }],
    ["a hole in a list", { key: "a", list: new Array(1) }],
    ["a cycle", Object.assign(Object.create(null), { key: "a" }, {})],
    ["a number that is not finite", { key: "a", n: Number.NaN }],
    ["a symbol", { key: "a", [Symbol("x")]: 1 }],
    ["a list", ["a"]],
    ["text", "a"],
    ["nothing", undefined],
  ];
  const cycle = odd[3]?.[1] as Record<string, unknown>;
  cycle["self"] = cycle;
  for (const [title, input] of odd) {
    test(`${title} is not a valid input`, async () => {
      const answer = await authorize(
        { agent: "scout", authority: free },
        { tool: "memory_get", input },
        known,
        moment(),
        [],
        outside(),
      );
      expect(answer).toMatchObject({ ok: false, code: "invalid_input" });
    });
  }

  test.each<unknown>([null, [], "text", 5])(
    "%j from an agent without the tool reveals nothing about arguments",
    async (input) => {
      const known = (name: string): KnownTool | null => tools[name] ?? null;
      const authority = [chain(link("r", [grant("memory.read")]))];
      const asked = { agent: "scout", authority };
      const answer = await authorize(asked, { tool: "memory_get", input }, known, moment(), [], outside());
      expect(answer).toMatchObject({ ok: false, code: "capability_absent" });
    },
  );

  test("a key called __proto__ is an ordinary key", async () => {
    const input = JSON.parse('{"key":"a","__proto__":{"key":"b"}}') as unknown;
    const answer = await authorize(
      { agent: "scout", authority: free },
      { tool: "memory_get", input },
      known,
      moment(),
      [],
      outside(),
    );
    expect(answer.ok && Object.keys(answer.warrant.arguments)).toEqual(["key", "__proto__"]);
    expect(answer.ok && answer.warrant.arguments["key"]).toBe("a");
  });
});

describe("a port that answers nonsense allows nothing", () => {
  const asking = [chain(link("r", [grant("memory.read", undefined, { ask: 1 }), grant("tool.invoke")]))];
  const rows: readonly (readonly [string, Authority, object, string])[] = [
    ["an approval of no kind", asking, { approvals: async () => ({}) }, "approval_unavailable"],
    [
      "a plain yes where presence is needed",
      [chain(link("r", [grant("memory.read", undefined, { ask: 2 }), grant("tool.invoke")]))],
      { approvals: async () => ({ kind: "approved", approval: "a", level: 1 }) },
      "approval_required",
    ],
    ["a commit without a receipt", everything, { commit: async () => ({ ok: true }) }, "audit_unavailable"],
    ["no approval at all", asking, { approvals: async () => undefined }, "approval_unavailable"],
    [
      "a pending approval without an id",
      asking,
      { approvals: async () => ({ kind: "pending", approval: "" }) },
      "approval_unavailable",
    ],
    [
      "a port that throws at once",
      asking,
      {
        approvals: () => {
          throw new Error("down");
        },
      },
      "approval_unavailable",
    ],
    ["no receipt", everything, { commit: async () => undefined }, "audit_unavailable"],
    [
      "a commit that throws at once",
      everything,
      {
        commit: () => {
          throw new Error("down");
        },
      },
      "audit_unavailable",
    ],
  ];
  for (const [title, authority, more, code] of rows) {
    test(title, async () => {
      expect(await call(authority, "memory_get", outside(more as Partial<Outside>))).toMatchObject({ ok: false, code });
    });
  }
});

test("a tool that throws on its input is denied", async () => {
  const broken: KnownTool = {
    name: "broken",
    requirement: null,
    requests: () => {
      throw new Error("boom");
    },
  };
  const answer = await authorize(
    { agent: "scout", authority: everything },
    { tool: "broken", input: {} },
    () => broken,
    moment(),
    [],
    outside(),
  );
  expect(answer).toMatchObject({ ok: false, code: "invalid_input" });
});

describe("a call that is carried out elsewhere", () => {
  const known = (name: string): KnownTool | null => tools[name] ?? null;
  const permitted = (authority: Authority, tool: string, ports: Outside): ReturnType<typeof permit> =>
    permit({ agent: "scout", authority }, { tool, input: { key: "a" } }, known, moment(), [], ports);

  test("gets its receipt, and there is no warrant", async () => {
    const ports = outside();
    expect(await permitted(everything, "memory_get", ports)).toEqual({ ok: true, receipt: "r" });
    expect(ports.entries).toMatchObject([{ outcome: "allow", tool: "memory_get" }]);
  });

  test.each(["nope", "fussy", "modest", "memory_get"])("is denied %s as any other", async (tool) => {
    const authority = tool === "memory_get" ? [] : everything;
    const [here, there] = [outside(), outside()];
    expect(await permitted(authority, tool, there)).toEqual(await call(authority, tool, here));
    expect(there.entries).toEqual(here.entries);
  });

  test("is not permitted without a receipt", async () => {
    const ports = outside({ commit: async () => ({ ok: true, receipt: "" }) });
    expect(await permitted(everything, "memory_get", ports)).toMatchObject({ ok: false, code: "audit_unavailable" });
  });
});
