// The model relay of `ambit run`: a client uses its model with a key that is nowhere inside, within `model.use`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { daemonMilliseconds } from "../../src/sandbox/network/limits.ts";
import { prepareState } from "../house/daemon-state.ts";
import { pause } from "../house/pause.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";
import { onTerminal } from "./terminal.ts";

const KEY = "sk-test-relay-0123456789abcdef0123456789";
let base = "";
let project = "";
let port = 0;
/** What the provider was sent. */
const seen: { headers: http.IncomingHttpHeaders; url: string; body: string }[] = [];

const provider = http.createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  seen.push({ headers: request.headers, url: request.url ?? "", body: Buffer.concat(pieces).toString() });
  if (seen.at(-1)?.body.includes("claude-broke")) return void response.writeHead(429).end("{}");
  if (seen.at(-1)?.body.includes("claude-gone")) return void request.socket.destroy();
  response.setHeader("content-type", "text/event-stream");
  response.setHeader("set-cookie", "a=b");
  response.write('data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n');
  // A provider that repeats the key does not hand it in.
  response.write(`data: {"text":"your key is ${KEY}"}\n\n`);
  response.end('data: {"type":"message_delta","usage":{"output_tokens":12}}\n\n');
});

async function ambit(...words: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd: project,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = [child.stdout, child.stderr].map((stream) => {
    const pieces: Buffer[] = [];
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    return pieces;
  }) as [Buffer[], Buffer[]];
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}

function environment(): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: base,
    NO_COLOR: "1",
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
}

/** As the client below sends it. */
const REQUEST = JSON.stringify({
  ...{ model: "claude-x", max_tokens: 9, stream: true },
  messages: [{ role: "user", content: "hello" }],
});

/**
 * A client that sends one request, with a credential of its own, and prints the status and the answer. `steady`: another one
 * when the file of the next argument exists. `flood`: a body with ten million values. A number: so many requests, one after the other.
 * `plain`: with no credential but the placeholder. `direct`: past the relay, to a port of this machine.
 */
const CLIENT = `#!/usr/bin/env node
const usual = JSON.stringify({ model: "claude-x", max_tokens: 9, stream: true, messages: [{ role: "user", content: "hello" }] });
const headers = { "content-type": "application/json; charset=UTF-8", "x-api-key": process.env.ANTHROPIC_API_KEY, authorization: "Bearer own", cookie: "c=d" };
let query = "beta=true&key=own";
const send = (body) => fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages?" + query, { method: "POST", headers, body })
  .then(async (answer) => console.log(answer.status, answer.headers.get("set-cookie"), await answer.text()))
  .catch((error) => console.log("failed", error.cause?.code ?? error.message));
const again = () => require("node:fs").existsSync(process.argv[3]) ? send(usual) : setTimeout(again, 50);
const [word = usual] = process.argv.slice(2);
if (/^[0-9]+$/.test(word)) (async () => { for (let at = 0; at < Number(word); at++) await send(process.argv[3] ?? usual); })();
else if (word === "plain") { delete headers.authorization; delete headers.cookie; query = "beta=true"; send(usual); }
else if (word === "direct") fetch("http://127.0.0.1:" + process.argv[3], { method: "POST", headers, body: usual })
  .then((answer) => console.log("reached", answer.status), (error) => console.log("failed", error.cause?.code));
else if (word === "steady") send(usual).then(again);
else send(word === "flood" ? '{"model":"claude-x","messages":[' + "[],".repeat(1e7) + "[]]}" : word);
`;

