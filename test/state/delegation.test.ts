// Delegation: agents never pass on more than they hold; delegations are stored as links, and end with whatever they depend on.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../house/until.ts";
import { type Caller, type OpenMore, outcomeOf, type Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

const PASSING = ["agent.grant", "agent.create"];

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("boss", ["memory.read{keys=[notes/**]}", "memory.write{keys=[notes/**],pass=use}", ...PASSING]);
  fixture.agent("passer", ["memory.read{keys=[notes/**],pass=pass}", "memory.write{keys=[own]}", ...PASSING]);
  fixture.agent("worker", ["memory.read{keys=[own]}", ...PASSING]);
  fixture.agent("receiver", ["memory.read{keys=[own]}"]);
  fixture.agent("holder", ["memory.read{keys=[own]}"]);
  fixture.agent("stranger", ["memory.read{keys=[own]}"]);
  fixture.agent("narrowed", ["memory.read{keys=[a,b]}", ...PASSING]);
  fixture.agent("deleted", ["memory.read{keys=[a,b]}", ...PASSING]);
  fixture.agent("stopped", ["memory.read", ...PASSING]);
  fixture.agent("chief", ["proc.exec", "fs.read", ...PASSING], "sandbox: .\n");
  fixture.agent("runner", ["proc.exec", "fs.read", ...PASSING], "sandbox: .\n");
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

interface Made {
  readonly link: string;
  readonly token: string | null;
}

async function make(session: Session, id: string, grants: readonly string[], more: object = {}): Promise<Made> {
  const done = await session.do("agent_create", { id, instructions: "work", grants, ...more });
  if (done.said !== "done") throw new Error(JSON.stringify(done));
  return done.value["result"] as Made;
}

async function give(session: Session, agent: string, grants: readonly string[], more: object = {}): Promise<Made> {
  const done = await session.do("agent_grant", { agent, grants, ...more });
  if (done.said !== "done") throw new Error(JSON.stringify(done));
  return done.value["result"] as Made;
}

function revoke(id: string, kill = false): ReturnType<typeof fixture.control<"links.revoke">> {
  return fixture.control("links.revoke", { id, kill });
}

describe("nothing is delegated that is not held", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["a part of a grant", "memory.read{keys=[notes/today]}", "done"],
    ["the whole grant", "memory.read{keys=[notes/**]}", "done"],
    ["a key outside the grant", "memory.read{keys=[note]}", "exceeds_grantor_authority"],
    ["every key", "memory.read", "exceeds_grantor_authority"],
    ["another verb", "obs.query", "exceeds_grantor_authority"],
    ["a grant that may only be used", "memory.write{keys=[notes/today]}", "exceeds_grantor_authority"],
    ["an invalid grant", "memory.raed", "invalid_input"],
  ];
  test.each(rows)("%s: %s", async (_title, grant, said) => {
    const session = await open("boss");
    expect((await session.do("agent_grant", { agent: "worker", grants: [grant] })).said).toBe(said);
  });

  test("of several grants the message names the invalid one", async () => {
    const grants = ["memory.read{keys=[notes/a]}", "memory.raed{keys=[b]}"];
    const { value } = await (await open("boss")).do("agent_grant", { agent: "worker", grants });
    expect(value).toMatchObject({
      code: "invalid_input",
      reason:
        'grant 2, "memory.raed{keys=[b]}", cannot be parsed: unknown capability "memory.raed"; did you mean memory.read?',
    });
  });

  test("the denial and its entry name a request that the granter could not make", async () => {
    const session = await open("boss");
    const grants = ["memory.read{keys=[notes/a,other/**]}"];
    const { value } = await session.do("agent_grant", { agent: "worker", grants });
    expect(value).toMatchObject({
      code: "exceeds_grantor_authority",
      need: expect.stringMatching(/^memory\.read other\//),
    });
    // It is an ordinary request: the granter tries it and is denied.
    const key = String(value["need"]).slice("memory.read ".length);
    expect(await reads(session, key)).toBe("scope_violation");
    const { entry } = expectValue(await fixture.control("log.entry", { id: String(value["id"]) })).entry;
    expect(entry.more).toMatchObject({
      need: value["need"],
      requests: [expect.stringMatching(/^agent\.grant worker /)],
    });
    const why = await fixture.ambit("why", entry.id);
    expect(why.out).toContain(key);
  });

  test("an agent cannot grant to itself", async () => {
    const session = await open("boss");
    for (const grants of [["memory.read{keys=[notes/a]}"], ["memory.read"]])
      expect((await session.do("agent_grant", { agent: "boss", grants })).said).toBe("self_modification");
    expect(
      (await session.do("agent_create", { id: "boss", instructions: "x", grants: ["memory.read{keys=[notes/a]}"] }))
        .said,
    ).toBe("self_modification");
  });

  test("a grant that may only be passed on can be used by the delegate, not by its holder", async () => {
    const passer = await open("passer");
    expect(await reads(passer, "notes/a")).not.toBe("done");
    await make(passer, "passed-to", ["memory.read{keys=[notes/**]}"]);
    expect(await reads(await open("passed-to"), "notes/a")).toBe("done");
    expect(await reads(await open("passed-to"), "own")).toBe("scope_violation");
  });

  test("a pledge limits what is passed on", async () => {
    const session = await open("boss", { pledge: ["memory.read{keys=[notes/a]}", ...PASSING] });
    expect((await session.do("agent_grant", { agent: "worker", grants: ["memory.read{keys=[notes/b]}"] })).said).toBe(
      "exceeds_grantor_authority",
    );
  });

  test("an agent is created once, and never over one with a record", async () => {
    const session = await open("boss");
    const grants = ["memory.read{keys=[notes/a]}"];
    await make(session, "made-once", grants);
    for (const id of ["made-once", "worker"])
      expect((await session.do("agent_create", { id, instructions: "x", grants })).said).toBe("invalid_input");
  });

  test("authority is delegated at most sixteen times", async () => {
    let holder = await open("boss");
    const grants = ["memory.read{keys=[notes/**]}", ...PASSING];
    let depth = 0;
    for (; depth < 20; depth++) {
      const id = `deep-${depth}`;
      const { said } = await holder.do("agent_create", { id, instructions: "on", grants });
      if (said !== "done") {
        expect(said).toBe("exceeds_grantor_authority");
        break;
      }
      holder = await open(id);
      expect(await reads(holder, "notes/a")).toBe("done");
    }
    expect(depth).toBe(16);
  });
});

