// Users: conditions of grants that name them, budgets for each of them, the workspaces they belong to, and what the log says.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../house/until.ts";
import type { Caller, OpenMore, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

const ANY = ["memory.read", "memory.write", "agent.grant", "agent.create"];

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", [
    "memory.read{keys=[ann/**],users=[ann]}",
    "memory.read{keys=[ops/**],users=[group:ops]}",
    "memory.read{keys=[named/**],users=[*]}",
    "memory.read{keys=[all/**]}",
  ]);
  fixture.agent("counted", ["memory.read{rate=2/day,per=user}"]);
  fixture.agent("shared", ["memory.read{rate=2/day}"]);
  fixture.agent("lead", [...ANY, "memory.read{keys=[x],users=[ann]}"]);
  fixture.agent("helper", ["records.read"]);
  const person = (lines: string): string => `---\n${lines}\ncapabilities: [${ANY.join(", ")}]\n---\n`;
  fixture.write("config/ambit/users/ann.md", person("name: Ann Example\naddress: ann@example.com\ngroup: ops"));
  fixture.write("config/ambit/users/bob.md", person("groups: [dev, qa]"));
  fixture.write("config/ambit/users/cleo.md", person(`workspaces: [${fixture.base}/elsewhere]`));
  fixture.write("config/ambit/users/dora.md", person(`workspaces: [${fixture.base}/link]`));
  fixture.write("config/ambit/users/typo.md", person("groups: [not a group]"));
  mkdirSync(join(fixture.base, "elsewhere"));
  symlinkSync(fixture.project, join(fixture.base, "link"));
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(
  agent: string,
  { user, ...more }: { user?: string | null } & Omit<OpenMore, "user"> = {},
): Promise<Session> {
  return expectValue(await caller.open(fixture.project, agent, { ...more, ...(user == null ? {} : { user }) }));
}

async function toolsOf(session: Session): Promise<readonly unknown[]> {
  const answer = await session.ask("tools.list", {}).answer;
  const tools = answer.ok ? (answer.value["tools"] as readonly { name: string }[]) : [];
  return tools.map(({ name }) => name);
}

describe("a grant with users=[...]", () => {
  test.each([
    ["ann", "ann/a", true],
    ["ann", "ops/a", true],
    ["ann", "named/a", true],
    ["ann", "all/a", true],
    ["bob", "ann/a", false],
    ["bob", "ops/a", false],
    ["bob", "named/a", true],
    ["eve", "named/a", true],
    ["eve", "ann/a", false],
    ["typo", "all/a", false],
    [null, "named/a", false],
    [null, "all/a", true],
  ])("in a session for %s and the key %s covers: %s", async (user, key, isCovered) => {
    const session = await open("scout", { user });
    const { said } = await session.do("memory_get", { key });
    expect(["scope_violation", "capability_absent"].includes(said)).toBe(!isCovered);
    await session.close();
  });

  test("lists a tool only to the users whose grants can allow it", async () => {
    fixture.agent("only", ["memory.read{users=[ann]}"]);
    await fixture.trust();
    const [ann, bob] = [await open("only", { user: "ann" }), await open("only", { user: "bob" })];
    expect(await toolsOf(ann)).toContain("memory_get");
    expect(await toolsOf(bob)).not.toContain("memory_get");
  });

  test("is delegated with its users, and never without them", async () => {
    fixture.agent("narrow", ["memory.read{keys=[x],users=[ann]}", "agent.grant"]);
    await fixture.trust();
    const session = await open("narrow", { user: "ann" });
    const grants = ["memory.read{keys=[x]}"];
    expect((await session.do("agent_grant", { agent: "helper", grants })).said).toBe("exceeds_grantor_authority");
    const kept = ["memory.read{keys=[x],users=[ann]}"];
    expect((await session.do("agent_grant", { agent: "helper", grants: kept })).said).toBe("done");
    const [ann, bob] = [await open("helper", { user: "ann" }), await open("helper", { user: "bob" })];
    expect((await ann.do("memory_get", { key: "x" })).said).toBe("done");
    expect((await bob.do("memory_get", { key: "x" })).said).toBe("scope_violation");
  });
});

