// A hostile caller does not affect other callers.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("loud", ["memory.write{ask}"]);
  fixture.agent("quiet", ["memory.write{ask}", "memory.read"]);
  fixture.agent("lead", ["agent.grant", "memory.read"]);
  fixture.agent("aide", ["records.read"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

const open = async (agent: string, more: OpenMore = {}): Promise<Session> =>
  expectValue(await caller.open(fixture.project, agent, more));

test("requests too large to be shown are refused, and large ones do not hide those of other callers", async () => {
  const loud = await open("loud");
  const big = await loud.do("memory_set", { key: "big", value: "x".repeat(100_000) });
  expect([big.said, big.value["approval"]]).toEqual(["approval_unavailable", null]);
  for (let at = 0; at < 18; at++) await loud.do("memory_set", { key: `k${at}`, value: "x".repeat(60_000) });
  const quiet = await open("quiet");
  const asked = await quiet.do("memory_set", { key: "small", value: "x" });
  const listed = expectValue(await fixture.control("approvals.list", { states: ["pending"], count: 100 }));
  expect(listed.approvals.map(({ id }) => id)).toContain(asked.value["approval"]);
  expect(JSON.stringify(listed).length).toBeLessThan(200_000);
});

test("a fraction is refused, and the store keeps working", async () => {
  const quiet = await open("quiet");
  for (let at = 0; at < 20; at++) {
    const listed = await fixture.control("approvals.list", { states: ["pending"], count: 1.5 });
    expect(listed).toMatchObject({ ok: false, code: "invalid_input" });
    expect((await quiet.do("memory_get", { key: "a" })).said).toBe("done");
  }
});

test("a freeze right after a thaw takes effect", async () => {
  const quiet = await open("quiet");
  expectValue(await fixture.control("freeze", {}));
  const [, frozen] = await Promise.all([fixture.control("thaw", { presence: null }), fixture.control("freeze", {})]);
  expectValue(frozen);
  expect((await quiet.do("memory_get", { key: "a" })).said).toBe("frozen");
  expectValue(await fixture.control("thaw", { presence: null }));
  expect((await quiet.do("memory_get", { key: "a" })).said).toBe("done");
});

test("a grant that a session pledged to use once cannot be delegated without a budget", async () => {
  const lead = await open("lead");
  expectValue(await lead.pledge("agent.grant", "memory.read{keys=[a],calls=1}", "tool.invoke{tools=[**]}"));
  const granted = await lead.do("agent_grant", { agent: "aide", grants: ["memory.read{keys=[a]}"] });
  expect(granted.said).toBe("exceeds_grantor_authority");
});