describe("a delegation ends", () => {
  test("at once with its link, and with it every delegation below", async () => {
    const boss = await open("boss");
    const first = await make(boss, "tree-1", ["memory.read{keys=[notes/**]}", ...PASSING]);
    const [one, two] = [await open("tree-1"), "tree-2"];
    const second = await make(one, two, ["memory.read{keys=[notes/**]}", ...PASSING]);
    const lower = await open(two);
    const third = await give(lower, "receiver", ["memory.read{keys=[notes/a]}"]);
    const worker = await open("receiver");
    for (const session of [one, lower, worker]) expect(await reads(session, "notes/a")).toBe("done");
    const shown = await fixture.ambit("agents", "tree");
    expect(shown.out).toMatch(/tree-1[\s\S]*tree-2/);
    expect(expectValue(await revoke(first.link)).revoked.toSorted()).toEqual(
      [first.link, second.link, third.link].toSorted(),
    );
    for (const session of [one, lower, worker]) expect(await reads(session, "notes/a")).not.toBe("done");
    expect(await reads(worker, "own")).toBe("done");
    expect(await reads(boss, "notes/a")).toBe("done");
    expect(await revoke("l_nobody")).toMatchObject({ ok: false, code: "unknown_link" });
  });

  test("in the middle of a chain, and the links above stay", async () => {
    const boss = await open("boss");
    await make(boss, "middle-1", ["memory.read{keys=[notes/**]}", ...PASSING]);
    const middle = await open("middle-1");
    const below = await make(middle, "middle-2", ["memory.read{keys=[notes/**]}"]);
    expectValue(await revoke(below.link));
    expect(await reads(await open("middle-2"), "notes/a")).not.toBe("done");
    expect(await reads(middle, "notes/a")).toBe("done");
  });

  test("as far as the granter's record is narrowed, from the next call on", async () => {
    await make(await open("narrowed"), "narrow-child", ["memory.read{keys=[a,b]}"]);
    const child = await open("narrow-child");
    expect([await reads(child, "a"), await reads(child, "b")]).toEqual(["done", "done"]);
    fixture.agent("narrowed", ["memory.read{keys=[a]}", ...PASSING]);
    await until(async () => (await reads(child, "b")) === "scope_violation", "the edit holds below");
    expect(await reads(child, "a")).toBe("done");
    fixture.agent("narrowed", [], "broken: [\n");
    await until(async () => (await reads(child, "a")) !== "done", "a broken record passes nothing on");
  });

  test("with the granter's record", async () => {
    await make(await open("deleted"), "deleted-child", ["memory.read{keys=[a]}"]);
    const child = await open("deleted-child");
    expect(await reads(child, "a")).toBe("done");
    rmSync(join(fixture.project, ".ambit", "agents", "deleted.md"));
    await until(async () => (await reads(child, "a")) !== "done", "the delegation is invalid");
  });

  test("when it expires", async () => {
    await make(await open("boss"), "brief", ["memory.read{keys=[notes/**]}"], { seconds: 3 });
    const brief = await open("brief");
    expect(await reads(brief, "notes/a")).toBe("done");
    await until(async () => (await reads(brief, "notes/a")) === "expired", "it expires");
  });

  test("while its granter is stopped, and is valid again once the granter is resumed", async () => {
    const stopped = await open("stopped");
    await make(stopped, "stopped-child", ["memory.read{keys=[a]}"]);
    const child = await open("stopped-child");
    expect(await reads(child, "a")).toBe("done");
    const ran = await fixture.ambit("stop", "stopped", "--json");
    expect(JSON.parse(ran.out)).toMatchObject({ ok: true, sessions: 1, links: 1 });
    expect(await reads(child, "a")).not.toBe("done");
    expect(await reads(stopped, "a")).toBe("unknown_session");
    expect(await reads(await open("stopped"), "a")).toBe("done");
    expect((await fixture.ambit("stop", "stopped-child")).status).toBe(0);
    expect(await caller.open(fixture.project, "stopped-child")).toMatchObject({ ok: false, code: "unknown_agent" });
    expect((await fixture.ambit("stop", "not-an-agent")).status).not.toBe(0);
  });
});

