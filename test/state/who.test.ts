// Identity: the user, the agent, the delegations, the session and the trace of a call, and that no caller can name another.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../house/until.ts";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  const delegating = ["agent.grant", "agent.create"];
  fixture.agent("scout", ["memory.read", "memory.write{keys=[notes/**]}", ...delegating]);
  fixture.agent("other", ["memory.read", "memory.write"]);
  fixture.user("ann", ["memory.read", "memory.write{keys=[notes/**]}", ...delegating]);
  fixture.user("narrow", ["memory.read{keys=[notes/**]}", ...delegating]);
  fixture.user("changing", ["memory.read{keys=[a]}"]);
  fixture.write("config/ambit/users/broken.md", "---\ncapabilities: [memory.raed]\n---\n");
  fixture.write("config/ambit/users/folder.md/x", "no file at all");
  symlinkSync(join(fixture.base, "not-mounted"), join(fixture.config, "users", "away.md"));
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(agent: string, more: OpenMore = {}): Promise<Session> {
  return expectValue(await caller.open(fixture.project, agent, more));
}

const SET = { key: "notes/a", value: "x" };

/** One call that is allowed, one that is denied, one that is allowed and fails. */
async function three(session: Session): Promise<void> {
  expect((await session.do("memory_set", SET)).said).toBe("done");
  expect((await session.do("memory_set", { ...SET, key: "elsewhere" })).said).toBe("scope_violation");
  const failed = await session.do("memory_set", { ...SET, version: 999 });
  expect(failed).toMatchObject({ value: { ok: false } });
  // The outcome is logged after the answer.
  await until(async () => (await fixture.log({ session: session.id, kind: "outcome" })).length === 2, "two outcomes");
}

describe("a user's name", () => {
  test.each(["Ann", "ANN", "aNN", "Broken", "Folder"])("%s in other letter case opens nothing", async (user) => {
    const opened = await caller.open(fixture.project, "scout", { user });
    expect(opened).toMatchObject({ ok: false, code: "invalid_input", fix: `--user ${user.toLowerCase()}` });
    expect(await fixture.log({ user })).toMatchObject([{ kind: "session", outcome: "deny", code: "invalid_input" }]);
  });

  test("without a record is accepted in any letter case", async () => {
    for (const user of ["Zoe", "zoe", "an", "anna"]) await (await open("scout", { user })).close();
  });

  test("with a record of its own has that record as its ceiling", async () => {
    fixture.user("ANNA", ["memory.read{keys=[other/**]}"]);
    fixture.user("anna", ["memory.read{keys=[notes/**]}"]);
    const [one, two] = [await open("scout", { user: "ANNA" }), await open("scout", { user: "anna" })];
    expect((await one.do("memory_get", { key: "notes/a" })).said).toBe("scope_violation");
    expect((await two.do("memory_get", { key: "notes/a" })).said).not.toBe("scope_violation");
    expect((await caller.open(fixture.project, "scout", { user: "Anna" })).ok).toBe(false);
  });
});

describe("every entry names", () => {
  test("the user and agent of allowed, denied and failed calls of a session", async () => {
    const session = await open("scout", { user: "ann", trace: "trace-1" });
    await three(session);
    await session.close();
    const whole = { user: "ann", agent: "scout", workspace: fixture.project, session: session.id, trace: "trace-1" };
    const entries = await fixture.log({ session: session.id });
    expect(entries.map(({ kind, outcome, code }) => [kind, outcome, code])).toEqual([
      ["session", "opened", null],
      ["decision", "allow", null],
      ["outcome", "done", null],
      ["decision", "deny", "scope_violation"],
      ["decision", "allow", null],
      ["outcome", expect.stringMatching(/^failed /), null],
      ["session", "closed", null],
    ]);
    for (const entry of entries) expect(entry).toMatchObject({ ...whole, chain: [] });
  });

  test("two delegations of allowed, denied and failed calls", async () => {
    const top = await open("scout", { user: "ann", trace: "trace-2" });
    const grants = ["memory.write{keys=[notes/**]}", "agent.create", "agent.grant"];
    const made = await top.do("agent_create", { id: "below", instructions: "write", grants });
    const first = (made.value["result"] as { link: string }).link;
    const middle = await open("below", { user: "ann", trace: "trace-2" });
    const deeper = { id: "deeper", instructions: "write", grants: ["memory.write{keys=[notes/**]}"] };
    const second = ((await middle.do("agent_create", deeper)).value["result"] as { link: string }).link;
    const session = await open("deeper", { user: "ann", trace: "trace-2" });
    await three(session);
    const entries = (await fixture.log({ session: session.id })).filter(({ kind }) => kind !== "session");
    expect(entries).toHaveLength(5);
    for (const entry of entries)
      expect(entry).toMatchObject({
        user: "ann",
        agent: "deeper",
        workspace: fixture.project,
        chain: [first, second],
        session: session.id,
        trace: "trace-2",
      });
    const created = (await fixture.log({ session: middle.id, kind: "delegation" }))[0];
    expect(created).toMatchObject({ outcome: "created", of: second, chain: [first], user: "ann" });
  });

  test("a trace id is made if the opener gives none, and an invalid one opens nothing", async () => {
    const session = await open("scout");
    expect(session.trace).toMatch(/^t_/);
    for (const more of [{ user: "../ann" }, { user: "" }, { user: "ann/x" }, { trace: "a b" }])
      expect(await caller.open(fixture.project, "scout", more)).toMatchObject({ ok: false, code: "invalid_input" });
  });
});