describe("a delegation with `attenuate`", () => {
  test("delegates the part that is held, with its conditions, and lists what was left out", async () => {
    fixture.agent("manager", ["memory.read{keys=[x/**],users=[ann]}", "memory.write{keys=[x/a]}", "agent.grant"]);
    await fixture.trust();
    const session = await open("manager", { user: "ann" });
    const grants = ["memory.read{keys=[x/a,y/a]}", "memory.write{keys=[x/a]}", "obs.append"];
    const whole = await session.do("agent_grant", { agent: "helper", grants });
    expect(whole.said).toBe("exceeds_grantor_authority");
    const part = await session.do("agent_grant", { agent: "helper", grants, attenuate: true });
    expect(part).toMatchObject({
      said: "done",
      value: {
        result: {
          grants: ["memory.read{keys=[x/a],users=[ann]}", "memory.write{keys=[x/a]}"],
          left_out: [
            { grant: grants[0], example: expect.any(String) },
            { grant: "obs.append", example: expect.any(String) },
          ],
        },
      },
    });
  });

  test.each([["fs.read"], ["net.post"], ["fs.read{in=[]}"]])(
    "and a grant that covers nothing is an error, with `attenuate` and without: %s",
    async (spec) => {
      const session = await open("manager", { user: "ann" });
      for (const attenuate of [true, false]) {
        const refused = await session.do("agent_grant", { agent: "helper", grants: [spec], attenuate });
        expect([refused.said, JSON.stringify(refused.value)]).toEqual([
          "invalid_input",
          expect.stringContaining("covers nothing"),
        ]);
      }
    },
  );

  test("is denied if nothing of it is held", async () => {
    const session = await open("manager", { user: "ann" });
    const wanted = { agent: "helper", grants: ["obs.append"], attenuate: true };
    expect((await session.do("agent_grant", wanted)).said).toBe("exceeds_grantor_authority");
  });

  test("never passes on what may only be used", async () => {
    fixture.agent("user-only", ["memory.read{keys=[x],pass=use}", "memory.write{keys=[x]}", "agent.grant"]);
    await fixture.trust();
    const session = await open("user-only");
    const grants = ["memory.read{keys=[x]}", "memory.write{keys=[x]}"];
    const part = await session.do("agent_grant", { agent: "helper", grants, attenuate: true });
    expect(part).toMatchObject({ value: { result: { grants: ["memory.write{keys=[x]}"] } } });
  });
});

describe("a budget", () => {
  const read = async (agent: string, user: string | null): Promise<string> => {
    const session = await open(agent, { user });
    const { said } = await session.do("memory_get", { key: "a" });
    await session.close();
    return said;
  };

  test("with `per: user` is counted for each user, across sessions", async () => {
    for (const user of ["ann", "bob", null]) {
      expect([await read("counted", user), await read("counted", user)]).toEqual(["done", "done"]);
      expect(await read("counted", user)).toBe("budget_exhausted");
    }
  });

  test("without it is counted for all of them together", async () => {
    expect([await read("shared", "ann"), await read("shared", "bob")]).toEqual(["done", "done"]);
    expect(await read("shared", "ann")).toBe("budget_exhausted");
  });

  test("that changes from shared to per user waits for trust", async () => {
    fixture.agent("shared", ["memory.read{rate=2/day,per=user}"]);
    expect(await read("shared", "bob")).toBe("budget_exhausted");
    fixture.agent("shared", ["memory.read{rate=2/day}"]);
  });
});

describe("a user with `workspaces`", () => {
  test("opens no session elsewhere, and the denial is logged", async () => {
    const opened = await caller.open(fixture.project, "scout", { user: "cleo" });
    expect(opened).toMatchObject({ ok: false, code: "unknown_user" });
    expect(await fixture.log({ user: "cleo" })).toMatchObject([
      { kind: "session", outcome: "deny", code: "unknown_user", agents: ["scout"], principal: { user: "cleo" } },
    ]);
  });

  test("opens one in the same folder by the name of a link", async () => {
    await (await open("scout", { user: "dora" })).close();
  });

  test("is denied from the next call on once the workspace is removed from the list", async () => {
    const session = await open("scout", { user: "dora" });
    expect((await session.do("memory_get", { key: "all/a" })).said).toBe("done");
    fixture.write("config/ambit/users/dora.md", `---\nworkspaces: []\ncapabilities: [${ANY.join(", ")}]\n---\n`);
    await until(async () => (await session.do("memory_get", { key: "all/a" })).said === "unknown_user", "the denial");
  });
});

describe("every entry", () => {
  test("has the user's name, address and groups, and all agents of the chain", async () => {
    const lead = await open("lead", { user: "ann" });
    expect((await lead.do("agent_grant", { agent: "helper", grants: ["memory.read{keys=[y]}"] })).said).toBe("done");
    const child = await open("helper", { user: "ann" });
    await child.do("memory_get", { key: "y" });
    await child.close();
    const principal = { user: "ann", name: "Ann Example", address: "ann@example.com", groups: ["ops"] };
    // What comes after an answer is written after it.
    await until(async () => (await fixture.log({ session: child.id })).length > 2, "the session is in the log");
    const entries = await fixture.log({ session: child.id });
    for (const entry of entries) expect(entry).toMatchObject({ user: "ann", principal });
    const decision = entries.find(({ kind }) => kind === "decision");
    expect(decision).toMatchObject({ agent: "helper", agents: ["lead", "helper"] });
  });
});

describe("a pledge", () => {
  test("of files is relative to the folder of the record", async () => {
    fixture.agent("filer", ["fs.read"], "sandbox: .\n");
    fixture.write("project/notes.txt", "a note\n");
    await fixture.trust();
    const session = await open("filer", { pledge: ["fs.read"] });
    expect((await session.do("fs_read", { path: "notes.txt" })).said).toBe("done");
    expect((await session.do("memory_get", { key: "all/a" })).said).toBe("capability_absent");
  });

  test.each(["fs.read", "net.get", "memory.read{keys=[]}"])(
    "that covers nothing opens no session: %s",
    async (spec) => {
      const opened = await caller.open(fixture.project, "lead", { pledge: ["memory.read", spec] });
      expect(opened).toMatchObject({
        ok: false,
        code: "invalid_input",
        message: expect.stringContaining("covers nothing"),
      });
    },
  );
});