beforeAll(async () => {
  await new Promise<void>((ready) => provider.listen(0, "127.0.0.1", ready));
  port = (provider.address() as AddressInfo).port;
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-model-")));
  chmodSync(base, 0o755);
  project = join(base, "project");
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  mkdirSync(join(base, "config", "ambit"), { recursive: true });
  prepareState(join(base, "state"), join(base, "config"));
  const record = (more: string): string =>
    `---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: live }\n  - fs.read\n  - fs.write\n${more}---\n`;
  const agent = (name: string, more: string): void =>
    writeFileSync(join(project, ".ambit", "agents", `${name}.md`), record(more));
  agent("coder", "  - model.use: { providers: [anthropic], models: [claude-*] }\n");
  agent("second", "  - model.use: { providers: [anthropic], models: [claude-*] }\n");
  agent("once", "  - model.use: { providers: [anthropic], models: [claude-*], calls: 1 }\n");
  agent("counted", "  - model.use: { providers: [anthropic], models: [claude-*], calls: 3 }\n");
  agent("other", "  - model.use: { providers: [openai], models: [gpt-*] }\n");
  agent("none", "");
  agent("asks", "  - model.use: { providers: [anthropic], models: [claude-*], ask: true }\n");
  const beside = `  - net.connect: { hosts: [127.0.0.1], ports: [${port}] }\n`;
  agent("direct", `  - model.use: { providers: [anthropic], models: [claude-*] }\n${beside}`);
  agent("unlike", `  - model.use: { providers: [openai], models: [gpt-*] }\n${beside}`);
  const counted = (name: string, budget: string): void =>
    agent(name, `  - model.use: { providers: [anthropic], models: [claude-*], ${budget} }\n`);
  // Two requests as in the client: each reserves its bytes and 9, and costs 15.
  counted("tokens", `tokens: ${REQUEST.length + 9 + 15}`);
  counted("gone", `tokens: ${REQUEST.length + 9 + 15}`);
  counted("broke", `tokens: ${REQUEST.length + 9 + 15}`);
  counted("short", `tokens: ${REQUEST.length + 3 + 1_024}`);
  counted("money", "money: 0.001");
  // `other` has the plain profile.
  for (const name of ["claude", "other"]) {
    writeFileSync(join(project, name), CLIENT);
    chmodSync(join(project, name), 0o755);
  }
  writeFileSync(
    join(base, "config", "ambit", "config.yml"),
    `models: { anthropic: { url: "http://127.0.0.1:${port}", prices: { claude-x: { input: 1, output: 9 } } } }\n`,
  );
  await ambit("trust", "--yes");
});
afterAll(async () => {
  provider.close();
  removeState(base);
});

/** At a terminal, as a person does it. */
async function keep(key = KEY, uses = "any"): Promise<void> {
  const set = `secrets set anthropic-key --tool model --host 127.0.0.1:${port} --uses ${uses}`;
  const line = `printf %s ${key} | ${process.execPath} ${join(root, "bin", "ambit")} ${set}`;
  const { status, raw } = await onTerminal(project, ["sh", "-c", line], [], environment());
  expect({ status, raw: status === 0 ? "" : raw }).toEqual({ status: 0, raw: "" });
}

test("without a kept key a request is denied, and the client is told what to type", async () => {
  const { out } = await ambit("run", "coder", "./claude");
  expect(out).toContain("403");
  expect(out).toContain(`ambit secrets set anthropic-key --tool model --host 127.0.0.1:${port}`);
  expect(seen).toHaveLength(0);
  const { out: denied } = await ambit("log", "--outcome", "deny", "--json");
  expect(denied).toContain('"secret_refused"');
});

test("a request goes out with the kept key and no credential of the client; the answer comes back without the key", async () => {
  await keep();
  const { out } = await ambit("run", "coder", "./claude");
  expect(out).toMatch(/^200 null data: /);
  expect(out).toContain('"output_tokens":12');
  expect(out).not.toContain(KEY);
  expect(seen).toHaveLength(1);
  const { headers, url } = seen[0] as (typeof seen)[number];
  expect(url).toBe("/v1/messages?beta=true");
  expect(headers["content-type"]).toBe("application/json");
  expect(headers).toMatchObject({ "x-api-key": KEY, host: `127.0.0.1:${port}` });
  expect(headers.authorization).toBeUndefined();
  expect(headers.cookie).toBeUndefined();
});

