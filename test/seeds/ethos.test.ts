// The page about tools that declare what they touch, from top to bottom.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ambit } from "../../src/library/library.ts";
import type { Context } from "../../src/runtime/context/context.ts";
import { writeFiles } from "../house/files.ts";
import { type LibraryFixture, libraryFixture } from "../library/fixture.ts";
import { ALLOW, DENY, Walk } from "./walk.ts";

const object = { type: "object", additionalProperties: false } as const;
/** The tool of the page, as a plain object. */
const weather = {
  name: "fetch_weather",
  description: "Fetches the weather.",
  capabilities: { network: { allowedHosts: ["api.weather.gov"] }, secrets: ["WEATHER_API_KEY"] },
  input: object,
  execute: () => ({ sky: "clear" }),
};
const plain = {
  name: "plain",
  description: "Touches nothing.",
  capabilities: {},
  input: object,
  execute: () => "done",
};

let library: LibraryFixture;
let ambit: Ambit;

beforeAll(async () => {
  library = await libraryFixture({
    wide: ["net.get{hosts=[*.weather.gov]}", "net.post{hosts=[*.weather.gov]}", "net.put{hosts=[*.weather.gov]}"]
      .concat("net.delete{hosts=[*.weather.gov]}", "secret.use{names=[WEATHER_API_KEY]}")
      .concat("tool.invoke{tools=[fetch_weather,plain,closed,late,builtin:**]}", "memory.write{ask}"),
    waits: ["tool.invoke{tools=[endless]}"],
    narrow: ["net.get{hosts=[*.github.com]}", "tool.invoke{tools=[fetch_weather]}"],
  });
  ambit = await library.open();
}, 120_000);
afterAll(() => library?.remove());

describe("registration-time validation", () => {
  test("a declaration that fits the agent is registered", () => {
    expect(ambit.register(weather, { agent: "wide" })).toMatchObject({ ok: true, name: "fetch_weather" });
  });
  test("one that asks for more than the agent holds is an error, with a request as the example", () => {
    const answer = ambit.register({ ...weather, name: "other" }, { agent: "narrow" });
    expect(answer).toMatchObject({
      ok: false,
      errors: [
        { capability: "network", entry: "api.weather.gov", code: "exceeds_policy" },
        { capability: "secrets", entry: "WEATHER_API_KEY", code: "exceeds_policy" },
      ],
    });
    const [error] = answer.ok ? [] : answer.errors;
    expect(error?.counterexample).toMatch(/^net\.\w+ https?:\/\/api\.weather\.gov/);
    expect(error?.message).toContain("narrow does not allow it, such as net.");
  });
  test("an agent that is not there, and what is no tool, are errors as data", () => {
    expect(ambit.register(weather, { agent: "absent" })).toMatchObject({ errors: [{ code: "unknown_agent" }] });
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    for (const broken of [null, undefined, 5, "tool", [], {}, { name: 5 }, hostile, { ...plain, name: "a b" }])
      expect(ambit.register(broken as never)).toMatchObject({ ok: false });
  });
  test("a tool that declares nothing is closed, and runs", async () => {
    expect(ambit.register(plain)).toMatchObject({ ok: true });
    const session = await ambit.session("wide");
    expect(await session.call("plain")).toMatchObject({ ok: true, value: "done" });
  });
});

describe("fail closed", () => {
  test("a secret that is not stored: not available, before execute runs", async () => {
    const session = await ambit.session("wide");
    expect(await session.call("fetch_weather")).toMatchObject({ ok: false, kind: "failed", code: "not_available" });
  });
  test("isAvailable: a tool that says no, or throws, is neither listed nor called", async () => {
    let ran = 0;
    const closed = { ...plain, name: "closed", isAvailable: () => false, execute: () => ++ran };
    const late = {
      ...plain,
      name: "late",
      isAvailable: () => {
        throw new Error("no key");
      },
    };
    expect(ambit.register(closed)).toMatchObject({ ok: true });
    expect(ambit.register(late)).toMatchObject({ ok: true });
    const session = await ambit.session("wide");
    const names = (await session.tools()).map(({ name }) => name);
    expect(names).toContain("plain");
    expect(names).not.toContain("closed");
    expect(names).not.toContain("late");
    expect(await session.call("closed")).toMatchObject({ ok: false, kind: "failed", code: "not_available" });
    expect(await session.call("late")).toMatchObject({ ok: false, kind: "failed", code: "not_available" });
    expect(ran).toBe(0);
  });
});

