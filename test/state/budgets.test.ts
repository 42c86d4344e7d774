// Budgets as callers see them: exact under races, shared down a delegation, and never reset by an edit.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

const EVERYTHING = ["agent.grant", "agent.create", "memory.write"];

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("racer", ["memory.read{calls=500}"]);
  fixture.agent("rated", ["memory.read{rate=3/day}"]);
  fixture.agent("second", ["memory.read{keys=[a],calls=2}", "memory.read{keys=[**],calls=1}"]);
  fixture.agent("renewed", ["memory.read{calls=3}"]);
  fixture.agent("denied", ["memory.read{keys=[a],calls=2}"]);
  fixture.agent("parent", [...EVERYTHING, "memory.read{calls=10}"]);
  fixture.agent("linker", [...EVERYTHING, "memory.read"]);
  fixture.agent("one", ["memory.read"]);
  fixture.agent("two", [...EVERYTHING, "memory.read"]);
  fixture.agent("asked", ["memory.read{calls=1,ask}"]);
  fixture.user("ann", ["memory.read{calls=4}", "agent.grant", "agent.create"]);
  fixture.user("rate", ["memory.read{rate=3/day}", "agent.grant", "agent.create"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(agent: string, more: OpenMore = {}): Promise<Session> {
  return expectValue(await caller.open(fixture.project, agent, more));
}

/** How many consecutive calls succeed until one is refused, and its code. */
async function spend(session: Session, key = "a", most = 30): Promise<readonly [number, string]> {
  for (let done = 0; done < most; done++) {
    const { said } = await session.do("memory_get", { key });
    if (said !== "done") return [done, said];
  }
  return [most, "more"];
}

describe("a budget", () => {
  test("of 500 is spent exactly by 128 concurrent callers on eight connections", async () => {
    const sessions = await Promise.all(
      Array.from({ length: 128 }, (_, at) => open("racer", { connection: `racer ${at % 8}` })),
    );
    const codes = new Map<string, number>();
    await Promise.all(
      sessions.map(async (session) => {
        for (let call = 0; call < 4; call++) {
          const { said } = await session.do("memory_get", { key: "a" });
          codes.set(said, (codes.get(said) ?? 0) + 1);
        }
      }),
    );
    expect([...codes].sort()).toEqual([
      ["budget_exhausted", 12],
      ["done", 500],
    ]);
    const allowed = await fixture.log({ agent: "racer", kind: "decision", outcome: "allow" });
    expect(allowed).toHaveLength(500);
  });

  test("per day is enforced like a total one", async () => {
    expect(await spend(await open("rated"))).toEqual([3, "budget_exhausted"]);
    expect(await spend(await open("rated"))).toEqual([0, "budget_exhausted"]);
  });

  test("that is empty is skipped for the next grant", async () => {
    const session = await open("second");
    expect(await spend(session, "a")).toEqual([3, "budget_exhausted"]);
    expect(await spend(session, "b")).toEqual([0, "budget_exhausted"]);
  });

  test("reports what is left", async () => {
    const session = await open("denied");
    const { value } = await session.commit("memory_get", { key: "a" });
    expect(value).toMatchObject({ outcome: "allowed", left: [{ left: 1 }] });
  });

  test("is not charged for denied calls", async () => {
    const session = await open("denied");
    for (let call = 0; call < 5; call++)
      expect((await session.do("memory_get", { key: "b" })).said).toBe("scope_violation");
    expect((await session.do("memory_get", { key: "" })).said).toBe("invalid_input");
    expect(await spend(session)).toEqual([1, "budget_exhausted"]);
  });

  test("is not charged for a call that waits for approval", async () => {
    const session = await open("asked");
    for (let call = 0; call < 3; call++)
      expect((await session.do("memory_get", { key: "a" })).said).toBe("approval_required");
    const [question] = await fixture.approvals("pending");
    expectValue(await fixture.approve(question?.id ?? "", { uses: 5 }));
    expect(await spend(session)).toEqual([1, "budget_exhausted"]);
  });
});

describe("no edit resets a budget", () => {
  test("of order, scope or number", async () => {
    // Outside any project no trust is needed.
    const folder = join(fixture.base, "loose");
    mkdirSync(folder);
    const write = (grants: readonly string[]): void =>
      writeFileSync(join(folder, "edited.md"), `---\ncapabilities: ${JSON.stringify(grants)}\n---\n`);
    write(["memory.read{keys=[a],calls=5}"]);
    const session = expectValue(await caller.open(folder, "./edited.md"));
    expect(await spend(session, "a", 3)).toEqual([3, "more"]);
    const edits: readonly (readonly [readonly string[], number])[] = [
      [["memory.read{keys=[b],calls=1}", "memory.read{keys=[a],calls=5}"], 5],
      [["memory.read{keys=[a,c],calls=5}"], 5],
      [["memory.read{keys=[**],calls=4}"], 4],
      [["memory.read{keys=[**],calls=6}"], 6],
      [["memory.read{keys=[a],calls=6}"], 6],
    ];
    let spent = 3;
    for (const [grants, most] of edits) {
      write(grants);
      const { said } = await session.do("memory_get", { key: "a" });
      expect([grants, said]).toEqual([grants, spent < most ? "done" : "budget_exhausted"]);
      if (said === "done") spent++;
    }
    expect(spent).toBe(6);
  });

  test.each([
    ["without the budget", ["memory.read"]],
    ["with a larger budget", ["memory.read{calls=9}"]],
    ["with a second, narrower line", ["memory.read{calls=3}", "memory.read{keys=[a],calls=3}"]],
    ["with a narrower line in its place", ["memory.read{keys=[a],calls=3}"]],
    ["with a rate in its place", ["memory.read{keys=[a],rate=3/min}"]],
    ["with another verb beside it", ["memory.read{keys=[a]}", "memory.write"]],
  ])("nor an untrusted edit: %s", async (title, grants) => {
    const id = `edited-${title.replace(/[^a-z]/g, "")}`;
    fixture.agent(id, ["memory.read{calls=3}"]);
    await fixture.trust();
    const session = await open(id);
    expect(await spend(session)).toEqual([3, "budget_exhausted"]);
    const path = `project/.ambit/agents/${id}.md`;
    fixture.agent(id, grants);
    expect(await spend(session)).toEqual([0, "budget_exhausted"]);
    expect(await spend(await open(id))).toEqual([0, "budget_exhausted"]);
    // Nor deleting the record and restoring it.
    rmSync(join(fixture.base, path));
    await session.do("memory_get", { key: "a" });
    fixture.agent(id, grants);
    await until(async () => (await caller.open(fixture.project, id)).ok, "it is there again");
    expect(await spend(await open(id))).toEqual([0, "budget_exhausted"]);
  });

  test("a second grant with its own budget is a widening for `diff` and for `trust`", async () => {
    fixture.agent("second-line", ["memory.read{calls=3}"]);
    await fixture.trust();
    fixture.write("before.md", "---\nid: x\ncapabilities: ['memory.read{calls=3}']\n---\n");
    fixture.write(
      "after.md",
      "---\nid: x\ncapabilities: ['memory.read{calls=3}', 'memory.read{keys=[a],calls=1}']\n---\n",
    );
    const diff = await fixture.ambit("diff", "../before.md", "../after.md");
    expect(diff.status).toBe(13);
    expect(diff.out).toMatch(/now allowed: more often\s+by memory\.read\{keys=\[a\],calls=1\}/);
    fixture.agent("second-line", ["memory.read{calls=3}", "memory.read{keys=[a],calls=1}"]);
    const shown = await fixture.ambit("trust", "--json");
    expect(JSON.parse(shown.out)).toMatchObject({
      trusted: false,
      agents: [{ agent: "second-line", widened: [{ because: "budget" }] }],
    });
    // Once a person has trusted it, it counts.
    expect(await spend(await open("second-line"))).toEqual([3, "budget_exhausted"]);
    await fixture.trust();
    expect(await spend(await open("second-line"))).toEqual([1, "budget_exhausted"]);
  });

  test("and an agent with the same id elsewhere has its own budget, whatever is pending", async () => {
    const other = join(fixture.base, "other");
    mkdirSync(join(other, ".ambit", "agents"), { recursive: true });
    const write = (grants: readonly string[]): void =>
      writeFileSync(
        join(other, ".ambit", "agents", "stranger.md"),
        `---\ncapabilities: ${JSON.stringify(grants)}\n---\n`,
      );
    write(["memory.read{calls=2}"]);
    fixture.agent("stranger", ["memory.read{calls=2}"]);
    await fixture.trust();
    execFileSync(process.execPath, [join(root, "bin", "ambit"), "trust", "--yes"], {
      cwd: other,
      env: fixture.environment,
    });
    // Both wait for trust, and each spends its own budget.
    write(["memory.read"]);
    fixture.agent("stranger", ["memory.read"]);
    expect(await spend(await open("stranger"))).toEqual([2, "budget_exhausted"]);
    expect(await spend(expectValue(await caller.open(other, "stranger")))).toEqual([2, "budget_exhausted"]);
  });

  test("nor deleting the record and writing it again", async () => {
    const path = join(fixture.project, ".ambit", "agents", "renewed.md");
    expect(await spend(await open("renewed"))).toEqual([3, "budget_exhausted"]);
    rmSync(path);
    expect(await caller.open(fixture.project, "renewed")).toMatchObject({ ok: false, code: "unknown_agent" });
    await fixture.trust();
    fixture.agent("renewed", ["memory.read{calls=3}"]);
    await fixture.trust();
    expect(await spend(await open("renewed"))).toEqual([0, "budget_exhausted"]);
  });
});

describe("a budget is shared", () => {
  test("by every delegate of a parent: three children of an agent with ten calls have ten together", async () => {
    const parent = await open("parent");
    const children: Session[] = [];
    for (const id of ["child-a", "child-b", "child-c"]) {
      const input = { id, instructions: "read", grants: ["memory.read"] };
      expect(await parent.do("agent_create", input)).toMatchObject({ said: "done" });
      children.push(await open(id, { connection: id }));
    }
    const spent = await Promise.all(children.map((child) => spend(child)));
    expect(spent.map(([, code]) => code)).toEqual(["budget_exhausted", "budget_exhausted", "budget_exhausted"]);
    expect(spent.reduce((sum, [count]) => sum + count, 0)).toBe(10);
    expect(await spend(parent)).toEqual([0, "budget_exhausted"]);
  });

  test("by all agents that hold a grant through one link with a budget", async () => {
    const linker = await open("linker");
    const made = await linker.do("agent_create", {
      id: "link-a",
      instructions: "read",
      grants: ["memory.read", "agent.create", "agent.grant"],
      calls: 5,
    });
    expect(made.said).toBe("done");
    const first = await open("link-a");
    // Creating another agent is a call, too.
    const below = { id: "link-b", instructions: "read", grants: ["memory.read"] };
    expect((await first.do("agent_create", below)).said).toBe("done");
    expect(await spend(await open("link-b"), "a", 2)).toEqual([2, "more"]);
    expect(await spend(first)).toEqual([2, "budget_exhausted"]);
    expect(await spend(await open("link-b"))).toEqual([0, "budget_exhausted"]);
    expect(await spend(linker, "a", 3)).toEqual([3, "more"]);
  });

  test.each([
    ["ann", 4],
    ["rate", 3],
  ])("by all agents and delegates of the user %s", async (user, most) => {
    const one = await open("one", { user });
    const two = await open("two", { user });
    expect(await spend(one, "a", 1)).toEqual([1, "more"]);
    expect(await spend(two, "a", 1)).toEqual([1, "more"]);
    const id = `of-${user}`;
    const child = { id, instructions: "read", grants: ["memory.read"] };
    expect((await two.do("agent_create", child)).said).toBe("done");
    expect(await spend(await open(id, { user }), "a")).toEqual([most - 2, "budget_exhausted"]);
    for (const session of [one, two]) expect(await spend(session)).toEqual([0, "budget_exhausted"]);
    expect(await spend(await open("one"), "a", 2)).toEqual([2, "more"]);
    expect(await spend(await open("one", { user: "another" }), "a", 2)).toEqual([2, "more"]);
  });
});