describe("a user's record", () => {
  const reads = async (session: Session, key: string): Promise<string> =>
    (await session.do("memory_get", { key })).said;

  test("narrows every agent that is started for that user, and no other", async () => {
    const limited = await open("scout", { user: "narrow" });
    expect(await reads(limited, "notes/a")).toBe("done");
    expect(await reads(limited, "elsewhere")).toBe("scope_violation");
    expect((await limited.do("memory_set", SET)).said).toBe("capability_absent");
    expect(await reads(await open("scout"), "elsewhere")).toBe("done");
    expect(await reads(await open("scout", { user: "not-known" }), "elsewhere")).toBe("done");
  });

  test("narrows two delegations below as well", async () => {
    const top = await open("scout", { user: "narrow" });
    const wide = ["memory.read", "agent.create", "agent.grant"];
    // What the user may not do cannot be delegated for them either.
    const tooWide = await top.do("agent_create", { id: "user-0", instructions: "read", grants: wide });
    expect(tooWide.said).toBe("exceeds_grantor_authority");
    const free = await open("scout");
    await free.do("agent_create", { id: "user-1", instructions: "read", grants: wide });
    const middle = await open("user-1");
    await middle.do("agent_create", { id: "user-2", instructions: "read", grants: ["memory.read"] });
    expect(await reads(await open("user-2"), "elsewhere")).toBe("done");
    const session = await open("user-2", { user: "narrow" });
    expect(await reads(session, "notes/a")).toBe("done");
    expect(await reads(session, "elsewhere")).toBe("scope_violation");
  });

  test.each(["broken", "folder", "away"])("that is invalid allows nothing (%s)", async (user) => {
    const session = await open("scout", { user });
    expect(await reads(session, "notes/a")).toMatch(/capability_absent|scope_violation/);
  });

  test("that changes takes effect from the next call on", async () => {
    const session = await open("scout", { user: "changing" });
    const told: string[] = [];
    for (const keys of ["a", "b", "a,b"]) {
      fixture.user("changing", [`memory.read{keys=[${keys}]}`]);
      await until(async () => (await reads(session, keys[0] ?? "")) === "done", `${keys} holds`);
      told.push(`${await reads(session, "a")} ${await reads(session, "b")}`);
    }
    expect(told).toEqual(["done scope_violation", "scope_violation done", "done done"]);
    fixture.write("config/ambit/users/changing.md", "---\ncapabilities: [\n---\n");
    await until(async () => (await reads(session, "a")) !== "done", "a broken record holds");
  });
});

