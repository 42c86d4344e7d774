// One record is one agent, whatever path leads to it; a person's record takes precedence over an agent's; and a delegation keeps
// its user, its approvers and its label.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("counted", ["memory.write{keys=[**],calls=2}"]);
  fixture.agent("lead", ["agent.create", "agent.grant", "memory.read", "memory.write", "obs.append", "sandbox.exec"]);
  fixture.agent(
    "board",
    ["agent.create", "agent.grant", "memory.write{ask}"],
    "approvers: { need: 2, of: [ann, bob] }\n",
  );
  fixture.agent("kid", ["memory.read"]);
  fixture.user("ann", ["memory.read", "agent.create", "agent.grant"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

const SET = { key: "a", value: "1" };
const open = async (agent: string, more: OpenMore = {}, cwd = fixture.project): Promise<Session> =>
  expectValue(await caller.open(cwd, agent, more));

test("a link to the workspace, and the record's path from elsewhere, charge the same account", async () => {
  const link = join(fixture.base, "linked");
  symlinkSync(fixture.project, link);
  const record = join(".ambit", "agents", "counted.md");
  const said: string[] = [];
  for (const [cwd, agent] of [
    [fixture.project, "counted"],
    [link, "counted"],
    [fixture.project, join(link, record)],
    [link, join(fixture.project, record)],
    [fixture.project, "counted"],
  ] as const)
    said.push((await (await open(agent, {}, cwd)).do("memory_set", SET)).said);
  expect(said).toEqual(["done", "done", "budget_exhausted", "budget_exhausted", "budget_exhausted"]);
});

test("a delegation for a user stays below that user's ceiling, for every agent that uses it", async () => {
  const lead = await open("lead", { user: "ann" });
  const grants = ["memory.read", "memory.write"];
  expect((await lead.do("agent_create", { id: "made-for-ann", instructions: "x", grants })).said).not.toBe("done");
  const free = await open("lead");
  expect((await free.do("agent_create", { id: "made-without-user", instructions: "x", grants })).said).toBe("done");
  expect((await (await open("made-without-user")).do("memory_set", SET)).said).toBe("done");
});

test("two required approvers are required for the delegate as well", async () => {
  const board = await open("board");
  const grants = ["memory.write{ask}"];
  expect((await board.do("agent_create", { id: "clerk", instructions: "x", grants })).said).toBe("done");
  const asked = await (await open("clerk")).do("memory_set", SET);
  expect(asked.said).toBe("approval_required");
  const shown = expectValue(await fixture.control("approvals.show", { id: String(asked.value["approval"]) }));
  expect(shown.approval).toMatchObject({ need: 2, of: ["ann", "bob"] });
});

test("a delegation from an untrusted session makes the delegate's session untrusted", async () => {
  const lead = await open("lead");
  expectValue(await lead.ask("session.taint", { why: "a page" }).answer);
  expect((await lead.do("agent_grant", { agent: "kid", grants: ["memory.write"] })).said).toBe("done");
  const kid = await open("kid");
  await kid.do("memory_set", { key: "label", value: "x" });
  const read = await kid.do("memory_get", { key: "label" });
  expect(read.value["result"]).toMatchObject({ clean: false });
});

test("the id of a stopped agent that an agent created is free again, and a person's record takes precedence", async () => {
  const lead = await open("lead");
  const making = { id: "fresh", instructions: "x", grants: ["memory.read"] };
  expect((await lead.do("agent_create", making)).said).toBe("done");
  fixture.agent("fresh", ["memory.write"]);
  await fixture.trust();
  expect((await (await open("fresh")).do("memory_set", SET)).said).toBe("done");
});

test("a known secret is neither stored for an agent nor logged, whatever argument it is given as", async () => {
  const value = "S3cretValue-abcdef-123456";
  const binding = { tools: [], hosts: [], uses: null };
  expectValue(
    await fixture.control("secrets.set", {
      name: "planted",
      value,
      binding,
      username: null,
      isCanary: false,
      isRotation: false,
      presence: null,
    }),
  );
  const lead = await open("lead");
  expect((await lead.do("memory_set", { key: "a", value: `x ${value}` })).said).toBe("secret_refused");
  expect((await lead.do("obs_append", { text: Buffer.from(value).toString("base64") })).said).toBe("secret_refused");
  await lead.do(value, {});
  const entries = JSON.stringify(await fixture.log({ count: 1000 }));
  expect(entries).toContain("[REDACTED:planted]");
  expect(entries).not.toContain(value);
});
