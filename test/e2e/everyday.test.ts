// What people do every day with a project, its users and its tools, through the built program and a real daemon.
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectValue, Fixture } from "../state/fixture.ts";
import { root } from "./ambit.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["memory.read", "memory.write", "tool.invoke{tools=[builtin:**,forecast]}"]);
  fixture.write(
    "project/.ambit/tools/forecast.mjs",
    `export const tool = { name: "forecast", description: "Weather.", input: { type: "object", properties: { city: { type: "string" } } },
  capabilities: { network: { allowedHosts: ["api.weather.gov"] } }, execute: () => "rain" };\n`,
  );
  await fixture.begin();
});
afterAll(() => fixture?.remove());

function json(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

/** Of a line of `ambit log --json`. */
function workspaceOf({ entry }: Record<string, unknown>): unknown {
  return (entry as { readonly workspace: string | null }).workspace;
}

test("someone declares a tool that no agent may serve: doctor names it, with a request as the example", async () => {
  const listed = (await fixture.ambit("tools", "list")).out;
  expect([listed.includes("forecast"), listed.includes("not as it was trusted")]).toEqual([true, false]);
  const { out } = await fixture.ambit("doctor");
  expect(out).toContain("tool_exceeds_agents: `forecast` declares more than scout may do, for example net.");
  fixture.agent("scout", [
    "memory.read",
    "memory.write",
    "tool.invoke{tools=[builtin:**,forecast]}",
    ...["get", "post", "put", "delete"].map((verb) => `net.${verb}{hosts=[api.weather.gov]}`),
  ]);
  await fixture.trust();
  expect((await fixture.ambit("doctor")).out).not.toContain("tool_exceeds_agents");
});

test("someone writes a user's record with a mistake: doctor shows the line", async () => {
  fixture.write("config/ambit/users/bob.md", "---\nname: Bob\ncapabilities:\n  - memory.read:\nkeys: [a]\n---\n");
  const { out, status } = await fixture.ambit("doctor");
  expect([status, out.includes("user bob"), out.includes("users/bob.md:5:1")]).toEqual([3, true, true]);
  expect((await fixture.ambit("can", "scout", "memory.read", "a", "--user", "bob")).status).toBe(10);
  fixture.write("config/ambit/users/bob.md", "---\nname: Bob\ncapabilities:\n  - memory.read:\n      keys: [a]\n---\n");
  const sections = json((await fixture.ambit("doctor", "--json")).out)["sections"] as readonly { title: string }[];
  expect(sections.find(({ title }) => title === "user bob")).toMatchObject({ about: "user", findings: [] });
  expect((await fixture.ambit("can", "scout", "memory.read", "a", "--user", "bob")).status).toBe(0);
});

describe("someone works in two projects", () => {
  test("log, why, status and tree name the workspace, and can be asked for one", async () => {
    const other = join(fixture.base, "other");
    fixture.write("other/.ambit/agents/scout.md", "---\ncapabilities: [memory.read: { keys: [a] }]\n---\n");
    const inOther = (...words: readonly string[]): { readonly status: number | null; readonly out: string } => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
        cwd: other,
        env: fixture.environment,
        encoding: "utf8",
      });
      return { status, out: stdout + stderr };
    };
    expect(inOther("trust", "--yes").status).toBe(0);
    expect(inOther("call", "scout", "memory_get", '{"key": "b"}').status).toBe(10);
    expect((await fixture.ambit("call", "scout", "fs_read", '{"path": "/etc/passwd"}')).status).toBe(10);
    const here = (await fixture.ambit("log", "--workspace", ".", "--json")).out.trim().split("\n").map(json);
    const there = inOther("log", "--workspace", ".", "--json").out.trim().split("\n").map(json);
    expect(new Set(here.map(workspaceOf))).toEqual(new Set([fixture.project]));
    expect(new Set(there.map(workspaceOf))).toEqual(new Set([other]));
    expect((await fixture.ambit("log")).out).toMatch(/ scout +other +memory_get +deny/);
    expect(inOther("why", "--workspace", ".").out).toContain(`agent scout of ${other}`);
    expect(inOther("why").out).toContain(`agent scout of ${fixture.project}`);
    expect(inOther("why", "--workspace", "/").status).toBe(2);
    expect(inOther("status").out).toContain(other);
    expect(inOther("agents", "tree").out.split("\n")[0]).toBe(other);
  });

  test("`status` lists the sessions of this project, and counts the others", async () => {
    const session = expectValue(await fixture.caller().open(fixture.project, "scout"));
    expect((await session.do("memory_get", { key: "a" })).said).toBe("done");
    expect((await fixture.ambit("status")).out).toMatch(/^ {2}scout {2}\S+ {2}1 call {2}s_/m);
    const { stdout } = spawnSync(process.execPath, [join(root, "bin", "ambit"), "status"], {
      cwd: join(fixture.base, "other"),
      env: fixture.environment,
      encoding: "utf8",
    });
    expect(stdout).toMatch(/^ {2}\d+ sessions? in other workspaces: ambit status --all$/m);
  });
});

