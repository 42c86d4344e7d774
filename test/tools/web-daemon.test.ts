// web_fetch through the real daemon and the real command line, from the arguments of a call to its output and log entries.
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NamesOutside } from "../broker/names-outside.ts";
import type { Caller } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

const VALUE = "s3cr3t-value-0123456789";
const CANARY = "canary-value-9876543210";
let fixture: Fixture;
let caller: Caller;
let port = 0;
const heard: string[] = [];
const names = new NamesOutside();

const server = http.createServer((request, response) => {
  heard.push(`${request.url} ${request.headers.authorization ?? "none"}`);
  const [type, body] =
    request.url === "/"
      ? ["text/html", "<html><head><title>Inside</title></head><body><h2>Hello</h2><p>A page.</p></body></html>"]
      : request.url === "/canary"
        ? ["text/plain", `here: ${Buffer.from(CANARY).toString("base64")}`]
        : request.url === "/terminal"
          ? ["text/plain", "a\u009b31mb\u202ec"]
          : ["text/plain", `you said ${request.headers.authorization ?? "nothing"}`];
  if (request.url === "/away") response.writeHead(302, { Location: "http://169.254.169.254/" }).end();
  else response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` }).end(body);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  fixture = await Fixture.make();
  fixture.agent("scout", ["net.get{hosts=[127.0.0.1]}", "tool.invoke{tools=[web_fetch]}"]);
  fixture.agent("other", ["net.get{hosts=[127.0.0.1]}", "tool.invoke{tools=[web_fetch]}"]);
  fixture.agent("keeper", [
    "net.get{hosts=[127.0.0.1]}",
    "tool.invoke{tools=[web_fetch]}",
    "secret.use{names=[token],tools=[web_fetch],hosts=[127.0.0.1]}",
  ]);
  fixture.agent("bare", ["tool.invoke{tools=[web_fetch]}"]);
  fixture.agent("counted", ["net.get{hosts=[127.0.0.1],calls=2}", "tool.invoke{tools=[web_fetch]}"]);
  names.names.set("led.example.test", [["127.0.0.1"]]);
  fixture.write("config/ambit/config.yml", `resolver: ${JSON.stringify(await names.start())}\n`);
  fixture.agent("led", ["net.get{hosts=[led.example.test]}", "tool.invoke{tools=[web_fetch]}"]);
  const opened = "net.get{hosts=[led.example.test],private=[led.example.test=127.0.0.1]}";
  fixture.agent("gone", ["net.get{hosts=[gone.example.test]}", "tool.invoke{tools=[web_fetch]}"]);
  fixture.agent("let-in", [opened, "tool.invoke{tools=[web_fetch]}"]);
  await fixture.begin();
  caller = fixture.caller();
}, 120_000);
afterAll(async () => {
  names.stop();
  server.closeAllConnections();
  server.close();
  await fixture.remove();
});

const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
const ambit = (agent: string, path: string, ...more: readonly string[]) =>
  fixture.ambit("call", agent, "web_fetch", JSON.stringify({ url: at(path) }), ...more);
const set = async (name: string, value: string, isCanary: boolean): Promise<void> => {
  const binding = { tools: ["web_fetch"], hosts: [`127.0.0.1:${port}`], uses: null };
  expectValue(
    await fixture.control("secrets.set", {
      name,
      value,
      binding,
      username: null,
      isCanary,
      isRotation: false,
      presence: null,
    }),
  );
};

test("a page is fetched by command-line arguments, and shown as Markdown", async () => {
  const { status, out } = await ambit("scout", "/", "--json");
  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    result: {
      status: 200,
      url: at("/"),
      hops: 0,
      contentType: "text/html",
      title: "Inside",
      text: "## Hello\n\nA page.",
      more: false,
    },
  });
  expect(out).not.toContain("pending");
});

test("terminal control characters are escaped", async () => {
  const { out } = await ambit("scout", "/terminal");
  expect(out).toContain("a\\u009b31mb\\u202ec");
});

test("a request that is not granted is denied without a connection, and logged", async () => {
  heard.length = 0;
  const { status, out } = await ambit("bare", "/", "--json");
  expect([status, JSON.parse(out)]).toMatchObject([10, { ok: false, code: "capability_absent" }]);
  expect(heard).toEqual([]);
});

test("a redirect to a host that is not granted is a denial with its need", async () => {
  const { status, out } = await ambit("scout", "/away", "--json");
  expect(status).toBe(10);
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    code: "scope_violation",
    need: "net.get http://169.254.169.254/",
  });
  const [outcome] = (await fixture.log({ kind: "outcome" })).slice(-1);
  expect(outcome?.more).toMatchObject({
    denials: [{ code: "scope_violation", request: "net.get http://169.254.169.254/" }],
  });
});

test("a name is resolved by the user's own resolver, and reaches only the addresses that were opened", async () => {
  heard.length = 0;
  const input = JSON.stringify({ url: `http://led.example.test:${port}/` });
  const denied = await fixture.ambit("call", "led", "web_fetch", input, "--json");
  expect([denied.status, JSON.parse(denied.out)]).toMatchObject([10, { ok: false, code: "address_refused" }]);
  expect(heard).toEqual([]);
  const done = await fixture.ambit("call", "let-in", "web_fetch", input, "--json");
  expect([done.status, JSON.parse(done.out)]).toMatchObject([0, { ok: true, result: { status: 200 } }]);
});