describe("a process started by a session's process acts for the same user", () => {
  test("with or without naming the user, and for no other session, also after the session ended", async () => {
    const own = fixture.caller();
    const session = expectValue(await own.open(fixture.project, "scout", { user: "narrow" }));
    const call = (key: string, ...words: readonly string[]): ReturnType<Caller["spawn"]> =>
      own.spawn(
        fixture.project,
        ...fixture.words("call", "other", "memory_get", JSON.stringify({ key }), "--json", ...words),
      );
    expect((await call("notes/a")).status).toBe(0);
    expect((await call("elsewhere", "--user", "narrow")).out).toContain("scope_violation");
    for (const isOver of [false, true]) {
      if (isOver) await session.close();
      expect([isOver, (await call("elsewhere")).out]).toEqual([isOver, expect.stringContaining("scope_violation")]);
      const other = await call("elsewhere", "--user", "ann");
      expect([isOver, other.out]).toEqual([isOver, expect.stringContaining("control_refused")]);
    }
    const entries = (await fixture.log({ agent: "other", kind: "decision" })).slice(-2);
    expect(entries.map(({ user }) => user)).toEqual(["narrow", "narrow"]);
    // A process that opens sessions itself, as a gateway does, names the user of each.
    expect(expectValue(await own.open(fixture.project, "other", { user: "ann" })).agent).toBe("other");
  });
});

describe("no message can name another session", () => {
  test("a session can be used on its own connection alone, and not after its end", async () => {
    const session = await open("scout", { connection: "mine" });
    const use = (connection: string): Promise<unknown> =>
      caller.ask("call.do", { session: session.id, ...CALL }, connection).answer;
    expect(await use("mine")).toMatchObject({ ok: true });
    expect(await use("theirs")).toMatchObject({ ok: false, code: "unknown_session" });
    for (const [name, value] of [
      ["session.pledge", { specs: [] }],
      ["session.taint", { why: "x" }],
      ["session.close", {}],
      ["call.commit", CALL],
      ["call.run", { ...CALL, tool: "proc_exec", input: { argv: ["true"], in: fixture.project, root: "ro" } }],
      ["call.preview", CALL],
      ["call.settle", { receipt: "c_x", ended: "done", milliseconds: 0, isUntrusted: false }],
    ] as const)
      expect(await caller.ask(name, { session: session.id, ...value }, "theirs").answer).toMatchObject({
        ok: false,
        code: "unknown_session",
      });
    expect(await use("mine")).toMatchObject({ ok: true });
    const another = fixture.caller();
    expect(await another.ask("call.do", { session: session.id, ...CALL }, "mine").answer).toMatchObject({
      ok: false,
      code: "unknown_session",
    });
    await session.close();
    expect(await use("mine")).toMatchObject({ ok: false, code: "unknown_session" });
  });

  test("an agent, user or chain in a call's arguments has no effect", async () => {
    const session = await open("scout", { user: "ann" });
    const forged = { ...CALL, agent: "other", user: "root", chain: ["l_x"], workspace: "/" };
    const answer = expectValue(await session.ask("call.do", forged).answer);
    const entry = expectValue(await fixture.control("log.entry", { id: String(answer["receipt"]) })).entry.entry;
    expect(entry).toMatchObject({ agent: "scout", user: "ann", chain: [], workspace: fixture.project });
    const forbidden = { ...forged, tool: "memory_set", input: { key: "elsewhere", value: "x" } };
    expect(expectValue(await session.ask("call.do", forbidden).answer)).toMatchObject({ code: "scope_violation" });
    const unknown = { ...forbidden, input: { ...forbidden.input, agent: "other" } };
    expect(expectValue(await session.ask("call.do", unknown).answer)).toMatchObject({
      code: "invalid_input",
      reason: expect.stringContaining("agent"),
    });
  });

  test("two agents do not see each other's memory", async () => {
    const [scout, other] = [await open("scout"), await open("other")];
    await scout.do("memory_set", { key: "notes/mine", value: "secret of scout" });
    expect((await other.do("memory_get", { key: "notes/mine" })).value["result"]).toBeNull();
    expect((await scout.do("memory_get", { key: "notes/mine" })).value["result"]).toMatchObject({
      value: "secret of scout",
    });
  });

  test("control messages are refused at the socket for calls, and the other way round", async () => {
    expect(await caller.ask("approvals.list", { states: ["pending"], count: 1 }).answer).toMatchObject({ ok: false });
    expect(await caller.ask("freeze", {}).answer).toMatchObject({ ok: false });
    expect((await fixture.status()).isFrozen).toBe(false);
    const opening = { cwd: fixture.project, agent: "scout", user: null, trace: null, face: "library", pledge: null };
    const asked = { ...opening, token: null, environment: {}, isForParent: false };
    expect(await caller.ask("session.open", asked, "1", {}, "control").answer).toMatchObject({ ok: false });
  });
});

const CALL = { tool: "memory_get", input: { key: "notes/a" }, requests: null, waitMilliseconds: 0 };