describe("call-time context: exactly what is declared, whatever the code tries", () => {
  const served: string[] = [];
  const site = createServer((request, answer) => {
    served.push(request.url ?? "");
    answer.end("here");
  });
  let own: LibraryFixture;
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((ready) => site.listen(0, "127.0.0.1", ready));
    port = (site.address() as AddressInfo).port;
    const hosts = `hosts=[127.0.0.1,127.0.0.2],ports=[${port}]`;
    own = await libraryFixture({
      all: [
        "tool.invoke{tools=[**]}",
        `net.get{${hosts}}`,
        "fs.read{in=.}",
        "fs.write{in=.}",
        "proc.exec{in=.}",
      ].concat(...["memory.read", "memory.write"]),
      narrow: ["tool.invoke{tools=[**]}", "fs.read{in=notes}"],
    });
    writeFiles(own.fixture.project, { "notes/a.txt": "a", "other/b.txt": "b" });
  }, 120_000);
  afterAll(async () => {
    site.close();
    await own?.remove();
  });
  type Use = (context: Context) => Promise<unknown>;
  async function used(agent: string, capabilities: object, use: Use): Promise<unknown> {
    const ambit = await own.open();
    const tool = { ...plain, name: "probe", capabilities, execute: (_: unknown, context: Context) => use(context) };
    expect(ambit.register(tool as never)).toMatchObject({ ok: true });
    const session = await ambit.session(agent);
    const answer = await session.call("probe");
    await session.close();
    return answer;
  }
  const fetched =
    (host: string): Use =>
    async (context) => {
      const answer = await context.net.fetch(`http://${host}:${port}/`);
      return answer.ok ? answer.value.status : answer;
    };
  test.each<[string, object, Use, Use]>([
    ["network", { network: { allowedHosts: ["127.0.0.1"] } }, fetched("127.0.0.1"), fetched("127.0.0.2")],
    [
      "fs_reach",
      { fs_reach: { read: ["notes"] } },
      (context) => context.files.readText("notes/a.txt"),
      (context) => context.files.readText("other/b.txt"),
    ],
    [
      "fs_reach, read and write apart",
      { fs_reach: { read: ["notes"], write: ["other"] } },
      (context) => context.files.write("other/c.txt", "c"),
      (context) => context.files.write("notes/c.txt", "c"),
    ],
    [
      "process",
      { process: { allowedBinaries: ["ls"] }, fs_reach: { read: ["notes"] } },
      (context) => context.process.run(["ls"], { in: "notes" }),
      (context) => context.process.run(["cat", "a.txt"], { in: "notes" }),
    ],
    [
      "storage",
      { storage: { scope: "session", kind: "kv" } },
      (context) => context.storage.set("a", "1"),
      (context) => context.memory.set("a", "1"),
    ],
  ])("%s", async (_, capabilities, inside, outside) => {
    expect(await used("all", capabilities, inside)).toMatchObject({ ok: true });
    expect(await used("all", capabilities, outside)).toMatchObject({ ok: false, kind: "denied" });
    expect(await used("all", {}, inside)).toMatchObject({ ok: false, kind: "denied" });
  });
  test("the personality limits it too: what the tool declares and its agent does not hold is refused", async () => {
    const declared = { fs_reach: { read: ["notes", "other"] } };
    expect(await used("narrow", declared, (context) => context.files.readText("notes/a.txt"))).toMatchObject({
      ok: true,
    });
    expect(await used("narrow", declared, (context) => context.files.readText("other/b.txt"))).toMatchObject({
      ok: false,
      kind: "denied",
    });
  });
  test("many requests to one host at once", async () => {
    served.length = 0;
    const many: Use = async (context) => {
      const answers = await Promise.all(
        Array.from({ length: 16 }, () => context.net.fetch(`http://127.0.0.1:${port}/`)),
      );
      return answers.filter((answer) => answer.ok).length;
    };
    const answer = await used("all", { network: { allowedHosts: ["127.0.0.1"] } }, many);
    expect([answer, served.length]).toEqual([expect.objectContaining({ ok: true, value: 16 }), 16]);
  });
});

