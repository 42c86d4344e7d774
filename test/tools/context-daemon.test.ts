// Contexts over the real daemon: a tool in the client's process reaches files, the network, programs, secrets and stored values
// within its declaration and its agent's grants, and nothing once its call is settled.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { VERSION } from "../../src/core/base/version.ts";
import type { CallMessages } from "../../src/core/ports/daemon/daemon-calls.ts";
import type { MessageClient } from "../../src/core/ports/daemon/exchange.ts";
import { contextSender } from "../../src/daemon/contexts/context-sender.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import type { Context } from "../../src/runtime/context/context.ts";
import { remoteContext } from "../../src/runtime/context/remote.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

const VALUE = "s3cr3t-value-0123456789";
let fixture: Fixture;
let call: MessageClient<CallMessages>;
let session = "";
let port = 0;
const heard: string[] = [];

const server = http.createServer((request, response) => {
  heard.push(`${request.url} ${request.headers.authorization ?? "none"}`);
  if (request.url === "/away") response.writeHead(302, { Location: "http://169.254.169.254/" }).end();
  else response.writeHead(200, { "Content-Type": "text/plain" }).end(`you said ${request.headers.authorization}`);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  fixture = await Fixture.make();
  const files = join(fixture.project, "files");
  mkdirSync(join(files, "in"), { recursive: true });
  writeFileSync(join(files, "in", "a.txt"), "hello");
  writeFileSync(join(files, "other.txt"), "other");
  writeFileSync(join(fixture.project, "ungranted.txt"), "ungranted");
  symlinkSync("../../ungranted.txt", join(files, "in", "out"));
  symlinkSync("../other.txt", join(files, "in", "undeclared"));
  fixture.agent("scout", [
    `fs.read{in=${files}}`,
    `fs.write{in=${files}}`,
    `fs.delete{in=${files}}`,
    "net.get{hosts=[127.0.0.1]}",
    `proc.exec{in=${files},cmds=[cat]}`,
    "memory.read{keys=[**]}",
    "memory.write{keys=[**]}",
    "secret.use{names=[**],tools=[weather],hosts=[127.0.0.1]}",
    "tool.invoke{tools=[weather,bare,memory_set,memory_list,fs_read,fs_glob,fs_write,web_fetch]}",
  ]);
  await fixture.begin();
  const binding = { tools: ["weather"], hosts: [`127.0.0.1:${port}`], uses: null };
  const secret = { value: VALUE, binding, username: null, isCanary: false, isRotation: false, presence: null };
  expectValue(await fixture.control("secrets.set", { name: "TOKEN", ...secret }));
  const other = { ...binding, tools: ["another"] };
  expectValue(
    await fixture.control("secrets.set", { name: "OTHER", ...secret, value: `${VALUE}-other`, binding: other }),
  );
  call = expectValue(await connect("call", { folder: fixture.folder, version: VERSION }));
  const opened = await call.ask("session.open", {
    ...{ cwd: fixture.project, agent: "scout", user: null, trace: null, face: "library", pledge: null, token: null },
    ...{ environment: {}, isForParent: false },
  });
  session = expectValue(opened).session;
}, 240_000);
afterAll(async () => {
  call?.close();
  server.closeAllConnections();
  server.close();
  await fixture?.remove();
});

const whole = (): JsonObject => ({
  network: { allowedHosts: ["127.0.0.1"] },
  secrets: ["TOKEN"],
  storage: { scope: "tool-private", kind: "kv" },
  fs_reach: { read: [join(fixture.project, "files", "in")], write: [join(fixture.project, "files", "in")] },
  process: { allowedBinaries: ["cat"] },
});

async function within<T>(
  declaration: JsonObject | undefined,
  act: (context: Context) => Promise<T>,
  tool = "weather",
): Promise<T> {
  const asked = { session, tool, input: {}, requests: [], waitMilliseconds: 0 };
  const permitted = expectValue(
    await call.ask("call.commit", declaration === undefined ? asked : { ...asked, declaration }),
  );
  if (permitted.outcome !== "allowed") throw new Error(JSON.stringify(permitted));
  const { receipt } = permitted;
  const { context, end } = remoteContext(contextSender(call, session, receipt));
  try {
    return await act(context);
  } finally {
    end();
    await call.ask("call.settle", { session, receipt, ended: "done", milliseconds: 1, isUntrusted: false });
  }
}

