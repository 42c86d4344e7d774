// True answers: what people and models are told about freezes, revocations, missing tools, files and daemons.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { root } from "./ambit.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["memory.read", "memory.write", "fs.read"], "sandbox: .\n");
  fixture.agent("lead", ["agent.grant", "agent.create", "net.get{hosts=[*.github.com]}"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

function json(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

describe("a person freezes everything", () => {
  test("calls, programs and unknown tools all say `frozen`, and `thaw` ends it", async () => {
    expect((await fixture.ambit("freeze")).status).toBe(0);
    const called = await fixture.ambit("call", "scout", "memory_get", '{"key": "a"}', "--json");
    expect(json(called.out)).toMatchObject({ ok: false, code: "frozen" });
    expect((await fixture.ambit("call", "scout", "no_such_tool", "{}", "--json")).out).toContain('"frozen"');
    expect((await fixture.ambit("exec", "scout", "--json", "--", "ls")).out).toContain('"code":"frozen"');
    expect((await fixture.ambitAtTerminal("thaw")).status).toBe(0);
    expect((await fixture.ambit("call", "scout", "memory_get", '{"key": "a"}')).out).not.toContain("frozen");
  });
});

describe("a person revokes a delegation", () => {
  test("the next call says `revoked` and what was revoked", async () => {
    const lead = expectValue(await caller.open(fixture.project, "lead"));
    const given1 = await lead.do("agent_grant", { agent: "scout", grants: ["net.get{hosts=[api.github.com]}"] });
    const { link } = given1.value["result"] as { readonly link: string };
    expect((await fixture.ambit("agents", "revoke", "--link", link, "--yes")).status).toBe(0);
    const scout = expectValue(await caller.open(fixture.project, "scout"));
    const denied = await scout.do("web_fetch", { url: "https://api.github.com/" });
    expect(denied.value).toMatchObject({
      code: "revoked",
      reason: `lead delegated net.get{hosts=[api.github.com]} (${link}), which was revoked`,
    });
    // One character away: what was never delegated was not revoked either.
    expect((await scout.do("web_fetch", { url: "https://apj.github.com/" })).value).toMatchObject({
      code: "capability_absent",
    });
  });
});

describe("a person calls a tool whose arguments are long", () => {
  const value = "x".repeat(200_000);
  test("from a file, and from standard input", async () => {
    const file = join(fixture.base, "arguments.json");
    writeFileSync(file, JSON.stringify({ key: "long", value }));
    expect((await fixture.ambit("call", "scout", "memory_set", "--input", file)).status).toBe(0);
    const piped = spawnSync(process.execPath, [join(root, "bin", "ambit"), "call", "scout", "memory_set", "-"], {
      cwd: fixture.project,
      input: JSON.stringify({ key: "long", value }),
      env: { ...process.env, ...fixture.environment },
    });
    expect([piped.status, String(piped.stderr)]).toEqual([0, ""]);
    const read = await fixture.ambit("call", "scout", "memory_get", '{"key": "long"}', "--json");
    expect(read.out).toContain(value);
  });

  test.each([
    [["--input", "/nowhere.json"], "cannot read /nowhere.json (ENOENT)"],
    [["--input", "/"], "not a regular file"],
    [["{}", "--input", "/nowhere.json"], "given twice"],
  ])("bad input is a usage error: %j", async (words, message) => {
    const ran = await fixture.ambit("call", "scout", "memory_set", ...words);
    expect(ran.status).toBe(2);
    expect(ran.out).toContain(message);
  });
});

describe("a person looks up a tool or a verb", () => {
  test("`tools show` prints the input and an example that the tool accepts", async () => {
    const listed = json((await fixture.ambit("tools", "list", "--json")).out);
    const tools = listed["tools"] as readonly { readonly name: string; readonly example: object | null }[];
    expect(tools.length).toBeGreaterThan(20);
    expect(tools.filter(({ example }) => example === null)).toEqual([]);
    const shown = await fixture.ambit("tools", "show", "fs_read");
    expect(shown.out).toMatch(/^fs_read {2}medium risk {2}builtin\n/);
    expect(shown.out).toMatch(/^ {2}path +required {2}string/m);
    expect(shown.out).toContain(`ambit call scout fs_read '{"path":"README.md"}'`);
    expect((await fixture.ambit("tools", "show", "fs_reed")).out).toContain("did you mean fs_read?");
  });

  test("`explain` alone lists the catalog, consequential verbs first", async () => {
    const { out, status } = await fixture.ambit("explain");
    expect(status).toBe(0);
    expect(out.indexOf("fs.write")).toBeLessThan(out.indexOf("fs.read"));
    expect(out.indexOf("fs.read")).toBeLessThan(out.indexOf("records.read"));
    expect(out).toContain("capability_absent");
    expect(json((await fixture.ambit("explain", "--json")).out)["verbs"]).toHaveLength(
      out.split("\n").filter((line) => /^(?:high|medium|low) /.test(line)).length,
    );
  });
});

describe("a person asks what an agent holds now", () => {
  test("`can`, `capabilities` and `show` know delegations, created agents and freezes", async () => {
    const lead = expectValue(await caller.open(fixture.project, "lead"));
    const grants = ["net.get{hosts=[api.github.com]}"];
    expect((await lead.do("agent_grant", { agent: "scout", grants })).said).toBe("done");
    expect((await lead.do("agent_create", { id: "helper", instructions: "help", grants })).said).toBe("done");
    const can = (agent: string, ...more: readonly string[]): Promise<{ status: number | null; out: string }> =>
      fixture.ambit("can", agent, "net.get", "https://api.github.com/", ...more);
    expect((await can("scout")).out).toMatch(
      /^allow scout .*\n.*the record of lead\)\n.*the delegation l_\w+ from lead\)/,
    );
    expect((await can("helper")).status).toBe(0);
    const unread = await fixture.ambit("can", "helper", "no-such-verb");
    expect([unread.status, unread.out]).toEqual([2, expect.stringContaining('"no-such-verb" is not a verb')]);
    expect((await can("helper", "--pledge", "net.get{hosts=[other.com]}")).out).toContain("denied by the pledge");
    const shown = (await fixture.ambit("agents", "capabilities", "scout")).out;
    expect(shown).toMatch(/delegated by lead {2}l_\w+\n● net\.get\{hosts=\[api\.github\.com\]\}/);
    expect((await fixture.ambit("agents", "show", "helper")).out).toContain("created by another agent");
    expect((await fixture.ambit("freeze")).status).toBe(0);
    expect((await can("scout")).out).toMatch(/^deny {2}scout .* frozen\n/);
    expect((await fixture.ambit("agents", "capabilities", "scout")).out).toContain("frozen: ");
    expect((await fixture.ambitAtTerminal("thaw")).status).toBe(0);
  });

  test("untrusted and expired grants are marked", async () => {
    fixture.agent("late", ["memory.read{expires=2020-01-01T00:00:00Z}"]);
    await fixture.trust();
    fixture.agent("late", ["memory.read{expires=2020-01-01T00:00:00Z}", "memory.write"]);
    const { out } = await fixture.ambit("agents", "capabilities", "late");
    expect(out).toMatch(/memory\.read\S* {2}\(expired\)/);
    expect(out).toContain("memory.write  (no effect until you run: ambit trust)");
  });

  test("for a user it decides as the call would, and names the user's record", async () => {
    fixture.user("ann", ["net.get{hosts=[other.com]}"]);
    const { out, status } = await fixture.ambit("can", "scout", "memory.read", "a", "--user", "ann");
    expect([status, out.includes("denied by the record of the user ann")]).toEqual([10, true]);
    expect((await fixture.ambit("call", "scout", "memory_get", '{"key": "a"}', "--user", "ann")).status).toBe(10);
    const why = (await fixture.ambit("why")).out;
    expect(why).toContain("denied by the record of the user ann");
    expect(why).not.toContain("agents grant --from");
    expect((await fixture.ambit("can", "scout", "memory.read", "a")).status).toBe(0);
  });
});

test("`why` and `grant --from` say that no grant helps for `.ambit`", async () => {
  const session = expectValue(await caller.open(fixture.project, "scout"));
  const denied = await session.do("fs_write", { path: "/tmp/elsewhere/.ambit/agents/x.md", content: "" });
  const id = String(denied.value["id"]);
  expect((await fixture.ambit("why", id)).out).toContain("no grant allows this: tools never change .ambit");
  const granted = await fixture.ambit("agents", "grant", "--from", id, "--yes");
  expect([granted.status, granted.out.includes("no grant allows this")]).toEqual([1, true]);
});

test("a missing file, a failing tool, an ended session and a missing daemon are four codes", async () => {
  fixture.write(
    "project/.ambit/tools/broken.mjs",
    'export const tool = { name: "broken", description: "Fails.", capabilities: {}, input: { type: "object" }, execute: () => { throw new Error("no"); } };\n',
  );
  fixture.agent("four", ["fs.read", "tool.invoke{tools=[builtin:**,broken]}"], "sandbox: .\n");
  await fixture.trust();
  const session = expectValue(await caller.open(fixture.project, "four"));
  const said = async (tool: string, input: object): Promise<string> => (await session.do(tool, input as never)).said;
  expect(await said("fs_read", { path: "nowhere.txt" })).toBe("not_found");
  expect(await said("broken", {})).toBe("execution_failed");
  expect((await fixture.ambit("stop", "four")).status).toBe(0);
  expect(await said("fs_read", { path: "nowhere.txt" })).toBe("unknown_session");
  await fixture.killDaemon();
  expect(await said("fs_read", { path: "nowhere.txt" })).toBe("no_daemon");
});