describe("the application", () => {
  test("reads the log, trust, approvals and folders", async () => {
    const session = await ambit.session("wide");
    const denied = await session.call("fs_read", { path: "/etc/passwd" });
    expect(denied).toMatchObject({ ok: false, kind: "denied", code: "capability_absent" });
    const [entry] = await ambit.log({ code: "capability_absent", count: 1 });
    expect(entry?.entry).toMatchObject({ agent: "wide", outcome: "deny" });
    expect(ambit.trust()).toMatchObject({ state: "trusted" });
    expect(ambit.folders.state).toMatch(/ambit$/);
    expect(await session.call("memory_set", { key: "a", value: "1" })).toMatchObject({ code: "approval_required" });
    const [waiting] = await ambit.approvals.list();
    expect(waiting).toMatchObject({ state: "pending" });
    expect(await ambit.approvals.refuse(waiting?.id ?? "", "not now")).toMatchObject({ state: "refused" });
    expect(await ambit.approvals.list()).toEqual([]);
  });
  test("has a ceiling for every session, and deadlines for calls", async () => {
    const low = await library.open({ ceiling: ["tool.invoke{tools=[builtin:**]}"] });
    const session = await low.session("wide");
    expect(await session.call("web_fetch", { url: "https://api.weather.gov/" })).toMatchObject({ kind: "denied" });
    const narrowed = await low.session("wide", { pledge: ["net.get{hosts=[api.weather.gov]}"] });
    expect(await narrowed.call("web_fetch", { url: "https://api.weather.gov/" })).toMatchObject({ kind: "denied" });
    const endless = { ...plain, name: "endless", execute: () => new Promise(() => undefined) };
    const own = await library.open();
    own.register(endless);
    const waits = await own.session("waits");
    expect(await waits.call("endless", {}, { deadlineSeconds: 0.05 })).toMatchObject({ code: "deadline_exceeded" });
    expect(await waits.call("endless", {}, { deadlineSeconds: -1 })).toMatchObject({ code: "invalid_input" });
  });
});

describe("tools of files", () => {
  const walk = new Walk();
  const source = (name: string, more: string): string =>
    `export default { name: "${name}", description: "A tool.", capabilities: { fs_reach: { read: ["notes"] } },\n` +
    `  input: { type: "object" }, ${more} };\n`;
  beforeAll(() => {
    walk.write({
      ".ambit/tools/slow.mjs": source(
        "slow",
        "execute: async (_, context) => { await context.files.readText('notes/a.txt'); await new Promise((go) => setTimeout(go, 400)); return 'ok'; }",
      ),
      ".ambit/tools/off.mjs": source("off", "isAvailable: () => false, execute: () => 'ran'"),
      "notes/a.txt": "a\n",
    });
    walk.record("user", "sandbox: .", "capabilities: [{ tool.invoke: { tools: [slow, off] } }, fs.read]");
  });
  afterAll(() => {
    walk.ambit("daemon", "stop");
  });
  test("what they declare is shown before they are trusted, and nothing of them is callable", () => {
    const listed = walk.ambit("tools", "list", "--json").out;
    expect(listed).toMatch(/"slow"[\s\S]*fs_reach/);
    expect(listed).toMatch(/ambit trust/);
    expect(walk.call("user", "slow").code).not.toBe(null);
    walk.trust();
    expect(walk.call("user", "slow").result).toBe("ok");
    expect(walk.call("user", "off").code).toBe("not_available");
  });
});

describe("the personality, imported as a record", () => {
  const walk = new Walk();
  beforeAll(() => {
    walk.write({
      "persona/toolset.yaml": "- read_file\n- web_fetch\n- fetch_weather\n",
      "persona/config.yaml": "safety:\n  network:\n    allow: ['*.github.com']\nfs_reach:\n  read: [notes]\n",
      "broken/config.yaml": "safety:\n  network:\n    deny: ['*']\n",
      ".ambit/agents/first.md": "---\ncapabilities: []\n---\n",
    });
    walk.trust();
  });
  afterAll(() => {
    walk.ambit("daemon", "stop");
  });
  test("toolset, safety.network and fs_reach become grants, and nothing more", () => {
    expect(walk.ambit("agents", "new", "persona", "--from", "persona", "--yes").status).toBe(0);
    walk.trust();
    expect(walk.can("persona", "net.get https://api.github.com/")).toBe(ALLOW);
    // Decision 0002 keeps the apex out of an imported `*.x`.
    expect(walk.can("persona", "net.get https://github.com/")).toBe(DENY);
    expect(walk.can("persona", "fs.read notes/a.txt")).toBe(ALLOW);
    expect(walk.can("persona", "fs.read other/a.txt")).toBe(DENY);
    expect(walk.can("persona", "tool.invoke fs_read {}")).toBe(ALLOW);
    expect(walk.can("persona", "tool.invoke fetch_weather {}")).toBe(ALLOW);
    expect(walk.can("persona", "tool.invoke shell {}")).toBe(DENY);
  });
  test("what is not understood imports nothing", () => {
    expect(walk.ambit("agents", "new", "broken", "--from", "broken", "--yes").status).toBe(3);
    expect(walk.ambit("agents", "new", "none", "--from", "nowhere", "--yes").status).toBe(3);
  });
});
