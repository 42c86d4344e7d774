// A refusal while a call runs is a denial of its own: logged with code, need and its call, found by every search, counted,
// remembered for the agent, and returned with need, hint and id.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import { until } from "../house/until.ts";
import type { Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

const TOOL = `
export default [
  {
    name: "nosy",
    description: "Reads what it may not.",
    capabilities: { fs_reach: { read: ["notes"] } },
    input: { type: "object", properties: { path: { type: "string" }, times: { type: "number" } }, required: ["path"] },
    execute: async ({ path, times = 1 }, context) => {
      let last = null;
      for (let at = 0; at < times; at++) last = await context.files.readText(path);
      return { last };
    },
  },
];
`;

let fixture: Fixture;
let session: Session;
beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.write("project/notes/a.txt", "a\n");
  fixture.write("project/.ambit/tools/nosy.mjs", TOOL);
  symlinkSync("/etc/hostname", join(fixture.project, "out"));
  symlinkSync(join(fixture.project, ".ambit"), join(fixture.project, "config-link"));
  fixture.agent(
    "coder",
    [
      `fs.read{in=${fixture.project}}`,
      `fs.write{in=${fixture.project}}`,
      "proc.exec",
      "net.connect{hosts=[good.example],ports=[443]}",
      "obs.query",
      "tool.invoke{tools=[builtin:**,nosy]}",
    ],
    "sandbox: .\n",
  );
  await fixture.begin();
  session = expectValue(await fixture.caller().open(fixture.project, "coder"));
});
afterAll(() => fixture?.remove());

/** The denials of a call: the last allowed one of this tool. */
async function denialsOf(tool: string): Promise<readonly LogEntry[]> {
  const log = await fixture.log({ kind: "decision" });
  const call = log.findLast((entry) => entry.tool === tool && entry.outcome === "allow");
  return log.filter(({ of, outcome }) => of === call?.id && outcome === "deny");
}

interface Row {
  readonly tool: string;
  readonly input: object;
  readonly code: string;
  readonly verb: string;
  readonly need: RegExp;
}

const rows: readonly (readonly [what: string, row: Row])[] = [
  [
    "a link that leads out of the root",
    { tool: "fs_read", input: { path: "out" }, code: "scope_violation", verb: "fs.read", need: /^fs\.read .*\/out/ },
  ],
  [
    "a protected name behind a link",
    {
      tool: "fs_write",
      input: { path: "config-link/x.md", content: "x" },
      code: "scope_violation",
      verb: "fs.write",
      need: /^fs\.write .*config-link\/x\.md/,
    },
  ],
  [
    "a connection of a program",
    {
      tool: "proc_exec",
      input: {
        in: ".",
        root: "rw",
        argv: ["bash", "-c", "exec 3<>/dev/tcp/evil.example/443; exec 3<>/dev/tcp/evil.example/443; true"],
      },
      code: "scope_violation",
      verb: "net.connect",
      need: /^net\.connect evil\.example/,
    },
  ],
  [
    "a context use in a tool host",
    {
      tool: "nosy",
      input: { path: "out", times: 2 },
      code: "scope_violation",
      verb: "fs.read",
      need: /^fs\.read/,
    },
  ],
];

describe.each(rows)("%s", (_, { tool, input, code, verb, need }) => {
  let told: Awaited<ReturnType<Session["do"]>>;
  let denials: readonly LogEntry[];
  beforeAll(async () => {
    told = await session.do(tool, input);
    await until(async () => {
      denials = await denialsOf(tool);
      return denials.length > 0;
    }, "it is written down");
  });

  test("is its own log entry of the call, with its need and the call's arguments", () => {
    expect(denials.length).toBeLessThan(4);
    const [entry] = denials;
    expect(entry).toMatchObject({ kind: "decision", outcome: "deny", code, verbs: [verb], tool });
    expect(entry?.more["need"]).toMatch(need);
    expect(entry?.more["arguments"]).toEqual(input);
  });

  test("is found by every search, by `why` and by the counts", async () => {
    const id = denials[0]?.id ?? "";
    for (const words of [
      ["--outcome", "deny"],
      ["--code", code],
      ["--verb", verb],
    ])
      expect((await fixture.ambit("log", ...words, "--json")).out).toContain(id);
    const why = await fixture.ambit("why", id);
    expect([why.status, why.out]).toEqual([0, expect.stringContaining(code)]);
    expect((await fixture.status()).denials.find((one) => one.code === code)?.times).toBeGreaterThan(0);
    const observed = expectValue(await session.ask("call.do", { tool: "obs_query", input: { tag: "denial" } }).answer);
    expect(JSON.stringify(observed)).toContain(id);
  });

  test("is returned with need, hint and id", () => {
    const said = JSON.stringify(told.value);
    expect(denials.some(({ id }) => said.includes(id))).toBe(true);
    expect(said).toMatch(/"need":"[a-z]+\.[a-z]+/);
    expect(said).toMatch(/"hint":"[A-Z]/);
    // The target of a link is shown to persons only.
    expect(said).not.toContain("hostname");
  });
});

test("repeated refusals are counted, and no count is lost", async () => {
  const before = (await fixture.status()).denials.find(({ code }) => code === "scope_violation")?.times ?? 0;
  await session.do("nosy", { path: "out", times: 40 });
  const written = await denialsOf("nosy");
  expect(written.length).toBeLessThanOrEqual(4);
  await until(
    async () =>
      ((await fixture.status()).denials.find(({ code }) => code === "scope_violation")?.times ?? 0) >= before + 40,
    "all of them are counted",
  );
});

test("a denial at the gate has the arguments, too", async () => {
  await session.do("fs_delete", { path: "notes/a.txt" });
  const entry = (await fixture.log({ kind: "decision", outcome: "deny" })).findLast(({ tool }) => tool === "fs_delete");
  expect(entry?.more["arguments"]).toEqual({ path: "notes/a.txt" });
});