test("an unresolvable name is a failure and not a denial, in the output and in the log", async () => {
  const input = JSON.stringify({ url: `http://gone.example.test:${port}/` });
  const failed = await fixture.ambit("call", "gone", "web_fetch", input, "--json");
  const message = `the name could not be resolved: http://gone.example.test:${port}`;
  expect([failed.status, JSON.parse(failed.out)]).toMatchObject([1, { ok: false, code: "not_available", message }]);
  const [outcome] = (await fixture.log({ kind: "outcome" })).slice(-1);
  expect(outcome).toMatchObject({ outcome: "failed not_available", more: { denials: [] } });
});

test("the request is shown and logged with its scheme", async () => {
  const url = `http://docs.example.test:${port}/`;
  const { out } = await fixture.ambit("call", "led", "web_fetch", JSON.stringify({ url }), "--json");
  expect(JSON.parse(out)).toMatchObject({ code: "scope_violation", need: `net.get ${url}` });
  const [decision] = (await fixture.log({ kind: "decision" })).slice(-1);
  expect(decision?.more).toMatchObject({ need: `net.get ${url}` });
});

test("each call is charged, and the session is tainted afterwards", async () => {
  const session = expectValue(await caller.open(fixture.project, "counted"));
  for (const said of ["done", "done", "budget_exhausted"])
    expect((await session.do("web_fetch", { url: at("/") })).said).toBe(said);
  const shown = (await fixture.status()).sessions.find((one) => one.session === session.id);
  expect(shown?.isClean).toBe(false);
});

test("a secret is sent to its bound host, and never returned", async () => {
  await set("token", VALUE, false);
  heard.length = 0;
  const session = expectValue(await caller.open(fixture.project, "keeper"));
  const headers = { Authorization: "Bearer {{secret:token}}" };
  const { said, value } = await session.do("web_fetch", { url: at("/echo"), headers });
  expect([said, heard]).toEqual(["done", [`/echo Bearer ${VALUE}`]]);
  expect(value["result"]).toMatchObject({ text: "you said Bearer [REDACTED:token]" });
  const entries = await fixture.log();
  expect(JSON.stringify(entries)).not.toContain(VALUE);
  expect(entries.filter(({ kind, outcome }) => kind === "secret" && outcome === "used")).toMatchObject([
    { of: "token", agent: "keeper", tool: "web_fetch" },
  ]);
  // The value itself, written into a request, is not sent.
  expect((await session.do("web_fetch", { url: at(`/?x=${VALUE}`) })).said).toBe("secret_refused");
  expect(heard.length).toBe(1);
});

test("an agent that requests a secret that is not its own learns nothing, and a person is alerted", async () => {
  const session = expectValue(await caller.open(fixture.project, "other"));
  const headers = { Authorization: "Bearer {{secret:token}}" };
  for (let times = 0; times < 3; times++)
    expect((await session.do("web_fetch", { url: at("/echo"), headers })).said).toBe("capability_absent");
  expect((await session.do("web_fetch", { url: at("/echo"), headers: { A: "{{secret:none}}" } })).said).toBe(
    "capability_absent",
  );
  const alarms = (await fixture.log({ kind: "alarm" })).filter(({ outcome }) => outcome === "secret_probe");
  expect(alarms).toMatchObject([{ agent: "other", session: session.id, tool: "web_fetch", more: { name: "token" } }]);
});

test("a canary in a response, however it is encoded, is redacted and raises an alert", async () => {
  await set("decoy", CANARY, true);
  const session = expectValue(await caller.open(fixture.project, "scout"));
  const { said, value } = await session.do("web_fetch", { url: at("/canary") });
  expect(said).toBe("done");
  expect(JSON.stringify(value)).not.toContain(Buffer.from(CANARY).toString("base64"));
  const alarms = (await fixture.log({ kind: "alarm" })).filter(({ outcome }) => outcome === "canary_leak");
  expect(alarms).toMatchObject([{ agent: "scout", session: session.id, more: { name: "decoy" } }]);
});

test("a request with a canary is not sent, and raises an alert", async () => {
  const before = (await fixture.log({ kind: "alarm" })).length;
  heard.length = 0;
  const session = expectValue(await caller.open(fixture.project, "scout"));
  expect((await session.do("web_fetch", { url: at(`/?x=${CANARY}`) })).said).toBe("secret_refused");
  expect(heard).toEqual([]);
  expect((await fixture.log({ kind: "alarm" })).length).toBeGreaterThan(before);
});
