// Calls of an application: built-in tools run in the daemon, its own tools here on the daemon's receipt, and nothing without one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Context } from "../../src/index.ts";
import { defineTool } from "../../src/index.ts";
import type { Ambit } from "../../src/library/library.ts";
import { until } from "../house/until.ts";
import { type LibraryFixture, libraryFixture } from "./fixture.ts";

let library: LibraryFixture;
let ambit: Ambit;
const ran: string[] = [];
let kept: Context | null = null;

const empty = { type: "object", additionalProperties: false } as const;

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  execute: ({ a, b }) => {
    ran.push("add");
    return { sum: a + b };
  },
});
const notes = defineTool({
  name: "notes",
  description: "Reads a note.",
  capabilities: { fs_reach: { read: ["notes"] } },
  input: { type: "object", properties: { file: { type: "string" } }, required: ["file"], additionalProperties: false },
  requests: ({ file }) => [{ verb: "fs.read", path: file }],
  execute: async ({ file }, context) => {
    ran.push("notes");
    kept = context;
    return context.files.readText(file);
  },
});
const sneaky = defineTool({
  name: "sneaky",
  description: "Asks for what it does not declare.",
  input: empty,
  execute: (_, context) => context.files.readText("notes/a.txt"),
});
const beyond = defineTool({
  name: "beyond",
  description: "Says it will ask for what it does not declare.",
  input: empty,
  requests: () => [{ verb: "fs.read", path: "notes/a.txt" }],
  execute: () => {
    ran.push("beyond");
    return null;
  },
});
const endless = defineTool({
  name: "endless",
  description: "Waits until it is stopped.",
  input: empty,
  execute: (_, context) =>
    new Promise((_, fail) => {
      ran.push("endless");
      context.signal.onStop(() => {
        ran.push("stopped");
        fail(new Error("stopped"));
      });
    }),
});
const failing = defineTool({
  name: "failing",
  description: "Fails.",
  input: empty,
  execute: () => {
    throw new Error("no such luck");
  },
});

const keyed = defineTool({
  name: "keyed",
  description: "Uses a key that is not stored.",
  capabilities: { network: { allowedHosts: ["api.weather.gov"] }, secrets: ["WEATHER_API_KEY"] },
  input: empty,
  execute: (_, context) => {
    ran.push("keyed");
    return context.secrets.has("WEATHER_API_KEY");
  },
});

const invoke = "tool.invoke{tools=[builtin:**,add,notes,sneaky,beyond,endless,failing,keyed]}";

beforeAll(async () => {
  library = await libraryFixture({
    app: [invoke, "memory.read", "memory.write{keys=[a/**]}", "fs.read{in=notes}"],
    keyed: [invoke, "net.get{hosts=[api.weather.gov]}", "secret.use{names=[WEATHER_API_KEY]}"],
    poor: ["memory.read"],
    blind: [invoke],
    asking: ["tool.invoke{tools=[add],ask}", "tool.invoke{tools=[builtin:**]}"],
    counted: ["tool.invoke{tools=[add],calls=2}"],
  });
  library.fixture.write("project/notes/a.txt", "buy milk\n");
  library.fixture.write("project/secret.txt", "nothing for notes\n");
  ambit = await library.open();
  for (const tool of [add, notes, sneaky, beyond, endless, failing, keyed])
    expect(ambit.register(tool)).toMatchObject({ ok: true });
});
afterAll(() => library?.remove());

describe("a built-in tool", () => {
  test("is carried out by the daemon, and returns its receipt", async () => {
    const session = await ambit.session("app");
    expect(await session.call("memory_set", { key: "a/b", value: "x" })).toMatchObject({ ok: true });
    const got = await session.call("memory_get", { key: "a/b" });
    expect(got).toMatchObject({ ok: true, value: { value: "x" } });
    expect(got.ok && (await library.fixture.log({})).some(({ id }) => id === got.receipt)).toBe(true);
  });

  test("that is denied says why, as data", async () => {
    const session = await ambit.session("app");
    const answer = await session.call("memory_set", { key: "b", value: "x" });
    expect(answer).toMatchObject({ ok: false, code: "scope_violation", need: "memory.write b", approval: null });
    if (answer.ok) throw new Error("allowed");
    expect(answer.hint).toContain("Stay within your grants");
    expect((await library.fixture.log({})).some(({ id, outcome }) => id === answer.id && outcome === "deny")).toBe(
      true,
    );
  });

  test("reports what is wrong with its arguments", async () => {
    const session = await ambit.session("app");
    expect(await session.call("memory_get", { keys: 1 })).toMatchObject({ ok: false, code: "invalid_input" });
    expect(await session.call("memory_get", [1])).toMatchObject({ ok: false, code: "invalid_input" });
    expect(await session.call("memory_get", { key: () => 1 })).toMatchObject({ ok: false, code: "invalid_input" });
    expect(await session.call("no_such_tool", {})).toMatchObject({ ok: false, code: "unknown_tool" });
    const wait = { waitSeconds: Number.NaN };
    expect(await session.call("memory_get", { key: "a" }, wait)).toMatchObject({ ok: false, code: "invalid_input" });
  });
});

