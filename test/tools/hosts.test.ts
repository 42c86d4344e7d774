// Custom tools through the real daemon: found, trusted, described and run in their hosts; failures are contained.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import type { Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let caller: Caller;
let session: Session;

const WEATHER = `
import { defineTool } from "ambit";
import { shout } from "./lib/shout.mjs";
let kept = null;
let calls = 0;
export default [
  defineTool({
    name: "weather",
    description: "Says what a file says of the weather.",
    capabilities: { fs_reach: { read: ["notes"] }, storage: { scope: "tool-private", kind: "kv" } },
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
    requests: ({ city }) => [{ verb: "fs.read", path: "notes/" + city }],
    execute: async ({ city }, context) => {
      console.log("this is printed, and breaks nothing");
      const text = await context.files.readText("notes/" + city);
      if (!text.ok) return text;
      return { text: shout(text.value), calls: ++calls };
    },
  }),
  defineTool({
    name: "keeper",
    description: "Keeps its context and uses it later.",
    capabilities: { fs_reach: { read: ["notes"] } },
    input: { type: "object" },
    execute: async (input, context) => {
      if (kept === null) {
        kept = context;
        return { first: await context.files.readText("notes/oslo") };
      }
      return { later: await kept.files.readText("notes/oslo"), now: await context.files.readText("notes/oslo"), stopped: kept.signal.isStopped() };
    },
  }),
  defineTool({ name: "looping", description: "Never ends.", input: {}, execute: () => { for (;;); } }),
  defineTool({ name: "crashing", description: "Ends its host.", input: {}, execute: () => process.exit(7) }),
  defineTool({ name: "throwing", description: "Throws.", input: {}, execute: () => { throw new Error("no weather"); } }),
  defineTool({ name: "later", description: "Throws after its call.", input: {}, execute: () => { setTimeout(() => { throw new Error("later"); }, 5); return 1; } }),
  defineTool({ name: "large", description: "Answers with much.", input: {}, execute: () => "x".repeat(100_000_000) }),
  defineTool({ name: "hungry", description: "Takes all memory.", input: {}, execute: () => { const all = []; for (;;) all.push(Buffer.alloc(16_777_216, 1)); } }),
  defineTool({ name: "secretive", description: "Declares a secret.", capabilities: { secrets: ["NOWHERE"] }, input: {}, execute: () => 1 }),
  defineTool({ name: "brief", description: "Says how long it may take.", milliseconds: 2000, input: {}, execute: ({ forever }) => { while (forever); return 1; } }),
  defineTool({ name: "endless", description: "Wants more time than there is.", milliseconds: 120_001, input: {}, execute: () => 1 }),
];
`;

const NAMES =
  "tool.invoke{tools=[weather,keeper,looping,crashing,throwing,later,large,hungry,secretive,packed,brief,endless]}";

beforeAll(async () => {
  fixture = await Fixture.make();
  mkdirSync(join(fixture.project, "notes"));
  writeFileSync(join(fixture.project, "notes", "oslo"), "rain");
  fixture.write("project/.ambit/tools/weather.mjs", WEATHER);
  fixture.write("project/.ambit/tools/lib/shout.mjs", "export const shout = (text) => text.toUpperCase();\n");
  fixture.write("project/.ambit/tools/broken.mjs", "this is no JavaScript\n");
  fixture.write("project/.ambit/tools/typed.ts", "export default {};\n");
  fixture.write("project/.ambit/config.yml", "tools: [weather-package, missing-package]\n");
  fixture.write(
    "project/node_modules/weather-package/package.json",
    JSON.stringify({
      name: "weather-package",
      version: "1.2.3",
      type: "module",
      exports: "./main.js",
      dependencies: { deep: "*" },
    }),
  );
  fixture.write(
    "project/node_modules/weather-package/main.js",
    'import deep from "deep";\nexport default { name: "packed", description: "From a package.", input: {}, execute: () => ({ deep }) };\n',
  );
  fixture.write(
    "project/node_modules/deep/package.json",
    JSON.stringify({ name: "deep", version: "1.0.0", main: "index.js" }),
  );
  fixture.write("project/node_modules/deep/index.js", 'module.exports = "from a dependency";\n');
  fixture.agent("scout", [`fs.read{in=${fixture.project}}`, "memory.read", "memory.write", NAMES]);
  fixture.agent("counted", ["secret.use{names=[NOWHERE]}", "tool.invoke{tools=[secretive],calls=1}"]);
  fixture.agent("other", [`fs.read{in=${fixture.project}}`, "tool.invoke{tools=[packed]}"]);
  await fixture.begin();
  caller = fixture.caller();
  session = expectValue(await caller.open(fixture.project, "scout"));
}, 240_000);
afterAll(() => fixture?.remove());

