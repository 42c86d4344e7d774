// The daemon is killed at any moment: everything it acknowledged survives, nothing is granted twice, and unknown outcomes are
// reported as unknown.
import { afterAll, beforeAll, expect, test } from "vitest";
import { processesWith } from "../house/processes.ts";
import { until } from "../house/until.ts";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("worker", [
    "memory.write",
    "memory.read{calls=100}",
    "agent.create",
    "agent.grant",
    "obs.append",
    "obs.query",
  ]);
  fixture.agent("runner", ["proc.exec", "fs.read"], "sandbox: .\n");
  fixture.agent("keeper", ["tool.invoke{tools=[tool:mine]}"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(agent: string, more: OpenMore = {}): Promise<Session> {
  return expectValue(await caller.open(fixture.project, agent, more));
}

async function restart(): Promise<void> {
  await fixture.killDaemon();
  await fixture.startDaemon();
}

test("everything acknowledged before the kill survives: values, receipts, budgets, links", async () => {
  let reads = 0;
  const receipts: string[] = [];
  const values = new Map<string, string>();
  const links: string[] = [];
  for (let round = 0; round < 2; round++) {
    const session = await open("worker");
    const keys = Array.from({ length: 5 }, (_, at) => `key-${round}-${at}`);
    // Some are acknowledged, some are in flight when it dies: only the first count.
    const calls = keys.map(async (key) => {
      const set = await session.do("memory_set", { key, value: key });
      if (set.said === "done") {
        values.set(key, key);
        receipts.push(String(set.value["receipt"]));
      }
      const read = await session.do("memory_get", { key });
      if (read.said === "done") reads++;
    });
    const made = await session.do("agent_create", { id: `made-${round}`, instructions: "x", grants: ["memory.write"] });
    if (made.said === "done") links.push((made.value["result"] as { link: string }).link);
    if (round === 0) await Promise.all(calls);
    await restart();
    await Promise.all(calls);
  }
  expect([receipts.length >= 5, links.length]).toEqual([true, 2]);
  const entries = await fixture.log({});
  const ids = new Set(entries.map(({ id }) => id));
  expect(receipts.filter((id) => !ids.has(id))).toEqual([]);
  const known = expectValue(await fixture.control("links.list", {})).links.map(({ id }) => id);
  expect(links.filter((id) => !known.includes(id))).toEqual([]);
  const allowed = entries.filter(
    ({ tool, outcome, kind }) => kind === "decision" && tool === "memory_get" && outcome === "allow",
  );
  expect(allowed.length).toBeGreaterThanOrEqual(reads);
  const accounts = expectValue(await fixture.control("accounts.list", { family: null })).accounts;
  expect(accounts.map(({ used }) => used)).toEqual([allowed.length]);
  const session = await open("worker");
  for (const [key, value] of values)
    expect((await session.do("memory_get", { key })).value["result"]).toMatchObject({ value });
  expect((await (await open("made-0")).do("memory_set", { key: "x", value: "x" })).said).toBe("done");
  expect(expectValue(await fixture.control("audit.verify", { head: null }))).toMatchObject({
    isIntact: true,
    problems: [],
  });
  expect((await fixture.ambit("audit", "verify")).status).toBe(0);
});

test("a session does not outlive the daemon", async () => {
  const session = await open("worker");
  await restart();
  expect((await session.do("memory_get", { key: "a" })).said).toMatch(/unknown_session|no_daemon/);
  expect((await session.do("memory_get", { key: "a" })).said).toBe("unknown_session");
});

test("a decision without an outcome is unknown, and one with an outcome is not", async () => {
  const session = await open("worker");
  const permitted = await session.commit("memory_get", { key: "a" });
  const receipt = String(permitted.value["receipt"]);
  expect((await fixture.ambit("why", receipt)).out).toMatch(/outcome +unknown/);
  const settle = { receipt, ended: "done", milliseconds: 5, isUntrusted: false };
  expectValue(await session.ask("call.settle", settle).answer);
  expect(await session.ask("call.settle", settle).answer).toMatchObject({ ok: false });
  expect((await fixture.ambit("why", receipt)).out).not.toMatch(/unknown/);
});

test("an allowed call that is not carried out is reported as failed", async () => {
  const session = await open("keeper");
  expect((await session.do("mine", {}, { requests: [] })).said).toBe("not_available");
  await until(async () => (await fixture.log({ session: session.id, kind: "outcome" })).length === 1, "an outcome");
  const [outcome] = await fixture.log({ session: session.id, kind: "outcome" });
  expect(outcome?.outcome).toBe("failed not_available");
});

test("a program that ran when the daemon was killed is killed too, and its outcome is unknown", async () => {
  const session = await open("runner");
  const texts: string[] = [];
  const mark = `600.${process.pid}`;
  void session.running(["sh", "-c", `echo begun; exec sleep ${mark}`], fixture.project, {
    onText: (text) => texts.push(text),
  });
  // It prints this just before it executes the program that the test searches for.
  await until(() => texts.join("").includes("begun") && processesWith(mark).length > 0, "it runs");
  await restart();
  await until(() => processesWith(mark).length === 0, "it has ended");
  const [decision] = await fixture.log({ session: session.id, kind: "decision", outcome: "allow" });
  expect(decision?.tool).toBe("proc_exec");
  expect((await fixture.ambit("why", decision?.id ?? "")).out).toMatch(/outcome +unknown/);
  const shown = await fixture.ambit("log", "--agent", "runner", "--json");
  expect(shown.out).toContain(decision?.id ?? "nothing");
  expect((await (await open("runner")).run(["true"], fixture.project)).said).toBe("ran");
});

test("denials that were only counted are logged when the daemon stops", async () => {
  const session = await open("runner");
  const denials = 60;
  for (let call = 0; call < denials; call++)
    expect((await session.do("memory_get", { key: "a" })).said).toBe("capability_absent");
  expect((await fixture.ambit("daemon", "stop")).status).toBe(0);
  await fixture.startDaemon();
  const written = await fixture.log({ session: session.id, code: "capability_absent" });
  const told = written.map(({ kind, more }) => (kind === "suppressed" ? Number(more["times"]) : 1));
  expect(written.length).toBeLessThan(denials);
  expect(told.reduce((sum, times) => sum + times, 0)).toBe(denials);
});

test("a start writes no Node warning to the daemon's log, on any version", async () => {
  await open("runner");
  expect((await fixture.ambit("daemon", "stop")).status).toBe(0);
  await fixture.startDaemon();
  expect((await fixture.ambit("daemon", "logs")).out).not.toMatch(/Warning|--trace/);
});
