// Users on the command line: what `can`, `why`, `doctor`, `agents` and `log` say about grants for some users, their records, their
// workspaces, and agents that were made for one of them.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectValue, Fixture } from "../state/fixture.ts";
import { root } from "./ambit.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", [
    "memory.read{keys=[shop/**],users=[ann,bob]}",
    "obs.append{rate=2/day,per=user}",
    "fs.read{in=.}",
  ]);
  fixture.agent("lead", [
    "agent.create",
    "agent.grant",
    "memory.read{keys=[a/**]}",
    "net.get{hosts=[*.github.com],users=[ann]}",
  ]);
  fixture.user("ann", ["memory.read", "agent.grant", "fs.read{in=/nowhere}", "net.get{hosts=[api.github.com]}"]);
  fixture.user("typo", ["memory.raed"]);
  fixture.write(
    "config/ambit/users/carl.md",
    `---\nworkspaces: [${fixture.base}/elsewhere]\ncapabilities: [memory.read]\n---\n`,
  );
  mkdirSync(join(fixture.base, "elsewhere"));
  await fixture.begin();
});
afterAll(() => fixture?.remove());

describe("a person asks about a grant for some users", () => {
  test.each([
    [[], 10, "does not match on users"],
    [["--user", "dora"], 10, "denied by the record of scout (its grant is for users ann, bob)"],
    [["--user", "bob"], 0, "allow scout"],
    [["--user", "Bob"], 10, "(its grant is for users ann, bob)"],
    [["--user", "Ann"], 1, "differs from the user ann only in upper and lower case"],
    [
      ["--user", "typo"],
      10,
      "denied by the record of the user typo, which allows nothing (if that is a mistake: ambit doctor)",
    ],
    [["--user", "carl"], 10, "the user carl is not a member of"],
  ])("`can %j` exits with %i", async (more, status, text) => {
    const ran = await fixture.ambit("can", "scout", "memory.read", "shop/x", ...more);
    expect([ran.status, ran.out]).toEqual([status, expect.stringContaining(text)]);
  });

  test("`why` says for whom the grant is, and gives no advice that does not help", async () => {
    expect((await fixture.ambit("call", "scout", "memory_get", '{"key": "shop/x"}', "--user", "dora")).status).toBe(10);
    const { out } = await fixture.ambit("why");
    expect(out).toContain("denied by the record of scout (its grant is for users ann, bob)");
    expect(out).not.toMatch(/smallest grant|Widen that axis/);
  });

  test("a verb that does not exist is never taken for one of another family", async () => {
    const { out } = await fixture.ambit("can", "scout", "memory.delete", "x");
    expect(out).toContain("is not a verb");
    expect(out).not.toContain("net.delete");
  });
});

test("a pledge that covers nothing says what to do about it", async () => {
  const call = (pledge: string): Promise<{ out: string }> =>
    fixture.ambit("call", "scout", "memory_get", '{"key": "shop/x"}', "--pledge", pledge);
  expect((await call("proc.exec{cmds=[]}")).out).toContain("leave proc.exec out");
  expect((await call("net.get")).out).toContain("add `hosts`");
});

test("a manifest without its `kind` is refused, and no grant is proposed for it", async () => {
  fixture.write("project/.ambit/agents/half.yml", "spec:\n  capabilities: [fs.read]\n");
  const ran = await fixture.ambit("can", "half", "fs.read", "x");
  expect([ran.status, ran.out]).toEqual([3, expect.stringContaining("fix: kind: AgentManifest")]);
  expect(ran.out).not.toContain("smallest grant");
  rmSync(join(fixture.project, ".ambit", "agents", "half.yml"));
});

