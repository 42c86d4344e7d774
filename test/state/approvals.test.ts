// Approvals from the request to their use: bound to one call, used as often as the approver said, and never for another call.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Presence } from "../../src/core/ports/daemon/daemon-control.ts";
import { until } from "../house/until.ts";
import { type Called, type Caller, type OpenMore, outcomeOf, type Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

const ANN: Presence = { name: "ann", passphrase: "correct horse of ann" };
const BOB: Presence = { name: "bob", passphrase: "correct horse of bob" };
const EVE: Presence = { name: "eve", passphrase: "correct horse of eve" };

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("asking", ["memory.write{ask}", "memory.read"]);
  fixture.agent("racing", ["memory.write{ask}"]);
  fixture.agent("flooding", ["memory.write{ask}"]);
  fixture.agent("stopped", ["memory.write{ask}"]);
  fixture.agent("frozen", ["memory.write{ask}"]);
  fixture.agent("present", ["memory.write{ask=presence}"]);
  fixture.agent("several", ["memory.write{ask}"], "approvers: { need: 2, of: [ann, bob] }\n");
  fixture.agent("edited", ["memory.write{ask}"]);
  fixture.agent("program", ["proc.exec{ask}", "fs.read"], "sandbox: .\n");
  fixture.agent("line", ["proc.eval{ask}", "fs.read"], "sandbox: .\n");
  fixture.agent("tool", ["proc.exec", "fs.read", "tool.invoke{ask}"], "sandbox: .\n");
  await fixture.begin();
  caller = fixture.caller();
  expectValue(await fixture.control("presence.set", { ...ANN, presence: null }));
  expectValue(await fixture.control("presence.set", { ...BOB, presence: ANN }));
  expectValue(await fixture.control("presence.set", { ...EVE, presence: ANN }));
});
afterAll(() => fixture?.remove());

async function open(agent: string, more: OpenMore = {}): Promise<Session> {
  return expectValue(await caller.open(fixture.project, agent, more));
}

function set(
  session: Session,
  key: string,
  value = "x",
  more: { wait?: number; onEvent?(event: unknown): void } = {},
): Promise<Called> {
  return session.do("memory_set", { key, value }, more);
}

async function asked(session: Session, key: string, value = "x"): Promise<string> {
  const { said, value: told } = await set(session, key, value);
  expect(said).toBe("approval_required");
  return String(told["approval"]);
}

async function stateOf(id: string): Promise<string> {
  return expectValue(await fixture.control("approvals.show", { id })).approval.state;
}

describe("an approval request", () => {
  test("has an id, and the retry after approval succeeds exactly once", async () => {
    const session = await open("asking");
    const id = await asked(session, "once");
    expect(id).toMatch(/^a_/);
    expect(expectValue(await fixture.approve(id))).toMatchObject({ approval: { state: "approved" }, missing: 0 });
    expect((await set(session, "once")).said).toBe("done");
    expect((await set(session, "once")).said).toBe("approval_required");
    await until(async () => (await stateOf(id)) === "done", "its use is told");
    const kinds = (await fixture.log({ kind: "approval" })).filter(({ of }) => of === id).map(({ outcome }) => outcome);
    expect(kinds).toEqual(["asked", "approved", "done"]);
  });

  test("through the command line: exit status, the id, and the retry", async () => {
    const words = ["call", "asking", "memory_set", '{"key":"line","value":"x"}', "--json"];
    const first = await fixture.ambit(...words);
    const { approval, code } = JSON.parse(first.out) as { approval: string; code: string };
    expect([first.status, code]).toEqual([11, "approval_required"]);
    expect((await fixture.ambit("approve", approval, "--yes")).status).toBe(0);
    expect((await fixture.ambit(...words)).status).toBe(0);
    expect((await fixture.ambit(...words)).status).toBe(11);
  });

  test("approved once is used by one of 32 concurrent retries", async () => {
    const sessions = await Promise.all(
      Array.from({ length: 32 }, (_, at) => open("racing", { connection: `racing ${at % 8}` })),
    );
    const [first] = sessions;
    expectValue(await fixture.approve(await asked(first as Session, "race")));
    const all = await Promise.all(sessions.map(async (session) => (await set(session, "race")).said));
    expect(all.filter((said) => said === "done")).toHaveLength(1);
    expect(all.filter((said) => said === "approval_required")).toHaveLength(31);
  });

  test("with a wider approval is used by exactly as many of 32 concurrent retries as it has uses", async () => {
    const sessions = await Promise.all(
      Array.from({ length: 32 }, (_, at) => open("racing", { connection: `racing ${at % 8}` })),
    );
    expectValue(await fixture.approve(await asked(sessions[0] as Session, "wide/0"), { step: "group", uses: 5 }));
    const all = await Promise.all(sessions.map(async (session) => (await set(session, "wide/0")).said));
    expect(all.filter((said) => said === "done")).toHaveLength(5);
    expect(all.filter((said) => said === "approval_required")).toHaveLength(27);
  });

  test("with one byte changed is another request", async () => {
    const session = await open("asking");
    const id = await asked(session, "bytes", "abc");
    expectValue(await fixture.approve(id));
    const others = [
      await asked(session, "bytes", "abd"),
      await asked(session, "bytes", "abc "),
      await asked(session, "byte", "abc"),
    ];
    expect(new Set([id, ...others]).size).toBe(4);
    expect((await set(await open("asking"), "bytes", "abc")).said).toBe("done");
  });

  test("made again is the same request", async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, async () => asked(await open("asking"), "same")));
    expect(new Set(ids).size).toBe(1);
    const { approval } = expectValue(await fixture.control("approvals.show", { id: ids[0] ?? "" }));
    expect(approval.times).toBe(10);
    expect((await fixture.log({ kind: "approval" })).filter(({ of }) => of === ids[0])).toHaveLength(1);
  });

  test("is one of at most twenty that an agent may have pending", async () => {
    const session = await open("flooding");
    for (let at = 0; at < 20; at++) await asked(session, `flood-${at}`);
    const { said, value } = await set(session, "flood-20");
    expect([said, value["approval"]]).toEqual(["approval_unavailable", null]);
    expect(value["reason"]).toMatch(/20 approvals of this agent are already pending/);
    expect(JSON.stringify(value)).not.toMatch(/once it is approved/);
    expect((await fixture.approvals("pending")).filter(({ who }) => who.agent === "flooding")).toHaveLength(20);
    const again = await asked(session, "flood-3");
    expectValue(await fixture.control("approvals.refuse", { id: again, reason: "enough" }));
    expect(await asked(session, "flood-20")).toMatch(/^a_/);
  });
});