const file = (name: string): string => join(fixture.project, "files", name);
const at = (path: string): string => `http://127.0.0.1:${port}${path}`;

describe("files", () => {
  test("covered by declaration and grant are read and changed", async () => {
    await within(whole(), async ({ files }) => {
      expect(await files.readText(file("in/a.txt"))).toEqual({ ok: true, value: "hello" });
      expect(await files.write(file("in/b.txt"), new Uint8Array([1, 2, 255]))).toEqual({ ok: true, value: null });
      expect(await files.read(file("in/b.txt"))).toEqual({ ok: true, value: new Uint8Array([1, 2, 255]) });
      expect(await files.remove(file("in/b.txt"))).toEqual({ ok: true, value: null });
    });
    expect(existsSync(file("in/b.txt"))).toBe(false);
  });
  test("outside of either are refused, links included", async () => {
    await within(whole(), async ({ files }) => {
      expect(await files.readText(file("other.txt"))).toMatchObject({ ok: false, code: "scope_violation" });
      expect(await files.readText(join(fixture.project, "ungranted.txt"))).toMatchObject({ ok: false });
      expect(await files.readText(file("in/out"))).toMatchObject({ ok: false, code: "scope_violation" });
      expect(await files.readText(file("in/undeclared"))).toMatchObject({ ok: false, code: "scope_violation" });
      const listed = await files.glob(file("in"), "**");
      expect(listed.ok ? listed.value.map(({ path }) => path) : listed).toEqual(
        // A link is a name like any other; its target is not read.
        [file("in/a.txt"), file("in/out"), file("in/undeclared")],
      );
    });
    const declared = { ...whole(), fs_reach: { read: [fixture.project] } };
    await within(declared, async ({ files }) => {
      expect(await files.readText(file("other.txt"))).toEqual({ ok: true, value: "other" });
      expect(await files.readText(join(fixture.project, "ungranted.txt"))).toMatchObject({ ok: false });
      expect(await files.write(file("in/c.txt"), "x")).toMatchObject({ ok: false, code: "capability_absent" });
    });
    expect(existsSync(file("in/c.txt"))).toBe(false);
  });
  test("that do not exist give the same error as the file tools", async () => {
    await within(whole(), async ({ files }) => {
      const missing = { ok: false, code: "not_found", message: "no such file or folder" };
      expect(await files.readText(file("in/missing.txt"))).toMatchObject(missing);
      expect(await files.stat(file("in/missing.txt"))).toMatchObject(missing);
      expect(await files.remove(file("in/missing.txt"))).toMatchObject(missing);
    });
  });
  test("of five million bytes are written and read back", async () => {
    const bytes = Uint8Array.from({ length: 5_000_000 }, (_, index) => (index * 7) & 255);
    await within(whole(), async ({ files }) => {
      // More than fits in one message, and no more than the file worker writes at once.
      expect(await files.write(file("in/large"), bytes.subarray(0, 1_000_000))).toEqual({ ok: true, value: null });
      for (let from = 1_000_000; from < bytes.length; from += 1_000_000)
        expect(await files.append(file("in/large"), bytes.subarray(from, from + 1_000_000))).toMatchObject({
          ok: true,
        });
      const back = await files.read(file("in/large"));
      expect(back.ok && Buffer.compare(back.value, bytes)).toBe(0);
      expect(await files.remove(file("in/large"))).toMatchObject({ ok: true });
    });
  }, 60_000);
});