test("someone looks at the tree: delegations, created agents, what waits for trust and a freeze are marked", async () => {
  fixture.agent("lead", ["agent.grant", "agent.create", "net.get{hosts=[*.github.com]}"]);
  fixture.agent("late", ["memory.read{expires=2020-01-01T00:00:00Z}"]);
  await fixture.trust();
  const lead = expectValue(await fixture.caller().open(fixture.project, "lead"));
  const grants = ["net.get{hosts=[api.github.com]}"];
  expect((await lead.do("agent_grant", { agent: "scout", grants })).said).toBe("done");
  expect((await lead.do("agent_create", { id: "helper", instructions: "help", grants })).said).toBe("done");
  fixture.agent("late", ["memory.read{expires=2020-01-01T00:00:00Z}", "memory.write"]);
  const { out } = await fixture.ambit("agents", "tree");
  expect(out).toMatch(/^● scout .*\(1 delegation\)$/m);
  expect(out).toMatch(/^○ helper {2}created by lead \(1 delegation\)$/m);
  expect(out).toMatch(/^● late .*\(1 without effect until you run: ambit trust, 1 expired\)$/m);
  expect((await fixture.ambit("freeze")).status).toBe(0);
  expect((await fixture.ambit("agents", "tree")).out).toContain("frozen: every call is denied");
  const data = json((await fixture.ambit("agents", "tree", "--json")).out);
  expect(data).toMatchObject({ workspace: fixture.project, isFrozen: true });
  expect((await fixture.ambitAtTerminal("thaw")).status).toBe(0);
});

describe("someone keeps projects behind a link (`~/work -> /data/work`)", () => {
  test("a path by either name is the same path, for tools, `can` and programs' folders", async () => {
    const [real, link] = [join(fixture.base, "data"), join(fixture.base, "work")];
    fixture.write("data/docs/a.txt", "hello\n");
    fixture.write("data/secret/b.txt", "no\n");
    symlinkSync(real, link);
    fixture.agent("linked", [`fs.read{in=${link}/docs}`, `proc.exec{in=${real}/docs,cmds=[pwd]}`]);
    await fixture.trust();
    for (const folder of [real, link]) {
      const path = join(folder, "docs", "a.txt");
      const read = await fixture.ambit("call", "linked", "fs_read", JSON.stringify({ path }), "--json");
      expect([path, json(read.out)["ok"]]).toEqual([path, true]);
      expect((await fixture.ambit("can", "linked", "fs.read", path)).status).toBe(0);
      const ran = await fixture.ambit("exec", "linked", "--in", join(folder, "docs"), "--", "pwd");
      expect([ran.status, ran.out]).toEqual([0, `${real}/docs\n`]);
      // One folder away.
      const other = join(folder, "secret", "b.txt");
      expect((await fixture.ambit("can", "linked", "fs.read", other)).status).toBe(10);
      expect((await fixture.ambit("call", "linked", "fs_read", JSON.stringify({ path: other }))).status).toBe(10);
    }
  });

  test("a link inside a granted folder that leads out is denied by either name", async () => {
    const [real, link] = [join(fixture.base, "data"), join(fixture.base, "work")];
    symlinkSync(join(real, "secret"), join(real, "docs", "out"));
    for (const folder of [real, link]) {
      const path = join(folder, "docs", "out", "b.txt");
      expect((await fixture.ambit("call", "linked", "fs_read", JSON.stringify({ path }))).status).not.toBe(0);
    }
  });
});

test("someone runs a program for an agent that another agent created", async () => {
  fixture.agent("maker", ["agent.create", "agent.grant", "fs.read", "proc.exec{cmds=[pwd]}"], "sandbox: .\n");
  await fixture.trust();
  const maker = expectValue(await fixture.caller().open(fixture.project, "maker"));
  const grants = [`proc.exec{in=${fixture.project},cmds=[pwd]}`, `fs.read{in=${fixture.project}}`];
  expect((await maker.do("agent_create", { id: "runner", instructions: "run", grants })).said).toBe("done");
  const ran = await fixture.ambit("exec", "runner", "--", "pwd");
  expect([ran.status, ran.out]).toEqual([0, `${fixture.project}\n`]);
  const denied = await fixture.ambit("exec", "runner", "--", "ls");
  expect([denied.status, denied.out.includes("agents grant runner")]).toEqual([125, false]);
  expect((await fixture.ambit("exec", "runer", "--", "pwd")).status).toBe(125);
});

test("someone asks why the policy denied: it is named, and no grant is proposed", async () => {
  fixture.write("other/.ambit/config.yml", "policy: { web: deny }\n");
  fixture.write("other/.ambit/agents/web.md", "---\ncapabilities: [net.get: { hosts: [x.test] }, memory.read]\n---\n");
  const run = (...words: readonly string[]): string =>
    spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
      cwd: join(fixture.base, "other"),
      env: fixture.environment,
      encoding: "utf8",
    }).stdout;
  run("trust", "--yes");
  const denied = json(run("call", "web", "web_fetch", '{"url": "https://x.test/"}', "--json"));
  const why = run("why", String(denied["id"]));
  expect(why).toContain("no grant to the agent allows this: the policy (`web: deny`) denies it");
  expect(why).not.toContain("agents grant --from");
});
