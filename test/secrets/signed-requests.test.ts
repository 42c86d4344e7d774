// A tool of a project signs its requests with a secret it never sees: the built program, a real tool host, and a server that
// checks each signature with openssl.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";

const AWS_KEY = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";
const HOOK_KEY = "whsec-0123456789-abcdef";
const KEY_ID = "AKIAIOSFODNN7EXAMPLE";

/** What the tool is asked to do is its input: the tool is as hostile as the test wants. */
const TOOL = `
export default {
  name: "upload",
  description: "Sends a signed request.",
  capabilities: { network: { allowedHosts: ["127.0.0.1"] }, secrets: ["aws-key", "aws-id", "hook-key"] },
  input: { type: "object" },
  execute: async ({ url, options }, context) => {
    const answer = await context.net.fetch(url, options);
    return answer.ok ? { status: answer.value.status, text: await answer.value.text() } : answer;
  },
};
`;

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

let fixture: Fixture;
let port = 0;
let elsewhere = 0;
const heard: Heard[] = [];
const server = http.createServer(serve);
const other = http.createServer(serve);

async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  const { method = "", url = "", headers } = request;
  heard.push({ method, url, headers, body: Buffer.concat(pieces) });
  if (url.startsWith("/moved")) response.writeHead(307, { Location: "/elsewhere?signed=again" });
  // A server that repeats everything it was sent.
  response.end(JSON.stringify({ headers, body: Buffer.concat(pieces).toString() }));
}

beforeAll(async () => {
  for (const one of [server, other]) {
    one.listen(0, "127.0.0.1");
    await once(one, "listening");
  }
  port = (server.address() as AddressInfo).port;
  elsewhere = (other.address() as AddressInfo).port;
  fixture = await Fixture.make();
  fixture.write("project/.ambit/tools/upload.mjs", TOOL);
  const hosts = `hosts=[127.0.0.1],ports=[${port},${elsewhere}]`;
  const net = ["net.get", "net.put", "net.post"].map((verb) => `${verb}{${hosts}}`);
  const names = (list: string): string => `secret.use{names=[${list}],tools=[upload],hosts=[127.0.0.1]}`;
  fixture.agent("scout", ["tool.invoke{tools=[upload]}", ...net, names("aws-key,aws-id,hook-key")]);
  fixture.agent("keyless", ["tool.invoke{tools=[upload]}", ...net, names("aws-id")]);
  await fixture.begin();
  const bound = ["--tool", "upload", "--host", `127.0.0.1:${port}`];
  const stored: readonly (readonly [string, string, readonly string[]])[] = [
    ["aws-key", AWS_KEY, ["--sign-only"]],
    ["aws-id", KEY_ID, []],
    ["hook-key", HOOK_KEY, []],
  ];
  for (const [name, value, more] of stored) {
    writeFileSync(join(fixture.base, "value"), value);
    const set = await fixture.ambitAtTerminal(
      "secrets",
      "set",
      name,
      ...bound,
      ...more,
      "--from",
      `file:${fixture.base}/value`,
    );
    expect([set.status, set.out]).toEqual([0, expect.stringContaining(name)]);
  }
}, 120_000);
beforeEach(() => {
  heard.length = 0;
});
afterAll(async () => {
  server.close();
  other.close();
  await fixture?.remove();
});

interface Answer {
  readonly ok: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly result?: { readonly status: number; readonly text: string };
  readonly out: string;
}

async function call(agent: string, path: string, options: object, at = port): Promise<Answer> {
  const input = JSON.stringify({ url: `http://127.0.0.1:${at}${path}`, options });
  const { out } = await fixture.ambit("call", agent, "upload", input, "--json");
  expect(out).not.toContain(AWS_KEY);
  expect(out).not.toContain(HOOK_KEY);
  return { ...(JSON.parse(out) as Answer), out };
}

function openssl(words: readonly string[], input: string | Buffer): string {
  return execFileSync("openssl", ["dgst", "-sha256", ...words, "-r"], { input })
    .toString("latin1")
    .slice(0, 64);
}

/** The signature that AWS would compute for what arrived. */
function awsSignature({ method, url, headers, body }: Heard): string {
  const [, credential = "", names = ""] =
    /Credential=([^,]*), SignedHeaders=([^,]*), Signature=/.exec(headers.authorization ?? "") ?? [];
  const [, ...scope] = credential.split("/");
  const { pathname, searchParams } = new URL(url, "http://h");
  const written = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const pairs = [...searchParams].map(([name, value]) => `${written(name)}=${written(value)}`).sort();
  const lines = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = `${method}\n${pathname}\n${pairs.join("&")}\n${lines.join("")}\n${names}\n${openssl([], body)}`;
  const text = `AWS4-HMAC-SHA256\n${headers["x-amz-date"]}\n${scope.join("/")}\n${openssl([], canonical)}`;
  return [...scope, text].reduce(
    (key, part) => openssl(["-mac", "HMAC", "-macopt", `hexkey:${key}`], part),
    Buffer.from(`AWS4${AWS_KEY}`).toString("hex"),
  );
}

const AWS = {
  scheme: "aws-sigv4",
  secret: "aws-key",
  keyId: "{{secret:aws-id}}",
  region: "eu-central-1",
  "service": "s3",
};
const HOOK = { scheme: "hmac", secret: "hook-key", header: "X-Hub-Signature-256", value: "sha256={signature}" };