describe("the network", () => {
  test("answers, and a redirect to a host that is not covered is refused", async () => {
    await within(whole(), async ({ net }) => {
      const answer = await net.fetch(at("/x"));
      expect(answer.ok && [answer.value.status, await answer.value.text()]).toEqual([200, "you said undefined"]);
      expect(await net.fetch(at("/away"))).toMatchObject({ ok: false, code: "scope_violation" });
      expect(await net.fetch(at("/x"), { method: "POST", body: "b" })).toMatchObject({ ok: false });
      expect(await net.fetch("http://127.0.0.2:1/")).toMatchObject({ ok: false, code: "scope_violation" });
    });
    const { network: _gone, secrets: _none, ...without } = whole();
    await within(without, async ({ net }) => {
      expect(await net.fetch(at("/never"))).toMatchObject({ ok: false, code: "capability_absent" });
    });
    expect(heard.some((line) => line.startsWith("/never"))).toBe(false);
  });
  test("gets a secret by its handle, and the tool never sees the value", async () => {
    await within(whole(), async ({ net, secrets }) => {
      const handle = await secrets.use("TOKEN", { host: "127.0.0.1" });
      expect(handle).toEqual({ ok: true, value: "{{secret:TOKEN}}" });
      const headers = { authorization: "Bearer {{secret:TOKEN}}" };
      const answer = await net.fetch(at("/secret"), { headers });
      expect(answer.ok && (await answer.value.text())).toBe("you said Bearer [REDACTED:TOKEN]");
      expect(heard).toContain(`/secret Bearer ${VALUE}`);
      expect(await secrets.use("OTHER", { host: "127.0.0.1" })).toMatchObject({ ok: false });
      expect(await net.fetch(at("/told"), { headers: { authorization: VALUE } })).toMatchObject({
        ok: false,
        code: "secret_refused",
      });
    });
    expect(heard.some((line) => line.startsWith("/told"))).toBe(false);
  });
});

test("a declared program runs in its sandbox, and another one does not", async () => {
  await within(whole(), async ({ process: programs }) => {
    const ran = await programs.run(["cat", "in/a.txt"], { in: file(".") });
    if (!ran.ok) throw new Error(JSON.stringify(ran));
    expect([Buffer.from(ran.value.output).toString(), ran.value.ending]).toEqual([
      "hello",
      { kind: "exited", status: 0 },
    ]);
    const fed = await programs.run(["cat", "-"], { in: file("."), input: "fed" });
    expect(fed.ok && Buffer.from(fed.value.output).toString()).toBe("fed");
    expect(await programs.run(["ls"], { in: file(".") })).toMatchObject({ ok: false, code: "scope_violation" });
    expect(await programs.run(["cat", "-"], { in: file("."), input: "long", outputBytesMax: 2 })).toMatchObject({
      ok: false,
      code: "budget_exhausted",
    });
  });
}, 60_000);

test("values a tool stores are its own, with versions", async () => {
  await within(whole(), async ({ storage, memory, observe }) => {
    expect(await storage.set("a/b", "1")).toEqual({ ok: true, value: { version: 1 } });
    expect(await storage.get("a/b")).toMatchObject({ ok: true, value: { value: "1", version: 1, expires: null } });
    expect(await storage.set("a/b", "2", { version: 7 })).toMatchObject({ ok: false });
    expect(await storage.list()).toEqual({ ok: true, value: ["a/b"] });
    expect(await memory.get("notes/x")).toMatchObject({ ok: false });
    expect(await observe.append("seen")).toMatchObject({ ok: false, code: "capability_absent" });
  });
  const mine = expectValue(
    await call.ask("call.do", {
      session,
      tool: "memory_get",
      input: { key: "a/b" },
      requests: null,
      waitMilliseconds: 0,
    }),
  );
  expect(mine).toMatchObject({ outcome: "denied" });
});

