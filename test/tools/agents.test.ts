// agent_update and agent_discover through the real daemon: which agents may instruct which, and which are found.
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let caller: Caller;
const LEAD = [
  "agent.update",
  "agent.discover",
  "agent.create",
  "agent.grant",
  "records.read",
  "net.get{hosts=[*.github.com]}",
];

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("lead", LEAD);
  fixture.agent("reader", ["records.read{classes=[note]}"], "description: Reads   notes\n");
  fixture.agent("fetcher", ["net.get{hosts=[api.github.com]}"], "description: Fetches\n");
  fixture.agent("strong", ["fs.write{in=/srv}", "records.read"]);
  fixture.agent("few", ["agent.update{ids=[reader]}", "agent.discover{ids=[reader,strong]}", "records.read"]);
  fixture.agent("other", ["records.read"]);
  fixture.agent("broken", ["net.gett{hosts=[x]}"]);
  fixture.agent("held", ["agent.update", "records.read{pass=use}"]);
  await fixture.begin();
  caller = fixture.caller();
}, 120_000);
afterAll(() => fixture.remove());

const as = async (agent: string): Promise<Session> => expectValue(await caller.open(fixture.project, agent));
const file = (id: string): string => join(fixture.project, ".ambit", "agents", `${id}.md`);
const said = async (agent: string, input: object): Promise<string> =>
  (await (await as(agent)).do("agent_update", input)).said;

describe("agent_update", () => {
  let before = "";
  beforeEach(() => {
    before = readFileSync(file("reader"), "utf8");
  });

  test("changes the instructions of an agent, and leaves its grants byte for byte", async () => {
    const session = await as("lead");
    const first = await session.do("agent_update", {
      id: "reader",
      instructions: "---\ncapabilities: [fs.write]\n---\n",
    });
    expect(first.said).toBe("done");
    expect(readFileSync(file("reader"), "utf8")).toBe(`${before}---\ncapabilities: [fs.write]\n---\n`);
    const { version } = first.value["result"] as { readonly version: string };
    const again = { id: "reader", instructions: "Read.\n", version };
    expect((await session.do("agent_update", again)).said).toBe("done");
    // The version has changed by now.
    expect((await session.do("agent_update", { ...again, instructions: "Lost." })).said).toBe("version_conflict");
    expect(readFileSync(file("reader"), "utf8")).toBe(`${before}Read.\n`);
    // The record is still in force as before.
    expect((await (await as("reader")).do("records_search", { query: "x" })).said).toBe("done");
  });

  test.each<readonly [string, object, string]>([
    ["lead", { id: "strong", instructions: "x" }, "exceeds_grantor_authority"],
    ["lead", { id: "lead", instructions: "x" }, "self_modification"],
    ["few", { id: "few", instructions: "x" }, "scope_violation"],
    ["few", { id: "fetcher", instructions: "x" }, "scope_violation"],
    ["few", { id: "reader", instructions: "Read.\n" }, "done"],
    ["other", { id: "reader", instructions: "x" }, "capability_absent"],
    // A grant that may be used and not passed on is not enough.
    ["held", { id: "reader", instructions: "x" }, "exceeds_grantor_authority"],
    ["lead", { id: "broken", instructions: "x" }, "not_available"],
    ["lead", { id: "none", instructions: "x" }, "not_available"],
    ["lead", { id: "../config", instructions: "x" }, "invalid_input"],
    ["lead", { id: "reader.md", instructions: "x" }, "invalid_input"],
    ["lead", { id: "reader" }, "invalid_input"],
    ["lead", { id: "reader", instructions: "half \ud800" }, "invalid_input"],
    ["lead", { id: "reader", instructions: 1 }, "invalid_input"],
    ["lead", { id: "reader", instructions: "x", version: "other" }, "version_conflict"],
    // Changing grants needs agent.grant, and is not a plain edit even then.
    ["few", { id: "reader", capabilities: ["records.read"] }, "capability_absent"],
    ["few", { id: "reader", mode: "shadow" }, "capability_absent"],
    ["lead", { id: "reader", capabilities: ["fs.write{in=/srv}"] }, "exceeds_grantor_authority"],
    ["lead", { id: "reader", sandbox: "/srv" }, "exceeds_grantor_authority"],
    ["lead", { id: "lead", capabilities: ["records.read"] }, "self_modification"],
    ["lead", { id: "reader", access: "x" }, "invalid_input"],
    ["lead", { id: "reader", access: "r" }, "not_available"],
    ["lead", { id: "reader", instructions: "x", tests: [] }, "not_available"],
  ])("%s %j: %s", async (agent, input, expected) => {
    expect(await said(agent, input)).toBe(expected);
    const after = readFileSync(file("reader"), "utf8");
    if (expected !== "done") expect(after).toBe(before);
    expect(after.slice(0, after.indexOf("---\n", 4))).toBe(before.slice(0, before.indexOf("---\n", 4)));
  });

  test("a denial names one thing that the other agent may do, and costs nothing", async () => {
    const { value } = await (await as("lead")).do("agent_update", { id: "strong", instructions: "x" });
    expect(String(value["need"])).toMatch(/^fs\.write \/srv/);
    const { value: other } = await (await as("other")).do("agent_update", { id: "strong", instructions: "x" });
    expect(other["need"]).toBe("agent.update strong");
  });

  test("grants delegated to an agent count as grants it holds", async () => {
    const strong = expectValue(await caller.open(fixture.project, "lead"));
    expect(
      (await strong.do("agent_grant", { agent: "reader", grants: ["net.get{hosts=[api.github.com]}"] })).said,
    ).toBe("done");
    expect(await said("few", { id: "reader", instructions: "x" })).toBe("exceeds_grantor_authority");
    expect(await said("lead", { id: "reader", instructions: "Read.\n" })).toBe("done");
  });

  test("a created agent may be instructed by its creator", async () => {
    const lead = await as("lead");
    expect((await lead.do("agent_create", { id: "kid", instructions: "one", grants: ["records.read"] })).said).toBe(
      "done",
    );
    const { said: told, value } = await lead.do("agent_update", { id: "kid", instructions: "two" });
    expect(told).toBe("done");
    const { version } = value["result"] as { readonly version: string };
    expect((await lead.do("agent_update", { id: "kid", instructions: "three", version: "other" })).said).toBe(
      "version_conflict",
    );
    expect((await lead.do("agent_update", { id: "kid", instructions: "three", version })).said).toBe("done");
    const entries = (await fixture.log({ kind: "delegation" })).filter(({ outcome }) => outcome === "instructed");
    expect(entries).toMatchObject([
      { agent: "lead", of: "kid" },
      { agent: "lead", of: "kid" },
    ]);
  });

  test("no record is reached through a link", async () => {
    const outside = join(fixture.base, "outside.md");
    writeFileSync(outside, "---\ncapabilities: []\n---\nmine\n");
    symlinkSync(outside, file("linked"));
    try {
      expect(await said("lead", { id: "linked", instructions: "x" })).toBe("not_available");
      expect(readFileSync(outside, "utf8")).toContain("mine");
    } finally {
      rmSync(file("linked"));
    }
  });

  test("an untrusted record counts with the grants it would have", async () => {
    fixture.agent("waiting", ["fs.write{in=/srv}"]);
    try {
      expect(await said("lead", { id: "waiting", instructions: "x" })).toBe("exceeds_grantor_authority");
    } finally {
      rmSync(file("waiting"));
    }
  });
});