test("the log has the model, the digest, the tokens and the duration, and not the prompt", async () => {
  const { out } = await ambit("log", "--json", "--agent", "coder");
  const text = out.replaceAll("\\", "");
  expect(text).toContain("model.use anthropic claude-x");
  expect(text).toMatch(/"digest":"[0-9a-f]{64}"/);
  expect(text).toMatch(/"model":"claude-x"/);
  expect(text).toContain('"input":3');
  expect(text).toContain('"output":12');
  expect(text).not.toContain("hello");
  expect(text).not.toContain(KEY);
});

test("a credential of the client's own is an alarm, once for each run; the placeholder is none", async () => {
  const alarms = async (): Promise<readonly string[]> =>
    (await ambit("log", "--json", "--agent", "second", "--kind", "alarm")).out
      .split("\n")
      .filter((line) => line !== "");
  expect((await ambit("run", "second", "./claude", "plain")).out).toMatch(/^200 /);
  expect(await alarms()).toEqual([]);
  expect((await ambit("run", "second", "./claude", "2")).out.match(/^200 /gm)).toHaveLength(2);
  const raised = await alarms();
  expect(raised).toHaveLength(1);
  expect(raised[0]).toContain("foreign_credential");
  expect(raised[0]).not.toContain('own"');
});

test("no grant of `net.connect` leads past the relay to a provider whose models are granted", async () => {
  const before = seen.length;
  const run = await ambit("run", "direct", "./claude", "direct", String(port));
  // Which error a client sees, if any, depends on what it has sent when the connection is reset.
  expect(run.out).not.toContain("reached");
  expect(run.err).toMatch(
    new RegExp(
      `denied while running: net.connect 127.0.0.1:${port} +address_refused[^\n]*\\s+why: ambit explain address_refused`,
    ),
  );
  expect((await ambit("explain", "address_refused")).out).toContain("relay");
  const other = await ambit("run", "direct", "./other", "direct", String(port));
  expect(other.out).not.toContain("reached");
  expect(other.err).toContain("address_refused");
  expect(seen).toHaveLength(before);
  expect((await ambit("run", "direct", "./claude", "plain")).out).toMatch(/^200 /);
  // Without a relay to this provider the grant counts: for a client that may use other models, and for any other program.
  const unlike = await ambit("run", "unlike", "./claude", "direct", String(port));
  const plain = await ambit("exec", "direct", "--", "./claude", "direct", String(port));
  expect([unlike.out, plain.out]).toEqual(["reached 200\n", "reached 200\n"]);
});

test.each([
  ["another model", "coder", '{"model":"gpt-x","messages":[]}', "scope_violation"],
  ["another provider is granted", "other", undefined, "scope_violation"],
  [
    "a tool of the provider",
    "coder",
    '{"model":"claude-x","messages":[],"tools":[{"type":"web_search_1"}]}',
    "runs at the provider",
  ],
])("%s is denied in words that the client shows", async (_title, agent, body, words) => {
  const before = seen.length;
  const { out } = await ambit("run", agent, "./claude", ...(body === undefined ? [] : [body]));
  expect(out).toMatch(/^40[03] /);
  expect(out).toContain(words);
  expect(seen).toHaveLength(before);
});

test("a budget of one call lets one through", async () => {
  expect((await ambit("run", "once", "./claude")).out).toMatch(/^200 /);
  const { out } = await ambit("run", "once", "./claude");
  expect(out).toMatch(/^403 /);
  expect(out).toContain("budget_exhausted");
});

test("a budget of tokens is reserved before a request and settled after it", async () => {
  const { out } = await ambit("run", "tokens", "./claude", "3");
  expect(out.match(/^[0-9]{3} /gm)).toEqual(["200 ", "200 ", "403 "]);
  expect(out).toContain("permission_error");
  expect(out).toMatch(/may use \d+ tokens of input and 9 of output.*budget_exhausted/);
  expect((await ambit("run", "tokens", "./claude")).out).toMatch(/^403 /);
});