test("memory tools and contexts share one memory: the same keys, versions and codes", async () => {
  const tool = async (name: string, input: JsonObject): Promise<unknown> => {
    const asked = { session, tool: name, input, requests: null, waitMilliseconds: 0 };
    const answer = await call.ask("call.do", asked);
    return answer.ok ? answer.value : { code: answer.code };
  };
  const own = { storage: { scope: "personality", kind: "kv" } };
  await within(own, async ({ storage }) => {
    expect(await tool("memory_set", { key: "agent/k", value: "by the tool" })).toMatchObject({ outcome: "done" });
    const read = await storage.get("k");
    expect(read).toMatchObject({ ok: true, value: { value: "by the tool", version: 1 } });
    expect(await storage.set("k", "by the context", { version: 1 })).toMatchObject({ value: { version: 2 } });
    expect(await storage.set("k", "x", { version: 1 })).toMatchObject({ ok: false, code: "version_conflict" });
    expect(await tool("memory_set", { key: "agent/k", value: "x", version: 1 })).toEqual({ code: "version_conflict" });
    expect(await storage.delete("k", { version: 1 })).toEqual({ ok: true, value: false });
    const found = await storage.find({ prefix: "k", text: "context" });
    expect(found).toMatchObject({ value: [{ key: "k", value: "by the context" }] });
    const listed = await tool("memory_list", { prefix: "agent/" });
    expect(listed).toMatchObject({ result: [{ key: "agent/k", value: "by the context", version: 2 }] });
  });
  // The tool's own store is not part of memory: its first segment is an ordinary name there.
  expect(await tool("memory_list", { prefix: "tool/" })).toMatchObject({ result: [] });
});

test("list pages continue where the last one ended, in every store", async () => {
  for (const name of ["a", "b", "c"])
    expectValue(
      await call.ask("call.do", {
        ...{ session, tool: "memory_set", input: { key: `shared/p/${name}`, value: name } },
        ...{ requests: null, waitMilliseconds: 0 },
      }),
    );
  const page = async (after: string | null) => {
    const input = { prefix: "shared/p/", count: 2, ...(after === null ? {} : { after }) };
    return expectValue(
      await call.ask("call.do", { session, tool: "memory_list", input, requests: null, waitMilliseconds: 0 }),
    );
  };
  expect(await page(null)).toMatchObject({ result: [{ key: "shared/p/a" }, { key: "shared/p/b" }] });
  expect(await page("shared/p/b")).toMatchObject({ result: [{ key: "shared/p/c" }] });
});

describe("a result names what enforced each axis", () => {
  test.each<[string, () => JsonObject, readonly string[]]>([
    ["fs_read", () => ({ path: file("in/a.txt") }), ["arguments checked", "path kernel", "tool checked"]],
    ["memory_list", () => ({}), ["arguments checked", "tool checked"]],
    ["memory_set", () => ({ key: "e", value: "x" }), ["arguments checked", "key checked", "tool checked"]],
    ["web_fetch", () => ({ url: at("/") }), ["arguments checked", "host broker", "port broker", "tool checked"]],
  ])("%s", async (tool, input, expected) => {
    const asked = { session, tool, input: input(), requests: null, waitMilliseconds: 0 };
    const done = expectValue(await call.ask("call.do", asked));
    if (done.outcome !== "done") throw new Error(JSON.stringify(done));
    expect(done.enforcement.map(({ axis, strength }) => `${axis} ${strength}`).toSorted()).toEqual(expected);
  });
});

test("file tools and contexts reach the same paths, and neither overwrites a secret with its redaction mark", async () => {
  const tool = async (name: string, input: JsonObject): Promise<unknown> =>
    expectValue(await call.ask("call.do", { session, tool: name, input, requests: null, waitMilliseconds: 0 }));
  writeFileSync(file("in/held.txt"), `token=${VALUE}\n`);
  await within(whole(), async ({ files }) => {
    const inside = await files.locate("files/in/a.txt");
    expect(inside).toEqual({ ok: true, value: { path: file("in/a.txt"), folder: fixture.project } });
    expect(await files.edit(file("in/a.txt"), [{ old: "hello", new: "hello" }])).toMatchObject({ ok: false });
    expect(await files.edit(file("in/a.txt"), [{ old: "hell", new: "HELL" }])).toMatchObject({
      ok: true,
      value: { edits: [{ replaced: 1, line: 1 }], bytes: 5 },
    });
    expect(await files.edit(file("in/a.txt"), [{ old: "HELL", new: "hell" }])).toMatchObject({ ok: true });
    expect(await files.write(file("in/x/y/z.txt"), "deep")).toMatchObject({ ok: false, code: "not_found" });
    expect(await files.write(file("in/x/y/z.txt"), "deep", { folders: true })).toEqual({ ok: true, value: null });
    // Only the folder that contains every match must be readable.
    const found = await files.glob(fixture.project, "files/in/x/**");
    expect(found).toMatchObject({ ok: true, value: [{ path: file("in/x/y/z.txt"), kind: "file" }] });
    const lost = await files.write(file("in/held.txt"), "token=[REDACTED:TOKEN]\n");
    expect(lost).toMatchObject({ ok: false, code: "secret_refused" });
  });
  const mark = { path: file("in/held.txt"), content: "token=[REDACTED:TOKEN]\n" };
  expect(await tool("fs_write", mark)).toMatchObject({ outcome: "denied", code: "secret_refused" });
  expect(await tool("fs_glob", { pattern: "files/in/x/**" })).toMatchObject({
    result: { paths: ["files/in/x/y/z.txt"] },
  });
  expect(readFileSync(file("in/held.txt"), "utf8")).toBe(`token=${VALUE}\n`);
});