describe("an answer", () => {
  test("reaches a waiting caller at once", async () => {
    const session = await open("asking");
    const decide = async (key: string, answer: (id: string) => Promise<unknown>): Promise<Called> => {
      let id = "";
      const waiting = set(session, key, "x", {
        wait: 60_000,
        onEvent: (event) => {
          id = (event as { waiting: string }).waiting;
        },
      });
      await until(() => id !== "", "the caller waits");
      await answer(id);
      return waiting;
    };
    expect((await decide("wait-yes", (id) => fixture.approve(id))).said).toBe("done");
    const no = await decide("wait-no", (id) => fixture.control("approvals.refuse", { id, reason: "not on a Friday" }));
    expect(no).toMatchObject({ said: "approval_refused", value: { reason: "not on a Friday" } });
  });

  test("that refuses gives its reason, also when the call is repeated", async () => {
    const session = await open("asking");
    const id = await asked(session, "refused");
    expect((await fixture.ambit("approvals", "refuse", id, "--reason", "too wide")).status).toBe(0);
    for (let time = 0; time < 2; time++)
      expect(await set(session, "refused")).toMatchObject({
        said: "approval_refused",
        value: { reason: "too wide", approval: id },
      });
    expect(await fixture.approve(id)).toMatchObject({ ok: false });
    expect(await stateOf(id)).toBe("refused");
  });

  test("with a wider scope serves what it covers, as often as the approver said, and nothing else", async () => {
    const session = await open("asking");
    const id = await asked(session, "group/a");
    const { ladder } = expectValue(await fixture.control("approvals.show", { id }));
    expect(ladder.map(({ name }) => name)).toEqual(["exact", "key", "group"]);
    expectValue(await fixture.approve(id, { step: "group", uses: 3 }));
    expect((await set(session, "group/b")).said).toBe("done");
    expect((await set(session, "other/b")).said).toBe("approval_required");
    expect((await set(session, "groups")).said).toBe("approval_required");
    expect((await session.do("memory_delete", { key: "group/b" })).said).toBe("approval_required");
    expect((await set(await open("racing"), "group/b")).said).toBe("approval_required");
    expect([(await set(session, "group/c")).said, (await set(session, "group/a")).said]).toEqual(["done", "done"]);
    expect((await set(session, "group/a")).said).toBe("approval_required");
  });

  test("for exactly one call is used as often as the approver said", async () => {
    const session = await open("asking");
    expectValue(await fixture.approve(await asked(session, "twice"), { uses: 2 }));
    const said: string[] = [];
    for (let time = 0; time < 3; time++) said.push((await set(session, "twice")).said);
    expect(said).toEqual(["done", "done", "approval_required"]);
  });

  test("expires", async () => {
    const session = await open("asking");
    const id = await asked(session, "brief");
    expectValue(await fixture.approve(id, { milliseconds: 1000 }));
    await until(async () => (await stateOf(id)) === "expired", "it expires");
    expect((await set(session, "brief")).said).toBe("approval_required");
  });

  test("can be revoked before it is used", async () => {
    const session = await open("asking");
    const id = await asked(session, "back");
    expectValue(await fixture.approve(id));
    expectValue(await fixture.control("approvals.refuse", { id, reason: "changed my mind" }));
    expect(await set(session, "back")).toMatchObject({
      said: "approval_refused",
      value: { reason: "changed my mind" },
    });
  });

  test("counts for the record as it is at the answer, not as it was at the request", async () => {
    const session = await open("edited");
    let id = "";
    const waiting = set(session, "held", "x", {
      wait: 60_000,
      onEvent: (event) => {
        id = (event as { waiting: string }).waiting;
      },
    });
    await until(() => id !== "", "the caller waits");
    fixture.agent("edited", ["memory.write{keys=[elsewhere],ask}"]);
    await until(async () => (await set(await open("edited"), "held")).said === "scope_violation", "the edit holds");
    expectValue(await fixture.approve(id));
    expect((await waiting).said).not.toBe("done");
  });
});

