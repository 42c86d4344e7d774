// Authority is what is on disk: an edit takes effect at the next call, and an invalid file grants nothing and is reported.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../house/until.ts";
import type { Caller, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("edited", ["memory.read{keys=[a,b]}"]);
  fixture.agent("broken", ["memory.read"]);
  fixture.agent("tested", ["memory.read"]);
  fixture.agent("moved", ["memory.read"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function open(agent: string, cwd = fixture.project): Promise<Session> {
  return expectValue(await caller.open(cwd, agent));
}

async function reads(session: Session, key = "a"): Promise<string> {
  return (await session.do("memory_get", { key })).said;
}

describe("an edit", () => {
  test("that narrows takes effect at the next call; one that widens waits for trust", async () => {
    const session = await open("edited");
    expect([await reads(session, "a"), await reads(session, "b")]).toEqual(["done", "done"]);
    fixture.agent("edited", ["memory.read{keys=[a]}"]);
    await until(async () => (await reads(session, "b")) === "scope_violation", "less holds");
    fixture.agent("edited", ["memory.read{keys=[a,b,c]}"]);
    await until(async () => (await reads(session, "b")) === "done", "what was trusted holds");
    expect(await reads(session, "c")).toBe("untrusted_policy");
    expect(await reads(session, "d")).toBe("scope_violation");
    expect((await open("edited")).notes.join(" ")).toMatch(/ambit trust/);
    await fixture.trust();
    expect(await reads(session, "c")).toBe("done");
    expect((await open("edited")).notes).toEqual([]);
  });

  test("of a file outside any project takes effect at once, every time", async () => {
    const folder = join(fixture.base, "loose");
    mkdirSync(folder);
    const write = (keys: string): void =>
      writeFileSync(join(folder, "loose.md"), `---\ncapabilities: ["memory.read{keys=[${keys}]}"]\n---\n`);
    write("a");
    const session = await open("./loose.md", folder);
    // Of the same length, and faster than a file system's clock ticks.
    for (let round = 0; round < 20; round++)
      for (const key of ["a", "b"]) {
        write(key);
        const told = [await reads(session, "a"), await reads(session, "b")];
        expect([round, key, ...told]).toEqual([
          round,
          key,
          ...["a", "b"].map((one) => (one === key ? "done" : "scope_violation")),
        ]);
      }
  });

  test.each([
    ["broken", "---\ncapabilities: [\n---\n"],
    ["tested", "---\ncapabilities: [memory.read]\ntests:\n  - deny: memory.read a\n---\n"],
  ])("that makes a record invalid grants nothing and is reported (%s)", async (agent, text) => {
    const session = await open(agent);
    expect(await reads(session)).toBe("done");
    fixture.write(`project/.ambit/agents/${agent}.md`, text);
    await until(async () => (await reads(session)) !== "done", "nothing is granted");
    const { notes } = await open(agent);
    expect(notes.length).toBeGreaterThan(0);
    const ran = await fixture.ambit("call", agent, "memory_get", '{"key":"a"}');
    expect([ran.status === 0, ran.out.includes("warning")]).toEqual([false, true]);
  });

  test("that removes the file, or replaces it with a folder, grants nothing", async () => {
    const session = await open("moved");
    const path = join(fixture.project, ".ambit", "agents", "moved.md");
    rmSync(path);
    await until(async () => (await reads(session)) === "unknown_agent", "the agent is unknown");
    mkdirSync(path);
    await until(async () => (await reads(session)) !== "done", "the agent is unknown");
    rmSync(path, { recursive: true });
    fixture.agent("moved", ["memory.read"]);
    await until(async () => (await reads(session)) === "done", "it is there again");
  });
});

test("an untrusted project grants nothing, and the message says what to do", async () => {
  fixture.write("untrusted/.ambit/agents/scout.md", "---\ncapabilities: [memory.read]\n---\n");
  const session = await open("scout", join(fixture.base, "untrusted"));
  expect(session.notes.join(" ")).toMatch(/ambit trust/);
  expect(await reads(session)).not.toBe("done");
  expect(await reads(await open("edited"))).toBe("done");
});

describe("a dangling link as configuration", () => {
  const places: readonly (readonly [string, () => string])[] = [
    ["the user's", () => join(fixture.config, "config.yml")],
    ["the project's", () => join(fixture.project, ".ambit", "config.yml")],
  ];
  test.each(places)("%s allows nothing, and is reported", async (_, pathOf) => {
    const path = pathOf();
    const session = await open("moved");
    expect(await reads(session)).toBe("done");
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(join(fixture.base, "not-mounted"), path);
    const away = /config\.yml is a broken link/;
    await until(async () => away.test((await open("moved")).notes.join(" ")), "it is noticed");
    expect(await reads(session)).not.toBe("done");
    const can = await fixture.ambit("can", "moved", "memory.read", "a");
    expect([can.status === 0, away.test(can.out)]).toEqual([false, true]);
    expect((await fixture.ambit("doctor")).out).toMatch(away);
    rmSync(path);
    await until(async () => (await reads(session)) === "done", "it is gone");
  });
});