describe("a tool of the application", () => {
  test("runs here on the daemon's receipt, and its outcome is logged", async () => {
    const session = await ambit.session("app");
    const answer = await session.call("add", { a: 1, b: 2 });
    // The call itself was checked; this tool declares and uses nothing else.
    const enforcement = ["tool", "arguments"].map((axis) => ({ axis, strength: "checked" }));
    expect(answer).toMatchObject({ ok: true, value: { sum: 3 }, enforcement });
    if (!answer.ok) throw new Error(answer.code);
    await session.close();
    const entries = await library.fixture.log({});
    expect(entries.find(({ id }) => id === answer.receipt)).toMatchObject({ outcome: "allow", tool: "add" });
    // The promise is not awaited.
    const outcome = async (): Promise<string | undefined> =>
      (await library.fixture.log({ kind: "outcome" })).find(({ of }) => of === answer.receipt)?.outcome;
    await until(async () => (await outcome()) !== undefined, "its outcome is written");
    expect(await outcome()).toBe("done");
  });

  test("does not run if the agent may not call it", async () => {
    const before = ran.length;
    const session = await ambit.session("poor");
    const answer = await session.call("add", { a: 1, b: 2 });
    expect(answer).toMatchObject({ ok: false, code: "scope_violation" });
    expect(!answer.ok && answer.id).toBeTruthy();
    expect(ran.length).toBe(before);
  });

  test("with invalid arguments is refused, and does not run", async () => {
    const before = ran.length;
    const session = await ambit.session("app");
    expect(await session.call("add", { a: "1", b: 2 })).toMatchObject({
      ok: false,
      code: "invalid_input",
      reason: "a must be number",
    });
    expect(ran.length).toBe(before);
  });

  test("reaches what it declares and the agent holds, and nothing else", async () => {
    const session = await ambit.session("app");
    expect(await session.call("notes", { file: "notes/a.txt" })).toMatchObject({ ok: true, value: "buy milk\n" });
    expect(await session.call("notes", { file: "secret.txt" })).toMatchObject({ ok: false, code: "scope_violation" });
    expect(await session.call("sneaky", {})).toMatchObject({ ok: false, code: "capability_absent" });
    const blind = await ambit.session("blind");
    expect(await blind.call("notes", { file: "notes/a.txt" })).toMatchObject({ ok: false, code: "capability_absent" });
  });

  test("that says it requests more than it declares does not run", async () => {
    const before = ran.length;
    const session = await ambit.session("app");
    expect(await session.call("beyond", {})).toMatchObject({
      ok: false,
      code: "capability_absent",
      need: expect.stringContaining("notes/a.txt"),
      id: expect.stringMatching(/.+/),
    });
    expect(ran.length).toBe(before);
  });

  test("that declares a missing secret does not run", async () => {
    const before = ran.length;
    const session = await ambit.session("keyed");
    expect((await session.tools()).map(({ name }) => name)).toContain("keyed");
    expect(await session.call("keyed", {})).toMatchObject({
      ok: false,
      code: "not_available",
      reason: expect.stringContaining("WEATHER_API_KEY"),
    });
    expect(ran.length).toBe(before);
  });

  test("cannot use its context after the call", async () => {
    const session = await ambit.session("app");
    await session.call("notes", { file: "notes/a.txt" });
    expect(await kept?.files.readText("notes/a.txt")).toMatchObject({ ok: false, code: "revoked" });
  });

  test("that fails gives a result with the receipt", async () => {
    const session = await ambit.session("app");
    const answer = await session.call("failing", {});
    expect(answer).toMatchObject({ ok: false, code: "execution_failed", reason: "no such luck" });
    expect(!answer.ok && answer.id).toBeTruthy();
  });

  test("is counted as granted, also with concurrent calls", async () => {
    const session = await ambit.session("counted");
    const answers = await Promise.all(Array.from({ length: 8 }, () => session.call("add", { a: 1, b: 1 })));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(2);
    for (const answer of answers) if (!answer.ok) expect(answer.code).toBe("budget_exhausted");
  });

  test("that needs approval names the pending approval", async () => {
    const before = ran.length;
    const session = await ambit.session("asking");
    const answer = await session.call("add", { a: 1, b: 2 });
    expect(answer).toMatchObject({ ok: false, code: "approval_required", approval: expect.stringMatching(/.+/) });
    const soon = new AbortController();
    const waiting = session.call("add", { a: 3, b: 4 }, { waitSeconds: 600, signal: soon.signal });
    soon.abort();
    expect(await waiting).toMatchObject({ ok: false, code: "revoked" });
    expect(ran.length).toBe(before);
  });
});