describe("approvers", () => {
  test("a plain yes is not enough where presence is required, nor is a wrong passphrase", async () => {
    const session = await open("present");
    const id = await asked(session, "here");
    expect(await fixture.approve(id)).toMatchObject({ ok: false, code: "presence_required" });
    const wrong = { ...ANN, passphrase: "correct horse of ame" };
    expect(await fixture.approve(id, { presence: wrong })).toMatchObject({ ok: false });
    expect((await set(session, "here")).said).toBe("approval_required");
    expectValue(await fixture.approve(id, { presence: ANN }));
    expect((await set(session, "here")).said).toBe("done");
  });

  test("two must agree where the record says so: two different ones of those it names", async () => {
    const session = await open("several");
    const id = await asked(session, "both");
    expect(await fixture.approve(id)).toMatchObject({ ok: false, code: "presence_required" });
    expect(await fixture.approve(id, { presence: EVE })).toMatchObject({ ok: false, code: "not_an_approver" });
    expect(expectValue(await fixture.approve(id, { presence: ANN }))).toMatchObject({ missing: 1 });
    expect((await set(session, "both")).said).toBe("approval_required");
    expect(await fixture.approve(id, { presence: ANN })).toMatchObject({ ok: false, code: "already_agreed" });
    expect(expectValue(await fixture.approve(id, { presence: BOB }))).toMatchObject({ missing: 0 });
    expect((await set(session, "both")).said).toBe("done");
  });

  test("a new approver needs an existing one, and no approver can answer for another", async () => {
    const mallory = { name: "mallory", passphrase: "correct horse of mallory" };
    expect(await fixture.control("presence.set", { ...mallory, presence: null })).toMatchObject({ ok: false });
    expect(await fixture.control("presence.set", { ...BOB, presence: ANN })).toMatchObject({ ok: false });
    expect(await fixture.control("presence.delete", { name: "bob", presence: ANN })).toMatchObject({ ok: false });
    expect(expectValue(await fixture.control("presence.list", {})).names.toSorted()).toEqual(["ann", "bob", "eve"]);
  });
});