test("an opening for a text that is no user name is refused and logged, without the text", async () => {
  for (const user of ["ann;rm", "ann\nbob", "a".repeat(300)]) {
    const opened = await caller.open(fixture.project, "shared", { user });
    expect(opened.ok ? "open" : opened.code).toBe("invalid_input");
  }
  const denied = await fixture.log({ kind: "session", outcome: "deny", agent: "shared" });
  expect(denied.length).toBeGreaterThan(0);
  for (const entry of denied) expect(entry).toMatchObject({ user: null, code: "invalid_input" });
  expect(JSON.stringify(denied)).not.toContain("ann;rm");
  expect((await fixture.ambit("log", "--outcome", "deny", "--agent", "shared")).out).toContain("session.open shared");
});

describe("an agent that an agent made for a user", () => {
  const make = async (user: string | null, more: object = {}): Promise<string> => {
    const lead = await open("lead", { user });
    const input = { id: "assistant", instructions: `for ${user}`, grants: ["memory.read", "memory.write"], ...more };
    return (await lead.do("agent_create", input)).said;
  };

  test("does not block the name for another user, nor is it reached by one", async () => {
    expect(await make("ann")).toBe("done");
    expect(await make("ann")).toBe("invalid_input");
    expect(await make("bob", { grants: ["memory.read{keys=[b/**]}"] })).toBe("done");
    const [ann, bob] = [await open("assistant", { user: "ann" }), await open("assistant", { user: "bob" })];
    expect((await ann.do("memory_set", { key: "mine", value: "ann's" })).said).toBe("done");
    // Memory, grants and delegations are the agent's own.
    expect((await bob.do("memory_set", { key: "mine", value: "x" })).said).toBe("capability_absent");
    expect((await bob.do("memory_get", { key: "mine" })).said).toBe("scope_violation");
    expect((await bob.do("memory_get", { key: "b/1" })).said).not.toBe("scope_violation");
    const other = await caller.open(fixture.project, "assistant", { user: "eve" });
    expect(other.ok ? "open" : other.code).toBe("unknown_agent");
  });

  test("is named with its user where several have one of that id, and without one is refused", async () => {
    const none = await caller.open(fixture.project, "assistant");
    expect(none.ok ? "open" : [none.code, none.message]).toEqual([
      "unknown_agent",
      "several users have an agent assistant",
    ]);
    const { out } = await fixture.ambit("agents", "tree");
    expect(out).toContain("assistant  created by lead for ann");
    expect(out).toContain("assistant (for bob)");
    const can = await fixture.ambit("can", "assistant", "memory.read", "x", "--user", "bob");
    expect(can.status).toBe(10);
    expect((await fixture.ambit("can", "assistant", "memory.read", "x", "--user", "ann")).status).toBe(0);
  });

  test("is granted to, found and deleted in sessions of its user alone", async () => {
    const lead = await open("lead", { user: "ann" });
    expect((await lead.do("agent_grant", { agent: "assistant", grants: ["memory.read{keys=[k]}"] })).said).toBe("done");
    const links = expectValue(await fixture.control("links.list", {})).links.filter(({ revoked }) => revoked === null);
    const holders = links.flatMap(({ holder }) => (holder?.agent === "assistant" ? [holder.user] : []));
    expect(holders.sort()).toEqual(["ann", "ann", "bob"]);
    expect((await fixture.ambit("agents", "keep", "assistant", "--yes")).out).toContain("several users have an agent");
    fixture.agent("ender", ["agent.delete"]);
    fixture.write("config/ambit/users/bob.md", "---\ncapabilities: [memory.read, agent.delete, agent.create]\n---\n");
    await fixture.trust();
    const ender = await open("ender", { user: "bob" });
    expect((await ender.do("agent_delete", { id: "assistant" })).said).toBe("done");
    expect((await ender.do("agent_delete", { id: "assistant" })).said).toBe("not_available");
    const ann = await open("assistant", { user: "ann" });
    expect((await ann.do("memory_get", { key: "mine" })).said).toBe("done");
  });

  test("keeps its name after the daemon restarts, and `stop` ends those of all users", async () => {
    expect(await make("eve")).toBe("done");
    await fixture.killDaemon();
    await fixture.startDaemon();
    caller = fixture.caller();
    const eve = await open("assistant", { user: "eve" });
    expect((await eve.do("memory_get", { key: "mine" })).value).not.toMatchObject({ result: { value: "ann's" } });
    const stopped = await fixture.ambit("stop", "assistant");
    expect(stopped.status).toBe(0);
    for (const user of ["ann", "eve"]) {
      const again = await caller.open(fixture.project, "assistant", { user });
      expect(again.ok ? "open" : again.code).toBe("unknown_agent");
    }
  });
});