test("a request without an answer costs what was reserved, one that the provider refuses nothing", async () => {
  const gone = REQUEST.replace("claude-x", "claude-gone");
  const { out } = await ambit("run", "gone", "./claude", "2", gone);
  expect(out.match(/^[0-9]{3} /gm)).toEqual(["502 ", "403 "]);
  const broke = REQUEST.replace("claude-x", "claude-broke");
  const { out: refused } = await ambit("run", "broke", "./claude", "3", broke);
  expect(refused.match(/^[0-9]{3} /gm)).toEqual(["429 ", "429 ", "429 "]);
});

test("the maximum of output is lowered to what is left", async () => {
  const before = seen.length;
  const asked = REQUEST.replace('"max_tokens":9', '"max_tokens":64000');
  const { out } = await ambit("run", "short", "./claude", "1", asked);
  expect(out).toMatch(/^403 /);
  const less = asked.replace("hello", "h");
  expect((await ambit("run", "short", "./claude", "1", less)).out).toMatch(/^200 /);
  expect(seen).toHaveLength(before + 1);
  expect(JSON.parse(seen.at(-1)?.body ?? "{}")).toMatchObject({ max_tokens: 1_027 });
});

test("a budget of money is counted by the prices of the user, and covers no model without one", async () => {
  // Each reserves its bytes at the price of a cache write and 9 at 9, and costs 3 and 12 times 9 millionths.
  const reserved = 2 * REQUEST.length + 81;
  const fits = Math.floor((1_000 - reserved) / 111) + 1;
  const { out } = await ambit("run", "money", "./claude", String(fits + 1));
  expect(out.match(/^[0-9]{3} /gm)).toEqual([...Array.from({ length: fits }, () => "200 "), "403 "]);
  const other = await ambit("run", "money", "./claude", "1", REQUEST.replace("claude-x", "claude-y"));
  expect(other.out).toMatch(/^403 .*needs a price in `models`/);
  const fast = await ambit("run", "money", "./claude", "1", REQUEST.replace("{", '{"speed":"fast",'));
  expect(fast.out).toMatch(/^403 .*service tier without a configured price/);
});

async function pending(): Promise<string> {
  let id = "";
  await vi.waitFor(
    async () => {
      const { out } = await ambit("approvals", "list", "--state", "pending", "--json");
      id = /"id":\s*"([^"]+)"/.exec(out)?.[1] ?? "";
      expect(id).not.toBe("");
    },
    { timeout: 60_000, interval: 200 },
  );
  return id;
}

test("a model that needs approval is used after a person approves, and not after a refusal", async () => {
  const before = seen.length;
  const first = ambit("run", "asks", "./claude");
  const shown = await ambit("approvals", "show", await pending(), "--json");
  expect(shown.out).toContain("claude-x");
  expect(shown.out).toContain("ambit:claude-code@1");
  await pause(
    daemonMilliseconds + 1_000,
    "a person takes longer than the broker waits for other answers of the daemon",
  );
  expect(seen).toHaveLength(before);
  const bin = [process.execPath, join(root, "bin", "ambit")];
  const approve = await onTerminal(
    project,
    [...bin, "approve", await pending(), "--step", "exact", "--yes"],
    [],
    environment(),
  );
  expect({ status: approve.status, raw: approve.status === 0 ? "" : approve.raw }).toEqual({ status: 0, raw: "" });
  expect((await first).out).toMatch(/^200 /);
  const second = ambit("run", "asks", "./claude");
  const refuse = await onTerminal(
    project,
    [...bin, "approvals", "refuse", await pending(), "--reason", "too dear"],
    [],
    environment(),
  );
  expect({ status: refuse.status, raw: refuse.status === 0 ? "" : refuse.raw }).toEqual({ status: 0, raw: "" });
  expect((await second).out).toMatch(/^403 .*a person refused it \(too dear\)/);
  expect(seen).toHaveLength(before + 1);
});