describe("a signal", () => {
  test("stops a running call", async () => {
    const session = await ambit.session("app");
    const controller = new AbortController();
    const before = ran.length;
    const running = session.call("endless", {}, { signal: controller.signal });
    await until(() => ran.slice(before).includes("endless"), "it runs");
    controller.abort();
    expect(await running).toMatchObject({ ok: false, code: "revoked", reason: "the call was stopped" });
    await until(() => ran.slice(before).includes("stopped"), "it is told");
    const late = await session.call("add", { a: 1, b: 1 }, { signal: controller.signal });
    expect(late).toMatchObject({ ok: false, code: "revoked" });
  });

  test("closing the session stops its running calls", async () => {
    const session = await ambit.session("app");
    const before = ran.length;
    const running = session.call("endless", {});
    await until(() => ran.slice(before).includes("endless"), "it runs");
    await session.close();
    expect(await running).toMatchObject({ ok: false, code: "revoked" });
    expect(await session.call("add", { a: 1, b: 1 })).toMatchObject({ ok: false, code: "revoked" });
    await session.close();
  });
});

describe("a session", () => {
  test("lists the tools its grants can ever allow", async () => {
    const names = async (agent: string): Promise<readonly string[]> =>
      (await (await ambit.session(agent)).tools()).map(({ name }) => name);
    const app = await names("app");
    expect(app).toEqual(app.toSorted());
    expect(app).toEqual(expect.arrayContaining(["add", "endless", "fs_read", "memory_get", "memory_set", "notes"]));
    const poor = await names("poor");
    expect(poor).toContain("memory_get");
    for (const name of ["add", "memory_set", "notes", "fs_read"]) expect(poor).not.toContain(name);
    const blind = await names("blind");
    expect(blind).toContain("add");
    expect(blind).not.toContain("notes");
    const shown = (await (await ambit.session("app")).tools()).find(({ name }) => name === "add");
    expect(shown).toMatchObject({ origin: "application", description: "Adds two numbers.", input: add.schema });
  });

  test("pledges, and has no more authority from then on", async () => {
    const session = await ambit.session("app");
    await session.pledge(["tool.invoke{tools=[add]}"]);
    expect(await session.call("add", { a: 1, b: 2 })).toMatchObject({ ok: true });
    expect(await session.call("memory_get", { key: "a" })).toMatchObject({ ok: false });
    expect((await session.tools()).map(({ name }) => name)).toEqual(["add"]);
    await expect(session.pledge(["nonsense{"])).rejects.toMatchObject({ name: "AmbitRefused", code: "invalid_input" });
    const pledged = await ambit.session("app", { pledge: ["memory.read", "tool.invoke{tools=[builtin:**]}"] });
    expect(await pledged.call("add", { a: 1, b: 2 })).toMatchObject({ ok: false });
  });

  test("of an unknown agent is refused", async () => {
    await expect(ambit.session("missing")).rejects.toMatchObject({ name: "AmbitRefused", fix: expect.anything() });
  });

  test("names its user in the log", async () => {
    const session = await ambit.session("app", { user: "ada" });
    await session.call("add", { a: 1, b: 2 });
    const entries = await library.fixture.log({ user: "ada" });
    expect(entries.some(({ tool }) => tool === "add")).toBe(true);
  });
});

test("without a daemon nothing runs, and the next session starts one again", async () => {
  const session = await ambit.session("app");
  const before = ran.length;
  await library.fixture.killDaemon();
  expect(await session.call("add", { a: 1, b: 2 })).toMatchObject({
    ok: false,
    kind: "failed",
    code: "no_daemon",
    id: "",
  });
  expect(await session.call("memory_get", { key: "a" })).toMatchObject({ ok: false, code: "no_daemon" });
  expect(ran.length).toBe(before);
  await expect(session.tools()).rejects.toMatchObject({ code: "no_daemon" });
  const next = await ambit.session("app");
  expect(await next.call("add", { a: 1, b: 2 })).toMatchObject({ ok: true, value: { sum: 3 } });
  writeFileSync(join(library.fixture.project, "notes", "b.txt"), "later");
  expect(await next.call("notes", { file: "notes/b.txt" })).toMatchObject({ ok: true, value: "later" });
});