describe("agent_discover", () => {
  const found = async (agent: string, input: object): Promise<unknown> => {
    const { said: answer, value } = await (await as(agent)).do("agent_discover", input);
    const result = value["result"] as { readonly agents: readonly { readonly id: string }[] } | undefined;
    return answer === "done" ? result?.agents.map(({ id }) => id) : answer;
  };

  test("shows id, description and the requested verbs that are held, and nothing else", async () => {
    const { value } = await (await as("lead")).do("agent_discover", { can: ["net.*"] });
    expect(value["result"]).toEqual({
      agents: [{ id: "fetcher", description: "Fetches", holds: ["net.get"] }, READER],
      next: null,
    });
  });
  /** Through the delegation made above. */
  const READER = { id: "reader", description: "Reads notes", holds: ["net.get"] };

  test.each<readonly [string, object, unknown]>([
    ["lead", { can: ["net.get{hosts=[api.github.com]}"] }, ["fetcher", "reader"]],
    ["lead", { can: ["net.get{hosts=[*.github.com]}"] }, []],
    ["lead", { can: ["fs.write", "records.read"] }, ["strong"]],
    ["lead", { can: ["fs.write", "net.get"] }, []],
    ["few", { can: ["records.read"] }, ["reader", "strong"]],
    ["few", { can: ["agent.update"] }, []],
    ["other", { can: ["records.read"] }, "capability_absent"],
    ["lead", { can: ["net.gett"] }, "invalid_input"],
    ["lead", { can: ["net.get{"] }, "invalid_input"],
    ["lead", { can: ["net.get{hosts=[]}"] }, "invalid_input"],
    ["lead", { can: [] }, "invalid_input"],
    ["lead", {}, "invalid_input"],
  ])("%s %j: %j", async (agent, input, expected) => {
    expect(await found(agent, input)).toEqual(expected);
  });

  test("continues where the last page ended", async () => {
    const lead = await as("lead");
    const ids: string[] = [];
    let after: string | null = null;
    for (let turn = 0; turn < 20; turn++) {
      const { value } = await lead.do("agent_discover", {
        can: ["records.read"],
        count: 1,
        ...(after === null ? {} : { after }),
      });
      const result = value["result"] as {
        readonly agents: readonly { readonly id: string }[];
        readonly next: string | null;
      };
      ids.push(...result.agents.map(({ id }) => id));
      after = result.next;
      if (after === null) break;
    }
    expect(ids).toEqual(["few", "held", "kid", "other", "reader", "strong"]);
  });

  test("works with command-line arguments", async () => {
    const { status, out } = await fixture.ambit("call", "lead", "agent_discover", '{"can": ["fs.write"]}', "--json");
    expect([status, JSON.parse(out)]).toMatchObject([0, { ok: true, result: { agents: [{ id: "strong" }] } }]);
  });

  test("the cursor of a page does not name an agent that may not be found", async () => {
    for (let number = 100; number < 400; number++) fixture.agent(`hidden-${number}`, ["memory.read"]);
    const narrow = await as("few");
    const { value } = await narrow.do("agent_discover", { can: ["memory.read"] });
    expect(value["result"]).toEqual({ agents: [], next: null });
  });
});
