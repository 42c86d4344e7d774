// `ambit freeze`: nothing is decided, nothing runs, and a restart of the daemon does not lift it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../house/until.ts";
import { type Caller, outcomeOf, type Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("runner", ["proc.exec", "fs.read", "memory.read"], "sandbox: .\n");
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(): Promise<Session> {
  return expectValue(await caller.open(fixture.project, "runner"));
}

async function decided(session: Session): Promise<readonly string[]> {
  const read = await session.do("memory_get", { key: "a" });
  const permitted = await session.commit("memory_get", { key: "a" });
  const ran = await session.run(["true"], fixture.project);
  return [read.said, permitted.said, ran.said];
}

const NOTHING = ["frozen", "frozen", "frozen"];

test("running programs are killed, nothing is decided, a new daemon is frozen too, and thaw lifts it", async () => {
  const session = await open();
  expect(await decided(session)).toEqual(["done", "allowed", "ran"]);
  const texts: string[] = [];
  const running = session.running(["sh", "-c", "echo begun; exec sleep 60"], fixture.project, {
    onText: (text) => texts.push(text),
  });
  await until(() => texts.join("").includes("begun"), "it runs");
  const frozen = await fixture.ambit("freeze", "--json");
  expect(JSON.parse(frozen.out)).toMatchObject({ ok: true });
  const ended = outcomeOf(await running.answer);
  expect(ended.value["ending"]).not.toMatchObject({ kind: "exited", status: 0 });
  expect((await fixture.status()).sandboxes).toBe(0);
  expect(await decided(session)).toEqual(NOTHING);
  expect(await decided(await open())).toEqual(NOTHING);
  const denied = await fixture.log({ kind: "decision", outcome: "deny", session: session.id });
  expect(denied.map(({ code }) => code)).toContain("frozen");

  await fixture.killDaemon();
  await fixture.startDaemon();
  expect((await fixture.status()).isFrozen).toBe(true);
  expect(await decided(await open())).toEqual(NOTHING);
  expect((await fixture.ambit("exec", "runner", "--", "true")).status).toBe(125);

  expect((await fixture.ambit("thaw")).status).toBe(0);
  expect((await fixture.status()).isFrozen).toBe(false);
  expect(await decided(await open())).toEqual(["done", "allowed", "ran"]);
  const told = (await fixture.log({ kind: "control" })).map(({ outcome }) => outcome);
  expect(told).toEqual(expect.arrayContaining(["frozen", "thawed"]));
});

test("a queued call is not decided after a freeze", async () => {
  const session = await open();
  const calls = Array.from({ length: 50 }, () => session.do("memory_get", { key: "a" }));
  const frozen = fixture.control("freeze", {});
  const more = Array.from({ length: 50 }, () => session.do("memory_get", { key: "a" }));
  expectValue(await frozen);
  await Promise.all([...calls, ...more]);
  const entries = await fixture.log({});
  const at = entries.findLastIndex(({ kind, outcome }) => kind === "control" && outcome === "frozen");
  const after = entries.slice(at + 1).filter(({ kind, outcome }) => kind === "decision" && outcome === "allow");
  expect([at >= 0, after]).toEqual([true, []]);
  expectValue(await fixture.control("thaw", { presence: null }));
});