describe("a token", () => {
  test("is claimed once, by the agent it names", async () => {
    const { token } = await give(await open("boss"), "holder", ["memory.read{keys=[notes/**]}"], { token: true });
    const holder = await open("holder");
    expect(await reads(holder, "notes/token")).not.toBe("done");
    const claim = (agent: string, text: string): ReturnType<Caller["open"]> =>
      caller.open(fixture.project, agent, { token: text });
    expect(await claim("stranger", token ?? "")).toMatchObject({ ok: false, code: "revoked" });
    expect(await claim("holder", `${token}x`)).toMatchObject({ ok: false, code: "revoked" });
    expect(await claim("holder", "ambit-token.l_x.y")).toMatchObject({ ok: false, code: "revoked" });
    const racers = await Promise.all(Array.from({ length: 8 }, () => claim("holder", token ?? "")));
    expect(racers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await reads(holder, "notes/token")).toBe("done");
    expect(await claim("holder", token ?? "")).toMatchObject({ ok: false, code: "revoked" });
    expect(await reads(await open("stranger"), "notes/token")).not.toBe("done");
  });

  test("that was revoked or has expired is worthless", async () => {
    const boss = await open("boss");
    const grants = ["memory.read{keys=[notes/late]}"];
    const gone = await give(boss, "stranger", grants, { token: true });
    expectValue(await revoke(gone.link));
    expect(await caller.open(fixture.project, "stranger", { token: gone.token ?? "" })).toMatchObject({ ok: false });
    const brief = await give(boss, "stranger", grants, { token: true, seconds: 1 });
    await until(() => pastOf(brief.link), "its time is over");
    await caller.open(fixture.project, "stranger", { token: brief.token ?? "" });
    expect(await reads(await open("stranger"), "notes/late")).not.toBe("done");
  });

  test("is in no file and no log entry", async () => {
    const { token } = await give(await open("boss"), "holder", ["memory.read{keys=[notes/x]}"], { token: true });
    const secret = token?.split(".")[2] ?? "";
    expect(secret.length).toBeGreaterThan(16);
    expect(JSON.stringify(await fixture.log())).not.toContain(secret);
  });
});

async function pastOf(id: string): Promise<boolean> {
  const { links } = expectValue(await fixture.control("links.list", {}));
  return (links.find((link) => link.id === id)?.expires ?? 0) < Date.now();
}

describe("a program that runs by a delegation", () => {
  test("is killed when the delegation is revoked with --kill, and none starts after it", async () => {
    const made = await make(await open("runner"), "run-child", [
      `proc.exec{in=${fixture.project}}`,
      `fs.read{in=${fixture.project}}`,
    ]);
    const child = await open("run-child");
    const texts: string[] = [];
    const running = child.running(["sh", "-c", "echo begun; exec sleep 60"], fixture.project, {
      onText: (text) => texts.push(text),
    });
    await until(() => texts.join("").includes("begun"), "it runs");
    const ended = await fixture.ambit("agents", "revoke", "--link", made.link, "--kill");
    const answer = outcomeOf(await running.answer);
    expect({ ended, answer }).toMatchObject({ ended: { status: 0 } });
    expect(answer.value["ending"]).not.toMatchObject({ kind: "exited", status: 0 });
    expect((await child.run(["true"], fixture.project)).said).not.toBe("ran");
  });

  test("is killed when the agent that made its agent is stopped, two levels down as well", async () => {
    const grants = [`proc.exec{in=${fixture.project}}`, `fs.read{in=${fixture.project}}`];
    await make(await open("chief"), "middle", [...grants, ...PASSING]);
    await make(await open("middle"), "lowest", grants.slice(0, 2));
    const texts: string[] = [];
    const running = await Promise.all(
      ["middle", "lowest"].map(async (agent) =>
        (await open(agent)).running(["sh", "-c", "echo begun; exec sleep 60"], fixture.project, {
          onText: (text) => texts.push(text),
        }),
      ),
    );
    await until(() => texts.join("").match(/begun/g)?.length === 2, "both run");
    expect(JSON.parse((await fixture.ambit("stop", "chief", "--json")).out)).toMatchObject({ ok: true, ended: 2 });
    for (const { answer } of running)
      expect(outcomeOf(await answer).value["ending"]).not.toMatchObject({ kind: "exited", status: 0 });
  });
});