test("a request with too many JSON values is refused before it is parsed, and the relays of other agents go on", async () => {
  const before = seen.length;
  const steady = ambit("run", "coder", "./claude", "steady", "flooded");
  await vi.waitFor(() => expect(seen).toHaveLength(before + 1), { timeout: 60_000, interval: 50 });
  const { out: flood } = await ambit("run", "second", "./claude", "flood");
  expect(flood).toMatch(/^413 /);
  expect(flood).toContain("JSON values");
  writeFileSync(join(project, "flooded"), "");
  expect((await steady).out.match(/^200 /gm)).toHaveLength(2);
  expect(seen).toHaveLength(before + 2);
});

test.each([
  ["coder", /"code":"invalid_input","id":"\w+","request":"model\.use anthropic claude-x"/],
  ["second", /"code":"budget_exhausted","id":"\w+","request":"model\.use anthropic"/],
])("what the relay itself refuses to %s is a denial in the log", async (agent, denial) => {
  const { out } = await ambit("log", "--json", "--agent", agent);
  expect(out).toMatch(denial);
});

test("a request that was sent and has no answer is logged as that", async () => {
  const { out } = await ambit("run", "coder", "./claude", '{"model":"claude-gone","messages":[]}');
  expect(out).toMatch(/^502 /);
  const log = (await ambit("log", "--json", "--agent", "coder")).out;
  expect(log).toContain("no answer");
  expect(log).not.toContain("not sent");
});

test("an agent without model.use has no relay", async () => {
  expect((await ambit("run", "none", "./claude")).out).toMatch(/failed/);
});

test("the key is not in the environment, the files and the memory of the sandbox", async () => {
  const search = `
    env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n';
    grep -raF -l -- "sk-test-""relay-0123" "$HOME" /tmp /run /etc 2>/dev/null`;
  writeFileSync(join(project, "gemini"), `#!/bin/sh\n${search}\n`, { mode: 0o755 });
  const { out } = await ambit("run", "coder", "./gemini");
  expect(out).toContain("HOME=/run/ambit/home");
  expect(out).not.toContain(KEY);
  expect(out).not.toMatch(/^\/(run|tmp|etc)/m);
});

test("the next request of a running client has the key that was set meanwhile, and none after it was deleted", async () => {
  const before = seen.length;
  const rotated = `${KEY}-rotated`;
  const running = ambit("run", "coder", "./claude", "steady", "rotated");
  await vi.waitFor(() => expect(seen).toHaveLength(before + 1), { timeout: 60_000, interval: 50 });
  await keep(rotated);
  writeFileSync(join(project, "rotated"), "");
  expect((await running).out.match(/^[0-9]{3} /gm)).toEqual(["200 ", "200 "]);
  expect(seen.slice(before).map(({ headers }) => headers["x-api-key"])).toEqual([KEY, rotated]);
  const last = ambit("run", "coder", "./claude", "steady", "deleted");
  await vi.waitFor(() => expect(seen).toHaveLength(before + 3), { timeout: 60_000, interval: 50 });
  const bin = [process.execPath, join(root, "bin", "ambit")];
  const gone = await onTerminal(project, [...bin, "secrets", "delete", "anthropic-key", "--yes"], [], environment());
  expect({ status: gone.status, raw: gone.status === 0 ? "" : gone.raw }).toEqual({ status: 0, raw: "" });
  writeFileSync(join(project, "deleted"), "");
  expect((await last).out.match(/^[0-9]{3} /gm)).toEqual(["200 ", "403 "]);
  expect(seen).toHaveLength(before + 3);
});

test("a key for two uses is sent twice; the next request is a denial that costs nothing", async () => {
  const before = seen.length;
  await keep(KEY, "2");
  const { out } = await ambit("run", "counted", "./claude", "3");
  expect(out.match(/^[0-9]{3} /gm)).toEqual(["200 ", "200 ", "403 "]);
  expect(out).toContain("has no use left (ambit secrets list)");
  expect(seen).toHaveLength(before + 2);
  const log = (await ambit("log", "--json", "--agent", "counted", "--outcome", "deny")).out;
  expect(log).toContain('"secret_refused"');
  await keep();
  expect((await ambit("run", "counted", "./claude", "2")).out.match(/^[0-9]{3} /gm)).toEqual(["200 ", "403 "]);
});