describe("a person looks at a user's record", () => {
  test("`doctor` shows its mistake", async () => {
    expect((await fixture.ambit("doctor")).out).toMatch(/user typo .*\n.*unknown_verb/);
  });

  test("`why` explains a refused session of a user who is not a member here", async () => {
    const ran = await fixture.ambit("call", "scout", "memory_get", '{"key": "shop/x"}', "--user", "carl");
    expect(ran.out).toContain("unknown_user");
    const { out } = await fixture.ambit("why");
    expect(out).toMatch(/^session: deny unknown_user/);
    expect(out).toContain("the user carl is not a member of");
    expect((await fixture.ambit("status")).out).toMatch(/denials in the last 24 hours: .*\b[1-9]\d* unknown_user/);
  });

  test("`agents capabilities --user` shows what an agent holds for them", async () => {
    const { out } = await fixture.ambit("agents", "capabilities", "scout", "--user", "ann");
    expect(out).toMatch(/^scout {2}for ann\n● tool\.invoke\S*\n.*\n● memory\.read\{keys=\[shop/);
    expect(out).toContain("limited by the record of the user ann");
    expect(out).not.toContain("fs.read");
    expect((await fixture.ambit("agents", "show", "scout", "--user", "carl")).out).toContain("unknown_user");
  });
});

describe("each user has a rate of their own", () => {
  test.each(["ann", "bob", null])("%s", async (user) => {
    const words = user === null ? [] : ["--user", user];
    fixture.user("ann", ["memory.read", "agent.grant", "obs.append", "net.get{hosts=[api.github.com]}"]);
    const call = async (): Promise<number | null> =>
      (await fixture.ambit("call", "scout", "obs_append", '{"text": "x"}', ...words)).status;
    expect([await call(), await call(), await call()]).toEqual([0, 0, 10]);
    const can = await fixture.ambit("can", "scout", "obs.append", ...words);
    expect(can.out).toContain("budget_exhausted");
  });
});

describe("an agent was made for one user", () => {
  test("others have their own by the same name, and every command names whose it shows", async () => {
    const make = (key: string, ...words: readonly string[]): Promise<{ status: number | null; out: string }> =>
      fixture.ambit(
        ...[
          "call",
          "lead",
          "agent_create",
          `{"id": "helper", "instructions": "x", "grants": ["memory.read{keys=[${key}]}"]}`,
        ],
        ...words,
      );
    expect((await make("a/y", "--user", "bob")).status).toBe(0);
    expect((await make("a/z")).status).toBe(0);
    const again = await make("a/w", "--user", "bob");
    expect([again.status === 0, again.out]).toEqual([false, expect.stringContaining("helper")]);
    expect((await fixture.ambit("agents", "show", "helper", "--user", "bob")).out).toContain("keys=[a/y]");
    expect((await fixture.ambit("agents", "show", "helper")).out).toContain("keys=[a/z]");
    expect((await fixture.ambit("agents", "tree")).out).toMatch(/helper {2}created by lead for bob/);
    const kept = await fixture.ambit("agents", "keep", "helper", "--user", "bob");
    expect(kept.out).toContain("fix: ambit agents keep helper --user bob --yes");
    expect((await fixture.ambit("agents", "keep", "helper", "--dry-run")).out).toContain("keys=[a/z]");
    expect((await fixture.ambit("stop", "helper")).out).toContain("2 agents made by an agent removed");
  });
});

test("`attenuate` passes on the part that is held, and says what was left out", async () => {
  const grant = (hosts: string, more: object = {}): Promise<{ status: number | null; out: string }> => {
    const input = { agent: "scout", grants: [`net.get{hosts=[${hosts}]}`], ...more };
    return fixture.ambit("call", "lead", "agent_grant", JSON.stringify(input), "--user", "ann", "--json");
  };
  expect((await grant("api.github.com,evil.example")).out).toContain("exceeds_grantor_authority");
  const passed = await grant("api.github.com,evil.example", { attenuate: true });
  const { result } = JSON.parse(passed.out) as { result: { grants: readonly string[]; left_out: readonly object[] } };
  expect(result.grants).toEqual(["net.get{hosts=[api.github.com],users=[ann]}"]);
  expect(result.left_out).toHaveLength(1);
  expect((await grant("evil.example", { attenuate: true })).out).toContain("exceeds_grantor_authority");
});

describe("a person's own ceiling denies", () => {
  test("`can`, `why` and `agents capabilities` name it", async () => {
    fixture.write("config/ambit/config.yml", `ceiling: ["fs.read{in=${fixture.project}/notes}", tool.invoke]\n`);
    const can = await fixture.ambit("can", "scout", "obs.append");
    expect(can.out).toContain("denied by the ceiling of your config.yml: no grant to the agent allows it");
    const inside = await fixture.ambit("can", "scout", "fs.read", "README.md");
    expect(inside.out).toContain("denied by the ceiling of your config.yml");
    const { out } = await fixture.ambit("agents", "capabilities", "scout");
    expect(out).toContain(`● fs.read{in=${fixture.project}/notes}`);
    expect(out).toMatch(/○ obs\.append\S* {2}\(no effect: outside the ceiling of your config\.yml\)/);
    expect((await fixture.ambit("agents", "list")).out).toMatch(/scout +2 capabilities, up to medium/);
    const caller = expectValue(await fixture.caller().open(fixture.project, "scout"));
    expect((await caller.do("obs_append", { text: "x" })).said).toBe("capability_absent");
    expect((await fixture.ambit("why")).out).toContain("the ceiling of your config.yml does not cover it");
    fixture.write("config/ambit/config.yml", "{}\n");
  });

  test("a mistake in it is told once by `doctor`, with a fix in the notation of the spec", async () => {
    fixture.write("config/ambit/config.yml", 'ceiling: ["net.get{hosts=[x.com:443]}"]\n');
    const { out } = await fixture.ambit("doctor");
    expect(out.match(/has a port, which belongs in/g)).toHaveLength(1);
    expect(out).toContain("fix: hosts=[x.com],ports=[443]");
    expect(out).toContain("grants nothing until");
    fixture.write("config/ambit/config.yml", "{}\n");
  });
});

test("Caveats in a variable beside `ambit call` are pointed out, not silently ignored", () => {
  const words = [join(root, "bin", "ambit"), "call", "scout", "memory_get", '{"key": "x"}'];
  const env = { ...fixture.environment, AGENT_BRIDLE_CAVEATS: "{}" };
  const ran = spawnSync(process.execPath, words, { cwd: fixture.project, env, encoding: "utf8" });
  expect(ran.stderr).toContain("hint: AGENT_BRIDLE_CAVEATS has no effect here");
});
