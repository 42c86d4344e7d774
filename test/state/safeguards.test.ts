// Limits that no delegation, missing user, unmet condition or look-alike id can bypass.
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

const PASSING = ["agent.grant", "agent.create"];

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("boss", ["memory.read", "memory.write", "obs.append", "fs.write{in=.}", ...PASSING], "sandbox: .\n");
  fixture.agent("limited", ["memory.read{keys=[own]}", "tool.invoke{tools=[memory_get]}"]);
  fixture.agent("narrow-maker", [
    "memory.read",
    "memory.write",
    "tool.invoke{tools=[agent_create,memory_get]}",
    ...PASSING,
  ]);
  fixture.agent("middle", ["obs.query", ...PASSING]);
  fixture.agent("clean", ["memory.read", "memory.write{clean}", "memory.write{keys=[plain]}", "obs.append"]);
  fixture.agent("counted", ["memory.read{calls=1}"]);
  fixture.agent("ended", ["memory.read{expires=2020-01-01T00:00:00Z}"]);
  fixture.agent("plain", ["memory.read{keys=[a]}"]);
  fixture.agent("asking", ["memory.write{ask}"]);
  fixture.user("ann", ["memory.read{keys=[a]}", ...PASSING]);
  fixture.user("ben", ["memory.read{keys=[c]}", ...PASSING]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(agent: string, more: OpenMore = {}): Promise<Session> {
  return expectValue(await caller.open(fixture.project, agent, more));
}

async function reads(session: Session, key: string): Promise<string> {
  return (await session.do("memory_get", { key })).said;
}

async function writes(session: Session, key: string): Promise<string> {
  return (await session.do("memory_set", { key, value: "x" })).said;
}

describe("a delegation", () => {
  test("adds its grants, and no tool, to an agent with a record", async () => {
    const boss = await open("boss");
    const done = await boss.do("agent_grant", { agent: "limited", grants: ["memory.read{keys=[k]}"] });
    expect(done.value["result"]).toMatchObject({ grants: ["memory.read{keys=[k]}"] });
    const limited = await open("limited");
    expect([await reads(limited, "k"), await reads(limited, "own")]).toEqual(["done", "done"]);
    // With any other grant it still calls only the tools of its record.
    const more = ["memory.write", `fs.write{in=${fixture.project}}`];
    expect((await boss.do("agent_grant", { agent: "limited", grants: more })).said).toBe("done");
    for (const [tool, input] of [
      ["memory_set", { key: "k", value: "x" }],
      ["fs_write", { path: "x.txt", text: "x" }],
      ["shell", { command: "id" }],
      ["memory_list", {}],
    ] as const)
      expect([tool, (await limited.do(tool, input)).said]).toEqual([tool, "scope_violation"]);
    const tools = ["tool.invoke{tools=[memory_set]}"];
    expect((await boss.do("agent_grant", { agent: "limited", grants: tools })).said).toBe("done");
    expect(await writes(limited, "k")).toBe("done");
  });

  test("by a token adds no tool either", async () => {
    const { value } = await (await open("boss")).do("agent_grant", {
      agent: "limited",
      grants: ["obs.append"],
      token: true,
    });
    const token = String((value["result"] as Record<string, unknown>)["token"]);
    const limited = await open("limited", { token });
    expect((await limited.do("obs_append", { text: "x" })).said).toBe("scope_violation");
  });

  test("that creates an agent gives it its creator's own tools, and never more", async () => {
    const maker = await open("narrow-maker");
    const grants = ["memory.read", "memory.write"];
    const made = await maker.do("agent_create", { id: "narrow-child", instructions: "x", grants });
    expect(made.said).toBe("done");
    const child = await open("narrow-child");
    expect([await reads(child, "k"), await writes(child, "k")]).toEqual(["done", "scope_violation"]);
    // The creator's pledges in this session apply to the created agent.
    const pledged = await open("boss", {
      pledge: ["memory.read", ...PASSING, "tool.invoke{tools=[agent_create,memory_list]}"],
    });
    expect((await pledged.do("agent_create", { id: "pledged", instructions: "x", grants: ["memory.read"] })).said).toBe(
      "done",
    );
    expect(await reads(await open("pledged"), "k")).toBe("scope_violation");
    const list = ["memory.read", "tool.invoke{tools=[memory_set]}"];
    expect((await maker.do("agent_create", { id: "more", instructions: "x", grants: list })).said).toBe(
      "exceeds_grantor_authority",
    );
  });

  test("of grants its creator was delegated gives the tools of the creator's record, and ends with it", async () => {
    const boss = await open("boss");
    expect((await boss.do("agent_grant", { agent: "middle", grants: ["memory.read{keys=[m]}"] })).said).toBe("done");
    const middle = await open("middle");
    const made = await middle.do("agent_create", { id: "low", instructions: "x", grants: ["memory.read{keys=[m]}"] });
    expect(made.said).toBe("done");
    const low = await open("low");
    expect(await reads(low, "m")).toBe("done");
    const { link } = made.value["result"] as { readonly link: string };
    expectValue(await fixture.control("links.revoke", { id: link, kill: false }));
    // Not even a tool that needs no other grant.
    expect(await reads(low, "m")).toBe("capability_absent");
  });

  test("loses its creator's tools once a person writes a record for the agent", async () => {
    const boss = await open("boss");
    const grants = ["memory.read{keys=[k]}", "memory.write{keys=[k]}"];
    expect((await boss.do("agent_create", { id: "written-later", instructions: "x", grants })).said).toBe("done");
    const session = await open("written-later");
    expect(await writes(session, "k")).toBe("done");
    fixture.agent("written-later", ["memory.read{keys=[own]}", "tool.invoke{tools=[memory_get]}"]);
    await fixture.trust();
    await until(async () => (await reads(session, "own")) === "done", "the record counts");
    expect([await writes(session, "k"), await reads(session, "k")]).toEqual(["scope_violation", "done"]);
  });
});

test("a broken configuration denies every call of an open session, and counts again once it is corrected", async () => {
  const session = await open("boss");
  const both = async (): Promise<readonly string[]> => [await reads(session, "a"), await reads(session, "b")];
  const write = (text: string): void => fixture.write("config/ambit/config.yml", text);
  // The daemon reads twice a second whether a copy of the log has to be kept; a broken file leaves that unknown.
  const counted = (): Promise<void> => until(async () => (await reads(session, "a")) === "done", "the file counts");
  expect(await both()).toEqual(["done", "done"]);
  const ceiling = 'ceiling: ["memory.read{keys=[a]}"]\n';
  try {
    write(ceiling);
    expect(await both()).toEqual(["done", "scope_violation"]);
    for (const broken of ['ceiling: ["memory.read{keys=[a]}"\n', "cieling: []\n", "\0\u0001", "- a list\n"]) {
      write(broken);
      expect([broken, await both()]).toEqual([broken, ["capability_absent", "capability_absent"]]);
      write(ceiling);
      await counted();
      expect(await both()).toEqual(["done", "scope_violation"]);
    }
  } finally {
    rmSync(join(fixture.config, "config.yml"));
    await counted();
  }
  expect(await both()).toEqual(["done", "done"]);
});

describe("a user whose record was deleted", () => {
  const path = (name: string): string => join(fixture.config, "users", `${name}.md`);

  test("is denied, in open sessions and delegations, until the record is back", async () => {
    const session = await open("boss", { user: "ann" });
    const grants = ["memory.read{keys=[a]}"];
    const made = await session.do("agent_create", { id: "of-ann", instructions: "x", grants });
    expect(made.said).toBe("done");
    const below = await open("of-ann", { user: "ann" });
    expect([await reads(session, "a"), await reads(session, "b")]).toEqual(["done", "scope_violation"]);
    for (const away of ["deleted", "renamed", "capitals"]) {
      if (away === "deleted") rmSync(path("ann"));
      else renameSync(path("ann"), away === "renamed" ? path("anna") : path("Ann"));
      expect([away, await reads(session, "a"), await reads(session, "b")]).toEqual([
        away,
        "unknown_user",
        "unknown_user",
      ]);
      expect(await reads(below, "a")).toBe("unknown_user");
      const { entries } = expectValue(await fixture.control("log.query", { code: "unknown_user", count: 1 }));
      expect(entries[0]?.entry).toMatchObject({ kind: "decision", outcome: "deny", user: "ann" });
      rmSync(path("anna"), { force: true });
      rmSync(path("Ann"), { force: true });
      fixture.user("ann", ["memory.read{keys=[a]}", ...PASSING]);
      expect(await reads(session, "a")).toBe("done");
    }
  });

  test("invalidates what was delegated on their behalf", async () => {
    const session = await open("boss", { user: "ben" });
    const given = await session.do("agent_grant", { agent: "plain", grants: ["memory.read{keys=[c]}"] });
    expect(given.said).toBe("done");
    const plain = await open("plain");
    expect(await reads(plain, "c")).toBe("done");
    rmSync(path("ben"));
    expect([await reads(plain, "c"), await reads(plain, "a")]).toEqual(["scope_violation", "done"]);
  });
});

describe("a tainted session", () => {
  test("is reported as tainted, and no grant is proposed that drops the condition", async () => {
    const session = await open("clean");
    expect(await writes(session, "k")).toBe("done");
    const { receipt } = (await session.commit("memory_get", { key: "k" })).value;
    const settled = { receipt, ended: "done", milliseconds: 1, isUntrusted: true };
    expect((await session.ask("call.settle", settled).answer).ok).toBe(true);
    const { said, value } = await session.do("memory_set", { key: "k", value: "x" });
    expect(said).toBe("untrusted_content");
    expect(value["reason"]).toMatch(/has read untrusted content/);
    expect(await writes(session, "plain")).toBe("done");
    const { entry } = expectValue(await fixture.control("log.entry", { id: String(value["id"]) })).entry;
    expect(entry.more["suggest"]).toBeNull();
    const why = await fixture.ambit("why", entry.id);
    expect(why.out).toMatch(/untrusted_content/);
    expect(why.out).not.toMatch(/grant --from/);
    const grant = await fixture.ambit("agents", "grant", "--from", entry.id, "--yes");
    expect([grant.status, grant.out]).toEqual([1, expect.stringMatching(/no grant is proposed/)]);
  });

  test.each([
    ["counted", "budget_exhausted"],
    ["ended", "expired"],
  ])("nor for %s: %s", async (agent, code) => {
    const session = await open(agent);
    await session.do("memory_get", { key: "a" });
    const { said, value } = await session.do("memory_get", { key: "a" });
    expect(said).toBe(code);
    const { entry } = expectValue(await fixture.control("log.entry", { id: String(value["id"]) })).entry;
    expect(entry.more["suggest"]).toBeNull();
    const grant = await fixture.ambit("agents", "grant", "--from", entry.id, "--yes");
    expect([grant.status, grant.out]).toEqual([1, expect.stringMatching(/no grant is proposed/)]);
  });
});

describe("a refused approval", () => {
  test("can be reopened by a person, and is pending again", async () => {
    const session = await open("asking");
    const first = await session.do("memory_set", { key: "k", value: "x" });
    const id = String(first.value["approval"]);
    expectValue(await fixture.control("approvals.refuse", { id, reason: "no" }));
    expect((await session.do("memory_set", { key: "k", value: "x" })).said).toBe("approval_refused");
    const reopened = await fixture.ambit("approvals", "reopen", id);
    expect([reopened.status, reopened.out]).toEqual([0, expect.stringMatching(/pending again/)]);
    expect((await session.do("memory_set", { key: "k", value: "x" })).said).toBe("approval_required");
    expect((await fixture.ambit("approvals", "reopen", id)).status).toBe(1);
    expectValue(await fixture.approve(id));
    expect((await session.do("memory_set", { key: "k", value: "x" })).said).toBe("done");
    // Not by a process of a session.
    expectValue(await fixture.control("approvals.refuse", { id: await again(session), reason: "no" }));
    const own = await caller.spawn(fixture.project, ...fixture.words("approvals", "reopen", id));
    expect(own.status).not.toBe(0);
  });

  async function again(session: Session): Promise<string> {
    const { value } = await session.do("memory_set", { key: "other", value: "x" });
    return String(value["approval"]);
  }
});

describe("a look-alike id", () => {
  test.each(["scout ", "sco\u200but", "-y", "anonymous", "Anonymous"])("%j cannot be created", async (id) => {
    const boss = await open("boss");
    const grants = ["memory.read{keys=[a]}"];
    expect((await boss.do("agent_create", { id, instructions: "x", grants })).said).toBe("invalid_input");
    expect((await boss.do("agent_grant", { agent: id, grants })).said).toBe("invalid_input");
  });

  test("in other letter case is neither created nor read", async () => {
    const boss = await open("boss");
    const grants = ["memory.read{keys=[a]}"];
    expect(await boss.do("agent_create", { id: "Plain", instructions: "x", grants })).toMatchObject({
      said: "invalid_input",
    });
    fixture.agent("Counted", ["memory.read"]);
    await until(async () => !(await caller.open(fixture.project, "counted")).ok, "neither is read");
    expect(await caller.open(fixture.project, "Counted")).toMatchObject({ ok: false, code: "unknown_agent" });
    rmSync(join(fixture.project, ".ambit", "agents", "Counted.md"));
    await until(async () => (await caller.open(fixture.project, "counted")).ok, "it is told apart again");
  });

  test.each([["-y"], ["sco\u200but"], ["anonymous"], ["scout "]])("as a file name grants nothing: %j", async (id) => {
    fixture.agent(id, ["memory.read"]);
    const shown = await fixture.ambit("trust", "--yes");
    expect(shown.out).toMatch(/rename the file/);
    const opened = await caller.open(fixture.project, id);
    expect(opened.ok ? await reads(opened.value, "a") : "refused").not.toBe("done");
    rmSync(join(fixture.project, ".ambit", "agents", `${id}.md`));
  });
});

describe("users: required", () => {
  test("denies sessions of unknown users or none, and logs that; an untrusted edit does not lift it", async () => {
    fixture.write("project/.ambit/config.yml", "users: required\n");
    await fixture.trust();
    await until(async () => !(await caller.open(fixture.project, "plain")).ok, "it holds");
    expect(await caller.open(fixture.project, "plain")).toMatchObject({ ok: false, code: "unknown_user" });
    expect(await caller.open(fixture.project, "plain", { user: "mallory" })).toMatchObject({
      ok: false,
      code: "unknown_user",
    });
    const known = await open("plain", { user: "ann" });
    expect(await reads(known, "a")).toBe("done");
    const refused = (await fixture.log({ kind: "session" })).filter(({ code }) => code === "unknown_user");
    expect(refused.map(({ user, outcome }) => [user, outcome])).toEqual(
      expect.arrayContaining([
        [null, "deny"],
        ["mallory", "deny"],
      ]),
    );
    const told = await fixture.ambit("explain", "unknown_user");
    expect([told.status, told.out]).toEqual([0, expect.stringMatching(/users: required/)]);
    for (const edit of ["", "users: optional\n", "users: none\n"]) {
      fixture.write("project/.ambit/config.yml", edit);
      await pause(700, "the daemon has compared the changed files by then");
      const opened = await caller.open(fixture.project, "plain", { user: "mallory" });
      expect([edit, opened.ok ? await reads(opened.value, "a") : "refused"]).not.toEqual([edit, "done"]);
    }
    fixture.write("project/.ambit/config.yml", "users: optional\n");
    const shown = await fixture.ambit("trust", "--json");
    expect(shown.out).toContain('"because":"users"');
    await fixture.trust();
    await until(async () => (await caller.open(fixture.project, "plain", { user: "mallory" })).ok, "it is lifted");
  });
});