describe("a tool signs a request", () => {
  test("for AWS: the server's own computation agrees, for path, query, headers and body", async () => {
    const options = { method: "PUT", body: "content é", headers: { "X-Amz-Acl": "private" }, sign: AWS };
    const answer = await call("scout", "/bucket/a%20b.txt?x-id=PutObject&b=a%2Fb", options);
    expect(answer).toMatchObject({ ok: true, result: { status: 200 } });
    const [request] = heard;
    if (request === undefined) throw new Error("nothing arrived");
    const { authorization = "" } = request.headers;
    expect(authorization).toContain(`Credential=${KEY_ID}/`);
    expect(authorization).toContain("SignedHeaders=host;x-amz-acl;x-amz-content-sha256;x-amz-date");
    expect(authorization.slice(-64)).toBe(awsSignature(request));
    // What the server repeated came back without the key id, which is a secret here.
    expect(answer.out).not.toContain(KEY_ID);
    expect(answer.result?.text).toContain("[REDACTED:aws-id]");
  });

  test("with an HMAC: over the body as it arrives", async () => {
    const body = '{"path":"{path}"}';
    expect(await call("scout", "/hook", { method: "POST", body, sign: HOOK })).toMatchObject({ ok: true });
    const wanted = openssl(["-hmac", HOOK_KEY], body);
    expect(heard[0]?.headers["x-hub-signature-256"]).toBe(`sha256=${wanted}`);
  });

  test("with an HMAC over a text of its own, a time in a header of its own", async () => {
    const sign = {
      ...HOOK,
      header: "X-Slack-Signature",
      value: "v0={signature}",
      message: "v0:1531420618:{method} {path} {body}",
    };
    const options = { method: "POST", body: "token=1", headers: { "X-Slack-Request-Timestamp": "1531420618" }, sign };
    expect(await call("scout", "/slack?a=1", options)).toMatchObject({ ok: true });
    const wanted = openssl(["-hmac", HOOK_KEY], "v0:1531420618:POST /slack?a=1 token=1");
    expect(heard[0]?.headers["x-slack-signature"]).toBe(`v0=${wanted}`);
  });

  test("and gets a redirect back instead of a second signature", async () => {
    expect(await call("scout", "/moved", { sign: HOOK })).toMatchObject({ ok: true, result: { status: 307 } });
    expect(heard.map(({ url }) => url)).toEqual(["/moved"]);
    const follow = await call("scout", "/moved", { sign: HOOK, redirect: "follow" });
    expect(follow).toMatchObject({ ok: false, code: "invalid_input" });
    expect(follow.message).toContain("a signature is for one URL");
    expect(heard).toHaveLength(1);
  });

  test("and the log names the secret, never its value", async () => {
    await call("scout", "/", { sign: HOOK });
    const used = (await fixture.log({ kind: "secret" })).filter(({ outcome }) => outcome === "used");
    expect(used.map(({ of }) => of)).toContain("hook-key");
    const { out } = await fixture.ambit("log", "--json");
    for (const value of [AWS_KEY, HOOK_KEY, KEY_ID]) expect(out).not.toContain(value);
  });
});

describe("a tool cannot", () => {
  test("send a secret that only signs, in a header, the query or a body, signed or not", async () => {
    const handle = "{{secret:aws-key}}";
    for (const [path, options] of [
      ["/", { headers: { "X-A": handle } }],
      [`/?a=${encodeURIComponent(handle)}`, {}],
      ["/", { method: "PUT", body: handle }],
      ["/", { method: "PUT", body: handle, sign: AWS }],
      ["/", { sign: { ...AWS, keyId: handle } }],
    ] as const)
      expect(await call("scout", path, options)).toMatchObject({ ok: false, code: "secret_refused" });
    expect(heard).toEqual([]);
  });

  test("sign with a secret that the agent is not granted, that is not declared, or that is bound to another port", async () => {
    expect(await call("keyless", "/", { sign: HOOK })).toMatchObject({ ok: false, code: "scope_violation" });
    expect(await call("scout", "/", { sign: { ...HOOK, secret: "hook-kez" } })).toMatchObject({ ok: false });
    expect(await call("scout", "/", { sign: HOOK }, elsewhere)).toMatchObject({ ok: false, code: "secret_refused" });
    expect(heard).toEqual([]);
  });

  test.each<readonly [string, object]>([
    ["a header of the connection", { sign: { ...HOOK, header: "Host" } }],
    ["a header it also writes", { sign: HOOK, headers: { "x-hub-signature-256": "sha256=0" } }],
    ["its own authorization beside the signature", { sign: AWS, headers: { Authorization: "AWS4" } }],
    ["no known scheme", { sign: { ...HOOK, scheme: "rsa" } }],
    ["a text", { sign: "hmac" }],
    ["options of another scheme", { sign: { ...AWS, header: "X" } }],
  ])("describe a signature with %s", async (_, options) => {
    expect(await call("scout", "/", options)).toMatchObject({ ok: false, code: "invalid_input" });
    expect(heard).toEqual([]);
  });
});

test("a person sees that a secret signs only, and binding it anew keeps that", async () => {
  const listed = await fixture.ambit("secrets", "list");
  expect(listed.out).toMatch(/aws-key .*signs only/);
  expect(listed.out).not.toMatch(/hook-key .*signs only/);
  const policy = ["secrets", "policy", "aws-key", "--host", `127.0.0.1:${port}`];
  expect((await fixture.ambitAtTerminal(...policy)).out).toContain("signs only");
  const freed = await fixture.ambitAtTerminal(...policy, "--unbind", "--tool", "upload");
  expect([freed.status, freed.out]).toEqual([0, expect.not.stringContaining("signs only")]);
  expect(await call("scout", "/", { sign: AWS })).toMatchObject({ ok: true });
});
