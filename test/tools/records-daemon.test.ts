// The records tools through the real daemon and the real command line: decided, logged, carried out, read by a person.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../house/until.ts";
import type { Caller } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scribe", [
    "records.read{classes=[note]}",
    "records.create{classes=[note],paths=[notes/**]}",
    "records.update{classes=[note],ask}",
    "records.delete{classes=[note],calls=1}",
  ]);
  fixture.agent("blind", ["records.create"]);
  await fixture.begin();
  caller = fixture.caller();
}, 120_000);
afterAll(() => fixture.remove());

const call = async (
  agent: string,
  tool: string,
  input: object,
): Promise<readonly [number | null, Record<string, unknown>]> => {
  const { status, out } = await fixture.ambit("call", agent, tool, JSON.stringify(input), "--json");
  return [status, JSON.parse(out) as Record<string, unknown>];
};

test("a record is written, found, read and shown to a person", async () => {
  const created = await call("scribe", "records_create", {
    id: "notes/a",
    class: "note",
    title: "Alpha",
    body: "apples\n",
  });
  expect(created).toMatchObject([0, { ok: true, result: { id: "notes/a" } }]);
  const text = readFileSync(join(fixture.project, ".ambit", "records", "notes", "a.md"), "utf8");
  expect(text).toBe('---\nclass: note\ntitle: "Alpha"\n---\n\napples\n');
  expect(await call("scribe", "records_search", { query: "appl" })).toMatchObject([
    0,
    { ok: true, result: { total: 1, records: [{ id: "notes/a", line: "apples" }] } },
  ]);
  const person = await fixture.ambit("records", "show", "notes/a");
  expect([person.status, person.out]).toEqual([0, expect.stringContaining("apples")]);
});

test("a search logs the records it showed as decided", async () => {
  const session = expectValue(await caller.open(fixture.project, "scribe"));
  expect((await session.do("records_search", { query: "apples" })).said).toBe("done");
  const [entry] = (await fixture.log({ kind: "decision" })).filter(({ tool }) => tool === "records_search").slice(-1);
  expect(entry?.verbs).toEqual(["tool.invoke", "records.read"]);
  expect(JSON.stringify(entry?.more)).toContain("records.read id=notes/a class=note");
});

test("denials have their code and need", async () => {
  expect(await call("scribe", "records_create", { id: "plans/a", class: "note" })).toMatchObject([
    10,
    { ok: false, code: "scope_violation", need: "records.create id=plans/a class=note" },
  ]);
  // An agent that may not read it does not learn whether it exists, nor its class.
  expect(await call("blind", "records_create", { id: "secrets/there", class: "secret" })).toMatchObject([
    0,
    { ok: true },
  ]);
  for (const id of ["secrets/there", "secrets/nope"])
    expect(await call("scribe", "records_read", { id })).toMatchObject([10, { need: `records.read id=${id}` }]);
  expect(await call("blind", "records_search", { query: "apples" })).toMatchObject([10, { code: "capability_absent" }]);
  expect(await call("scribe", "records_read", { id: "../../x" })).toMatchObject([10, { code: "invalid_input" }]);
});

test("an agent that may read no record is not shown the tools that read", async () => {
  const session = expectValue(await caller.open(fixture.project, "blind"));
  const answer = await session.ask("tools.list", {}).answer;
  const names = (expectValue(answer)["tools"] as readonly { readonly name: string }[]).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("records_"))).toEqual(["records_create"]);
});

test("an approval of a change is for that change", async () => {
  const session = expectValue(await caller.open(fixture.project, "scribe"));
  const read = await session.do("records_read", { id: "notes/a" });
  const { version } = read.value["result"] as { readonly version: string };
  const input = { id: "notes/a", version, body: "pears\n" };
  const waiting = session.do("records_update", input, { wait: 60_000 });
  await until(async () => (await fixture.approvals("pending")).length > 0, "a person is asked");
  const [approval] = await fixture.approvals("pending");
  expectValue(await fixture.approve(approval?.id ?? ""));
  expect((await waiting).said).toBe("done");
  expect((await session.do("records_update", input)).said).toBe("approval_required");
});

test("calls are counted, and a denial at the gate costs nothing", async () => {
  const session = expectValue(await caller.open(fixture.project, "scribe"));
  const read = await session.do("records_read", { id: "notes/a" });
  const { version } = read.value["result"] as { readonly version: string };
  expect((await session.do("records_delete", { id: "notes/none", version })).said).toBe("scope_violation");
  expect((await session.do("records_delete", { id: "notes/a", version })).said).toBe("done");
  expect((await session.do("records_read", { id: "notes/a" })).said).toBe("scope_violation");
});

test("a record written clean is still clean after a restart", async () => {
  expect((await call("scribe", "records_create", { id: "notes/kept", class: "note", body: "kept" }))[0]).toBe(0);
  await fixture.killDaemon();
  await fixture.startDaemon();
  const later = fixture.caller();
  const session = expectValue(await later.open(fixture.project, "scribe"));
  expect((await session.do("records_read", { id: "notes/kept" })).said).toBe("done");
  const isClean = async () => (await fixture.status()).sessions.find((one) => one.session === session.id)?.isClean;
  expect(await isClean()).toBe(true);
  fixture.write("project/.ambit/records/notes/by-hand.md", "---\nclass: note\n---\nby hand\n");
  expect((await session.do("records_read", { id: "notes/by-hand" })).said).toBe("done");
  expect(await isClean()).toBe(false);
});