test("a context is refused after its call, from any connection", async () => {
  const asked = { session, tool: "weather", input: {}, requests: [], declaration: whole(), waitMilliseconds: 0 };
  const permitted = expectValue(await call.ask("call.commit", asked));
  if (permitted.outcome !== "allowed") throw new Error(JSON.stringify(permitted));
  const { receipt } = permitted;
  const send = contextSender(call, session, receipt);
  const use = { instrument: "files", method: "readText", arguments: [file("in/a.txt")] };
  expect(await send(use)).toEqual({ ok: true, value: "hello" });
  await call.ask("call.settle", { session, receipt, ended: "done", milliseconds: 1, isUntrusted: false });
  expect(await send(use)).toMatchObject({ ok: false, code: "revoked" });
  expect(await contextSender(call, session, "c_never")(use)).toMatchObject({ ok: false, code: "revoked" });
  expect(await contextSender(call, "s_never", receipt)(use)).toMatchObject({ ok: false });
});

test("a call without a declaration has no context", async () => {
  const answer = await within(undefined, ({ files }) => files.readText(file("in/a.txt")), "bare");
  expect(answer).toMatchObject({ ok: false, code: "revoked" });
  const closed = await within({}, ({ files }) => files.readText(file("in/a.txt")), "bare");
  expect(closed).toMatchObject({ ok: false, code: "capability_absent" });
});

describe("no permit is given", () => {
  const rows: readonly (readonly [string, JsonObject, string])[] = [
    ["for an invalid request", { network: { allowedHosts: [7] } }, "invalid_input"],
    ["for a secret that does not exist", { secrets: ["NOWHERE"] }, "not_available"],
    ["for a secret of another tool", { secrets: ["OTHER"] }, "not_available"],
  ];
  test.each(rows)("%s", async (_title, declaration, code) => {
    const asked = { session, tool: "weather", input: {}, requests: [], declaration, waitMilliseconds: 0 };
    expect(await call.ask("call.commit", asked)).toMatchObject({ ok: false, code });
  });
  test("for a request outside the declaration", async () => {
    const requests = [`fs.read ${file("other.txt")}`];
    const asked = { session, tool: "weather", input: {}, requests, declaration: whole(), waitMilliseconds: 0 };
    expect(expectValue(await call.ask("call.commit", asked))).toMatchObject({
      outcome: "denied",
      code: "scope_violation",
    });
  });
});

test("a revoked grant takes effect during a call", async () => {
  await within(whole(), async ({ files }) => {
    expect(await files.readText(file("in/a.txt"))).toMatchObject({ ok: true });
    const record = join(fixture.project, ".ambit", "agents", "scout.md");
    const before = readFileSync(record, "utf8");
    fixture.agent("scout", ["tool.invoke{tools=[weather]}"]);
    try {
      expect(await files.readText(file("in/a.txt"))).toMatchObject({ ok: false });
    } finally {
      writeFileSync(record, before);
    }
  });
});