describe("an answer is void", () => {
  test("if the agent was stopped in between", async () => {
    const id = await asked(await open("stopped"), "key");
    expectValue(await fixture.approve(id, { uses: 9 }));
    expectValue(await fixture.control("agent.stop", { cwd: fixture.project, agent: "stopped" }));
    expect(await asked(await open("stopped"), "key")).not.toBe(id);
  });

  test("if everything was frozen in between", async () => {
    const session = await open("frozen");
    const id = await asked(session, "key");
    expectValue(await fixture.approve(id, { uses: 9 }));
    expectValue(await fixture.control("freeze", {}));
    expectValue(await fixture.control("thaw", { presence: null }));
    expect(await asked(session, "key")).not.toBe(id);
  });

  test("and is refused as such if the agent was stopped, or everything was frozen, before it was given", async () => {
    const id = await asked(await open("stopped"), "later");
    expectValue(await fixture.control("agent.stop", { cwd: fixture.project, agent: "stopped" }));
    expect(await fixture.approve(id)).toMatchObject({ ok: false, code: "revoked" });
    const session = await open("frozen");
    const other = await asked(session, "later");
    expectValue(await fixture.control("freeze", {}));
    expectValue(await fixture.control("thaw", { presence: null }));
    expect(await fixture.approve(other)).toMatchObject({ ok: false, code: "revoked" });
    const again = await asked(session, "later");
    expectValue(await fixture.approve(again));
    expect((await set(session, "later", "x")).said).toBe("done");
  });

  test.each(["exact", "program"])("if the script in the root has changed since (%s)", async (step) => {
    const script = join(fixture.project, "work.sh");
    const session = await open("program");
    const run = (): Promise<Called> => session.run(["./work.sh"], fixture.project);
    const write = (text: string): void => {
      rmSync(script, { force: true });
      writeFileSync(script, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    };
    write(`echo one ${step}`);
    const first = await run();
    expect(first.said).toBe("approval_required");
    const id = String(first.value["approval"]);
    const names = expectValue(await fixture.control("approvals.show", { id })).ladder.map(({ name }) => name);
    expectValue(await fixture.approve(id, { step: names.includes(step) ? step : "exact", uses: 2 }));
    write(`echo two ${step}`);
    const changed = await run();
    expect([changed.said, changed.value["approval"] === id]).toEqual(["approval_required", false]);
    write(`echo one ${step}`);
    expect((await run()).said).toBe("ran");
    await fixture.control("approvals.refuse", { id, reason: "over" });
  });
});

describe("an approval is bound to the script", () => {
  const many = Array.from({ length: 100 }, (_, at) => `w${at}`);
  test.each<[string, string, string, (script: string, folder: string) => readonly [string, JsonObject]]>([
    [
      "above its folder",
      "program",
      "sub",
      (_, to) => ["proc_exec", { argv: ["sh", "../bound.sh"], in: to, root: "ro" }],
    ],
    ["by its full path", "program", "sub", (at, to) => ["proc_exec", { argv: ["sh", at], in: to, root: "ro" }]],
    [
      "after a hundred arguments",
      "program",
      ".",
      (_, to) => [
        "proc_exec",
        { argv: ["env", ...many.map((one) => `${one}=1`), "sh", "bound.sh"], in: to, root: "ro" },
      ],
    ],
    [
      "in a shell command line",
      "line",
      ".",
      (_, to) => ["proc_eval", { line: "true; sh ./bound.sh", in: to, root: "ro" }],
    ],
    [
      "of a tool that needs approval",
      "tool",
      ".",
      (_, to) => ["proc_exec", { argv: ["sh", "bound.sh"], in: to, root: "ro" }],
    ],
  ])("%s", async (_title, agent, below, callOf) => {
    mkdirSync(join(fixture.project, "sub"), { recursive: true });
    const script = join(fixture.project, "bound.sh");
    const [tool, input] = callOf(script, join(fixture.project, below));
    const session = await open(agent);
    writeFileSync(script, "echo one\n");
    const first = await session.do(tool, input);
    expect(first.said).toBe("approval_required");
    const id = String(first.value["approval"]);
    const { approval } = expectValue(await fixture.control("approvals.show", { id }));
    expect(approval.binding?.bound).toContain(script);
    expect(approval.binding?.unbound).toContain("other files that the program reads");
    expectValue(await fixture.approve(id, { uses: 2 }));
    writeFileSync(script, "echo two\n");
    const changed = await session.do(tool, input);
    expect([changed.said, changed.value["approval"] === id]).toEqual(["approval_required", false]);
    writeFileSync(script, "echo one\n");
    const again = await session.do(tool, input);
    expect(again.said).not.toBe("approval_required");
    for (const one of [id, String(changed.value["approval"])])
      await fixture.control("approvals.refuse", { id: one, reason: "over" });
  });
});

describe("when the daemon is killed", () => {
  test("requests and answers survive, and executing calls become indeterminate", async () => {
    const session = await open("asking");
    const waiting = await asked(session, "after");
    const approved = await asked(session, "answered");
    expectValue(await fixture.approve(approved));
    const runner = await open("program");
    const argv = ["sh", "-c", "echo begun; exec sleep 60"];
    const first = await runner.run(argv, fixture.project);
    const executing = String(first.value["approval"]);
    expectValue(await fixture.approve(executing));
    const texts: string[] = [];
    const running = runner.running(argv, fixture.project, { onText: (text) => texts.push(text) });
    await until(() => texts.join("").includes("begun"), "it runs");
    expect(await stateOf(executing)).toBe("executing");
    await fixture.killDaemon();
    expect(outcomeOf(await running.answer).said).toBe("no_daemon");
    await fixture.startDaemon();
    expect([await stateOf(waiting), await stateOf(approved), await stateOf(executing)]).toEqual([
      "pending",
      "approved",
      "indeterminate",
    ]);
    expect((await set(await open("asking"), "answered")).said).toBe("done");
    const again = await (await open("program")).run(argv, fixture.project);
    expect([again.said, again.value["approval"] === executing]).toEqual(["approval_required", false]);
  });
});