const called = (tool: string, input: object = {}) => session.do(tool, input);

test("a tool in a file is listed, called, and reads within its declaration", async () => {
  const listed = expectValue(await session.ask("tools.list", {}).answer)["tools"] as { name: string; origin: string }[];
  expect(listed.filter(({ origin }) => origin === "tool").map(({ name }) => name)).toEqual([
    ...["brief", "crashing", "hungry", "keeper", "large", "later", "looping", "packed", "throwing", "weather"],
  ]);
  expect((await called("weather", { city: "oslo" })).value["result"]).toEqual({ text: "RAIN", calls: 1 });
  // The same host, still warm.
  expect((await called("weather", { city: "oslo" })).value["result"]).toEqual({ text: "RAIN", calls: 2 });
}, 60_000);

test("a call outside its declaration is denied before any of its code runs", async () => {
  expect((await called("weather", { city: "../.ambit/config.yml" })).said).toBe("scope_violation");
  expect((await called("weather", { town: "oslo" })).said).toBe("invalid_input");
});

test("a package is loaded with its dependencies", async () => {
  expect((await called("packed")).value["result"]).toEqual({ deep: "from a dependency" });
});

test("a context kept after the call is revoked", async () => {
  const ok = { ok: true, value: "rain" };
  expect((await called("keeper")).value["result"]).toEqual({ first: ok });
  expect((await called("keeper")).value["result"]).toMatchObject({
    later: { ok: false, code: "revoked" },
    now: ok,
    stopped: true,
  });
});

describe("a failure is contained, and the next call gets a new host", () => {
  for (const [tool, said] of [
    ["crashing", "execution_failed"],
    ["throwing", "execution_failed"],
    ["large", "execution_failed"],
    ["hungry", "execution_failed"],
  ] as const)
    test(tool, async () => {
      const answer = await called(tool);
      expect([answer.said, answer.value]).toEqual([said, expect.anything()]);
      expect((await called("weather", { city: "oslo" })).said).toBe("done");
    }, 60_000);
  test("after the call", async () => {
    expect((await called("later")).said).toBe("done");
    // The host counts its calls: one that lives on never gets back to the first.
    const isFirst = async (): Promise<boolean> => {
      const { value } = await called("weather", { city: "oslo" });
      return JSON.stringify(value["result"]) === '{"text":"RAIN","calls":1}';
    };
    await until(isFirst, "another host answers");
  }, 60_000);
  test("in an endless loop, once its caller cancels", async () => {
    const asked = session.ask("call.do", { tool: "looping", input: {}, requests: null, waitMilliseconds: 0 });
    await pause(1000, "the host is in its endless loop by then, and reports nothing");
    asked.stop();
    await asked.answer;
    expect((await called("weather", { city: "oslo" })).value["result"]).toEqual({ text: "RAIN", calls: 1 });
  }, 60_000);
});

test("a tool that declares a missing secret is not run", async () => {
  expect((await called("secretive")).said).toBe("not_available");
});

test("a tool that does not exist is not listed, and a call of it is not charged and not a decision", async () => {
  const counted = expectValue(await caller.open(fixture.project, "counted"));
  for (let times = 0; times < 3; times++) {
    const { said, value } = await counted.do("secretive");
    expect([said, value["message"]]).toEqual(["not_available", expect.stringContaining("NOWHERE")]);
  }
  const listed = expectValue(await counted.ask("tools.list", {}).answer)["tools"] as { name: string }[];
  expect(listed.map(({ name }) => name)).not.toContain("secretive");
  const decided = await fixture.log({ kind: "decision" });
  expect(decided.filter(({ session: one }) => one === counted.id)).toEqual([]);
  expectValue(
    await fixture.control("secrets.set", {
      name: "NOWHERE",
      value: "s3cr3t-value-9876543210",
      binding: { tools: ["secretive"], hosts: ["a.example"], uses: null },
      username: null,
      isCanary: false,
      isRotation: false,
      presence: null,
    }),
  );
  expect((await counted.do("secretive")).said).toBe("done");
  expect((await counted.do("secretive")).said).toBe("budget_exhausted");
}, 60_000);

test("an agent that may not call a tool is not told what the tool lacks", async () => {
  const { said, value } = await expectValue(await caller.open(fixture.project, "other")).do("secretive");
  expect([said, JSON.stringify(value)]).toEqual(["unknown_tool", expect.not.stringContaining("NOWHERE")]);
});

test("a result names what enforced the call in its sandbox", async () => {
  const { value } = await called("packed");
  await until(
    async () => (await fixture.log({ kind: "outcome" })).some(({ of }) => of === value["receipt"]),
    "settled",
  );
  const outcome = (await fixture.log({ kind: "outcome" })).find(({ of }) => of === value["receipt"]);
  expect(outcome?.more["enforcement"]).toEqual([
    { axis: "tool", strength: "checked" },
    { axis: "root", strength: "kernel" },
    { axis: "mode", strength: "kernel" },
    { axis: "argv", strength: "checked" },
    ...["host", "port", "raw"].map((axis) => ({ axis, strength: "kernel" })),
    { axis: "arguments", strength: "checked" },
  ]);
});

test("a tool may shorten its time limit, and never extend it", async () => {
  expect((await called("brief")).said).toBe("done");
  const { said, value } = await called("brief", { forever: true });
  expect([said, value["message"]]).toEqual(["execution_failed", "it took more than 2 seconds"]);
  expect((await called("endless")).said).toBe("unknown_tool");
  const { out } = await fixture.ambit("tools", "list");
  expect(out).toContain("at most 120000 milliseconds");
}, 60_000);

test("another agent sees and calls only the tools it is granted", async () => {
  const other = expectValue(await caller.open(fixture.project, "other"));
  const listed = expectValue(await other.ask("tools.list", {}).answer)["tools"] as { name: string; origin: string }[];
  expect(listed.filter(({ origin }) => origin === "tool").map(({ name }) => name)).toEqual(["packed"]);
  expect((await other.do("weather", { city: "oslo" })).said).toBe("unknown_tool");
});

describe("changed code does not run", () => {
  test("until it is trusted again; then the next call runs it", async () => {
    const path = join(fixture.project, ".ambit", "tools", "lib", "shout.mjs");
    const before = readFileSync(path, "utf8");
    writeFileSync(path, 'export const shout = () => "changed";\n');
    await until(
      async () => (await called("weather", { city: "oslo" })).said === "unknown_tool",
      "the change is noticed",
    );
    expect((await called("packed")).said).toBe("done");
    await fixture.trust();
    expect((await called("weather", { city: "oslo" })).value["result"]).toEqual({ text: "changed", calls: 1 });
    writeFileSync(path, before);
    await fixture.trust();
  }, 60_000);
  test("of a dependency deep inside", async () => {
    const path = join(fixture.project, "node_modules", "deep", "index.js");
    const before = readFileSync(path, "utf8");
    writeFileSync(path, 'module.exports = "other";\n');
    await until(async () => (await called("packed")).said === "unknown_tool", "the change is noticed");
    writeFileSync(path, before);
    await until(async () => (await called("packed")).said === "done", "the trusted text is back");
  }, 60_000);
});
