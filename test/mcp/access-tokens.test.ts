// Access tokens of an authorization server that the user named, at the HTTP server as a process: tokens that this test signs itself,
// good ones and every way to be a bad one, against keys that a server on loopback publishes.
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createListener } from "node:net";
import { join } from "node:path";
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import { Fixture } from "../state/fixture.ts";
import { AuthorizationServer, browse } from "./authorization-server.ts";
import type { ToolResult } from "./line-client.ts";

type Key = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

let fixture: Fixture;
let server: ChildProcess;
let port = 0;
let errors = "";
let issuerServer: Server;
let elsewhere: Server;
let heardElsewhere = 0;
let issuer = "";
const keys = new Map<string, { readonly key: Key; readonly jwk: JWK }>();
/** Every token of this test: none of them is in a log, a message or the state. */
const signed: string[] = [];
/** What the authorization server publishes at each path; null closes the connection. */
const pages = new Map<string, { readonly status: number; readonly text: string; readonly location?: string } | null>();
const asked: string[] = [];

const portOf = (one: Server): number => (one.address() as { readonly port: number }).port;
const resource = (): string => `http://127.0.0.1:${port}/mcp`;
const metadataAddress = (): string => `http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`;
const METADATA = "/.well-known/oauth-authorization-server";

async function makeKey(kid: string, algorithm = "ES256"): Promise<JWK> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" };
  keys.set(kid, { key: privateKey, jwk });
  return jwk;
}

interface TokenOptions {
  readonly kid?: string | null;
  readonly key?: Key;
  readonly alg?: string;
  readonly typ?: string;
  readonly claims?: { readonly [name in keyof JWTPayload]: JWTPayload[name] | undefined };
}

async function token({ kid = "first", key, alg = "ES256", typ = "at+jwt", claims = {} }: TokenOptions = {}) {
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    ...{ iss: issuer, aud: resource(), sub: "alice", client_id: "editor", scope: "ambit other" },
    ...{ iat: now, exp: now + 300 },
    ...claims,
  };
  const made = new SignJWT(Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined)));
  made.setProtectedHeader({ alg, typ, ...(kid === null ? {} : { kid }) });
  const text = await made.sign(key ?? (keys.get(kid ?? "first")?.key as Key));
  signed.push(text);
  return text;
}

/** By hand: jose makes no such token. */
function unsafe(header: object, sign: (input: string) => string): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part(header)}.${part({ iss: issuer, aud: resource(), sub: "alice", scope: "ambit", exp: now + 300 })}`;
  return `${input}.${sign(input)}`;
}

function setting(clients: string, more = ""): void {
  fixture.write(
    "config/ambit/config.yml",
    `oauth:
  resource: ${resource()}
  issuers:
    - issuer: ${issuer}
      scopes: [ambit]
      ${more}
      clients:
${clients}`,
  );
}

const client = (claims: string, agent: string, more = ""): string =>
  `        - { claims: ${claims}, agent: ${agent}, in: ${fixture.project}${more} }\n`;
const CLIENTS = (): string => client("{ sub: alice }", "scout") + client("{ sub: bob }", "other");

async function freePort(): Promise<number> {
  const listener = createListener().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port: free } = listener.address() as { readonly port: number };
  listener.close();
  await once(listener, "close");
  return free;
}

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["fs.read{in=.}", "memory.read", "memory.write"]);
  fixture.agent("other", ["memory.read"]);
  fixture.write("project/a.txt", "one line\n");
  elsewhere = createServer((_, response) => {
    heardElsewhere++;
    response.end("{}");
  }).listen(0, "127.0.0.1");
  issuerServer = createServer((request, response) => {
    asked.push(request.url ?? "");
    const page = pages.get(request.url ?? "");
    if (page === null) return void request.socket.destroy();
    if (page === undefined) return void response.writeHead(404).end();
    response.writeHead(page.status, page.location === undefined ? {} : { location: page.location }).end(page.text);
  }).listen(0, "127.0.0.1");
  await Promise.all([once(elsewhere, "listening"), once(issuerServer, "listening")]);
  issuer = `http://127.0.0.1:${portOf(issuerServer)}`;
  await Promise.all([makeKey("first"), makeKey("rsa", "RS256"), makeKey("hidden")]);
  port = await freePort();
  setting(CLIENTS());
  publish();
  await fixture.begin();
  server = spawn(process.execPath, [join(root, "bin", "ambit"), "mcp", "serve", "--http", `127.0.0.1:${port}`], {
    cwd: "/",
    env: fixture.environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  server.stderr?.on("data", (text: Buffer) => {
    errors += text.toString();
  });
  await until(() => errors.includes("access tokens for"), "it listens");
}, 60_000);

afterAll(async () => {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  issuerServer?.close();
  elsewhere?.close();
  await fixture?.remove();
});

function publish(...kids: readonly string[]): void {
  const published = (kids.length === 0 ? ["first", "rsa"] : kids).map((kid) => keys.get(kid)?.jwk);
  pages.set(METADATA, { status: 200, text: JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }) });
  pages.set("/keys", { status: 200, text: JSON.stringify({ keys: published }) });
}

interface Answered {
  readonly status: number;
  readonly challenge: string;
  readonly text: string;
}

const MESSAGE = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } },
});

async function post(text: string | null, body = MESSAGE, more: Record<string, string> = {}): Promise<Answered> {
  const response = await fetch(resource(), {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...(text === null ? {} : { authorization: `Bearer ${text}` }),
      ...more,
    },
    body,
  });
  const challenge = response.headers.get("www-authenticate") ?? "";
  return { status: response.status, challenge, text: await response.text() };
}

async function peer(text: string, mode: "legacy" | { readonly pin: string } = "legacy"): Promise<Client> {
  const made = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
  await made.connect(
    new StreamableHTTPClientTransport(new URL(resource()), {
      requestInit: { headers: { Authorization: `Bearer ${text}` } },
    }),
  );
  return made;
}

const call = async (from: Client, name: string, input: Record<string, unknown>): Promise<ToolResult> =>
  (await from.callTool({ name, arguments: input })) as unknown as ToolResult;

const sessionsOf = async (): Promise<number> =>
  (await fixture.status()).sessions.filter(({ face }) => face === "http").length;

describe("the metadata of the server", () => {
  test("names the address and the authorization server, at both well-known places", async () => {
    for (const path of ["", "/mcp"]) {
      const response = await fetch(`http://127.0.0.1:${port}/.well-known/oauth-protected-resource${path}`);
      expect([response.status, await response.json()]).toEqual([
        200,
        {
          ...{ resource: resource(), authorization_servers: [issuer], bearer_methods_supported: ["header"] },
          ...{ resource_name: "ambit", scopes_supported: ["ambit"] },
        },
      ]);
    }
  });

  test("is not given to another Host, and has no other method", async () => {
    expect((await fetch(metadataAddress(), { method: "POST" })).status).toBe(405);
    expect((await fetch(metadataAddress(), { headers: { origin: "https://evil.example" } })).status).toBe(403);
  });

  test("is named to clients without a token, which then have no error of a token", async () => {
    const { status, challenge } = await post(null);
    expect(status).toBe(401);
    expect(challenge).toBe(`Bearer realm="ambit", resource_metadata="${metadataAddress()}", scope="ambit"`);
  });
});

describe.each([
  ["the older era", "legacy" as const],
  ["the newer era", { pin: "2026-07-28" }],
])("a good token in %s", (_, mode) => {
  test("has the agent of its claims, and no more", async () => {
    const [mine, theirs] = [await peer(await token(), mode), await peer(await token({ claims: { sub: "bob" } }), mode)];
    try {
      const read = await call(mine, "fs_read", { path: "a.txt" });
      expect([read.isError ?? false, read.structuredContent["text"]]).toEqual([false, "one line\n"]);
      const denied = await call(mine, "fs_write", { path: "a.txt", content: "x" });
      expect(denied.structuredContent["code"]).toBe("capability_absent");
      expect((await theirs.listTools()).tools.map(({ name }) => name)).not.toContain("fs_read");
    } finally {
      await Promise.all([mine.close(), theirs.close()]);
    }
  });

  test("that is a newer one of the same client continues the session", async () => {
    const first = await token({ claims: { jti: `a${_}` } });
    let text = first;
    const made = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
    const authProvider = { token: async () => text };
    await made.connect(new StreamableHTTPClientTransport(new URL(resource()), { authProvider }));
    await call(made, "memory_set", { key: "k", value: "v" });
    const before = await sessionsOf();
    text = await token({ claims: { jti: `b${_}`, exp: Math.floor(Date.now() / 1000) + 600 } });
    expect((await call(made, "memory_get", { key: "k" })).isError ?? false).toBe(false);
    expect(await sessionsOf()).toBe(before);
    await made.close();
  });
});

/** An edit of the configuration takes effect within a second. */
async function issuerCounts(): Promise<void> {
  await until(async () => (await (await fetch(metadataAddress())).text()).includes(issuer), "the issuer counts");
}

test("the protocol's own client signs in at a real authorization server, and calls with the token it gets there", async () => {
  const real = await AuthorizationServer.start();
  const before = issuer;
  try {
    issuer = real.issuer;
    setting(CLIENTS());
    await issuerCounts();
    const person = new BrowserProvider();
    const open = (): StreamableHTTPClientTransport =>
      new StreamableHTTPClientTransport(new URL(resource()), { authProvider: person });
    const made = new Client({ name: "test", version: "0" });
    const first = open();
    await expect(made.connect(first)).rejects.toThrow();
    const redirected = await browse(person.page, REDIRECT);
    await first.finishAuth(redirected.searchParams);
    const again = new Client({ name: "test", version: "0" });
    await again.connect(open());
    expect((await call(again, "fs_read", { path: "a.txt" })).structuredContent["text"]).toBe("one line\n");
    signed.push(person.tokens()?.access_token ?? "");
    await again.close();
  } finally {
    issuer = before;
    setting(CLIENTS());
    await issuerCounts();
    await real.stop();
  }
});

const REDIRECT = "http://127.0.0.1:9/callback";

/** Keeps everything in memory, and hands the page to the test. */
class BrowserProvider implements OAuthClientProvider {
  page = "";
  readonly redirectUrl = REDIRECT;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  get clientMetadata(): OAuthClientProvider["clientMetadata"] {
    return { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none", client_name: "test" };
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(page: URL): void {
    this.page = page.href;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }
}

test("tokens with other asymmetric algorithms, several audiences or no type are accepted", async () => {
  const good: readonly TokenOptions[] = [
    { kid: "rsa", alg: "RS256" },
    { claims: { aud: ["https://other.example", resource()] } },
    { typ: "JWT" },
    { claims: { scope: undefined, scp: ["ambit"] } },
  ];
  for (const one of good) expect((await post(await token(one))).status).toBe(200);
});

const soon = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
const BAD: readonly (readonly [string, () => Promise<string> | string, string])[] = [
  ["another audience", () => token({ claims: { aud: `${resource()}/` } }), "for another audience"],
  ["no audience", () => token({ claims: { aud: undefined } }), "for another audience"],
  ["the authorization server as its audience", () => token({ claims: { aud: issuer } }), "for another audience"],
  ["another issuer", () => token({ claims: { iss: `${issuer}/` } }), "issuer is not in the configuration"],
  ["no issuer", () => token({ claims: { iss: undefined } }), "issuer is not in the configuration"],
  ["an end in the past", () => token({ claims: { exp: soon(-60) } }), "has expired"],
  ["an end two seconds ago", () => token({ claims: { exp: soon(-2) } }), "has expired"],
  ["no end", () => token({ claims: { exp: undefined } }), "its claim exp"],
  ["a beginning in the future", () => token({ claims: { nbf: soon(60) } }), "not valid yet"],
  ["no name of its key", () => token({ kid: null }), "does not name its key"],
  ["a key that is not published", () => token({ kid: "hidden" }), "its signing key is unknown"],
  ["the key of another", async () => token({ key: keys.get("hidden")?.key as Key }), "its signature is not valid"],
  ["another type", () => token({ typ: "logout+jwt" }), "not an access token"],
  ["no algorithm", () => unsafe({ alg: "none", kid: "first" }, () => ""), ""],
  [
    "no algorithm and a signature",
    () => unsafe({ alg: "none", kid: "first" }, () => "AAAA"),
    "algorithm is not accepted",
  ],
  [
    "the public key as a shared secret",
    async () => {
      const { publicKey } = await generateKeyPair("RS256", { extractable: true });
      const pem = await exportSPKI(publicKey);
      return unsafe({ alg: "HS256", kid: "rsa" }, (input) =>
        createHmac("sha256", pem).update(input).digest("base64url"),
      );
    },
    "algorithm is not accepted",
  ],
  [
    "an unknown critical header",
    () => unsafe({ alg: "ES256", kid: "first", crit: ["x"], x: 1 }, () => "AAAA"),
    "signature is not valid",
  ],
  ["a header that is no JSON", () => "bm90anNvbg.e30.AAAA", ""],
  [
    "claims that are no JSON",
    () => `${Buffer.from('{"alg":"ES256","kid":"first"}').toString("base64url")}.AAAA.AAAA`,
    "",
  ],
];

test.each(BAD)("a token with %s is refused with 401, and the reason has nothing of the token", async (_, make, why) => {
  const text = await make();
  const { status, challenge, text: answer } = await post(text);
  expect([status, challenge]).toEqual([
    401,
    `Bearer realm="ambit", error="invalid_token", resource_metadata="${metadataAddress()}", scope="ambit"`,
  ]);
  expect(answer).toContain(why);
  for (const part of text.split(".").filter((one) => one.length > 8)) expect(answer).not.toContain(part);
});

test("a token of 9,000 characters is refused", async () => {
  expect((await post(await token({ claims: { filler: "x".repeat(7_000) } }))).status).toBe(401);
});

test("a token without the scope is refused with 403 and the scope", async () => {
  const { status, challenge } = await post(await token({ claims: { scope: "other" } }));
  expect(status).toBe(403);
  expect(challenge).toContain('error="insufficient_scope"');
  expect(challenge).toContain('scope="ambit"');
});

test("claims that no entry, or more than one, is for are refused with 403", async () => {
  const unmapped = await post(await token({ claims: { sub: "carol" } }));
  expect([unmapped.status, unmapped.text]).toEqual([403, expect.stringContaining("no entry of `oauth`")]);
  expect((await post(await token({ claims: { sub: undefined } }))).status).toBe(403);
  setting(CLIENTS() + client("{ client_id: editor }", "other"));
  await until(async () => (await post(await token())).status === 403, "the map is ambiguous");
  expect((await post(await token({ claims: { client_id: "another" } }))).status).toBe(200);
  setting(CLIENTS());
  await until(async () => (await post(await token())).status === 200, "the map is as before");
});

test("a session does not exist for another client of the same server, nor under ambit's own token", async () => {
  const made = await fetch(resource(), {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      authorization: `Bearer ${await token()}`,
    },
    body: MESSAGE,
  });
  const id = { "mcp-session-id": made.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  await made.text();
  const list = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  const own = JSON.parse((await fixture.ambit("tokens", "add", "scout", "--json")).out) as { readonly token: string };
  expect((await post(await token({ claims: { sub: "bob" } }), list, id)).status).toBe(404);
  expect((await post(await token({ claims: { client_id: "another" } }), list, id)).status).toBe(404);
  expect((await post(own.token, list, id)).status).toBe(404);
  expect((await post(own.token)).status).toBe(200);
  expect((await post(await token(), list, id)).status).toBe(200);
});

test("a token that expires ends its session", async () => {
  const before = await sessionsOf();
  const short = await peer(await token({ claims: { client_id: "short", exp: soon(3) } }));
  await short.listTools();
  expect(await sessionsOf()).toBe(before + 1);
  await until(async () => (await sessionsOf()) === before, "the session has ended");
  await expect(call(short, "fs_read", { path: "a.txt" })).rejects.toThrow();
  await short.close().catch(() => undefined);
});

test("an entry that is removed from the configuration ends its sessions", async () => {
  const text = await token({ claims: { sub: "dave" } });
  setting(CLIENTS() + client("{ sub: dave }", "scout"));
  await until(async () => (await post(text)).status === 200, "the entry counts");
  const before = await sessionsOf();
  const dave = await peer(text);
  await dave.listTools();
  expect(await sessionsOf()).toBe(before + 1);
  setting(CLIENTS());
  await until(async () => (await sessionsOf()) === before, "the session has ended");
  await expect(call(dave, "fs_read", { path: "a.txt" })).rejects.toThrow();
  await dave.close().catch(() => undefined);
});

test("a user of the map needs a record, which limits the session", async () => {
  const text = await token({ claims: { sub: "erin" } });
  setting(CLIENTS() + client("{ sub: erin }", "scout", ", user: erin"));
  const list = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  const listed = async (): Promise<string> => {
    const made = await peer(text).catch(() => null);
    const tools = await made?.listTools().catch(() => null);
    await made?.close();
    return (tools?.tools ?? []).map(({ name }) => name).join(" ");
  };
  await until(async () => (await post(text, list)).status !== 403, "the entry counts");
  expect(await listed()).toBe("");
  fixture.user("erin", ["memory.read"]);
  await until(async () => (await listed()).includes("memory_get"), "the record counts");
  expect(await listed()).not.toContain("fs_read");
  rmSync(join(fixture.config, "users", "erin.md"));
  setting(CLIENTS());
});

describe("keys", () => {
  /** Each address of keys has a cache of its own. */
  let number = 0;
  let place = "";

  beforeEach(() => {
    place = `/keys-${++number}`;
    setting(CLIENTS(), `jwks: ${issuer}${place}`);
  });

  async function checkedWith(text: string): Promise<Answered> {
    await until(() => asked.includes(place) || post(text).then(() => asked.includes(place)), "the keys were asked for");
    return post(text);
  }

  test.each([
    ["a list of 100,000 bytes", () => JSON.stringify({ keys: [], filler: "x".repeat(100_000) })],
    ["a list of 1,000 keys", () => JSON.stringify({ keys: Array.from({ length: 1_000 }, () => ({ kty: "EC" })) })],
    ["no list", () => "{}"],
    ["no JSON", () => "<html>"],
  ])("%s is no set of keys: the server says that it cannot check tokens", async (_, text) => {
    pages.set(place, { status: 200, text: text() });
    const { status, text: answer } = await checkedWith(await token());
    expect([status, answer]).toEqual([503, expect.stringContaining("cannot be read")]);
  });

  test("a redirect is not followed", async () => {
    pages.set(place, { status: 302, text: "", location: `http://127.0.0.1:${portOf(elsewhere)}/keys` });
    expect((await checkedWith(await token())).status).toBe(503);
    expect(heardElsewhere).toBe(0);
  });

  test("a server that is down is asked again later, and not by each token", async () => {
    pages.set(place, null);
    const text = await token();
    expect((await checkedWith(text)).status).toBe(503);
    for (let at = 0; at < 5; at++) expect((await post(text)).status).toBe(503);
    expect(asked.filter((path) => path === place).length).toBe(1);
    pages.set(place, { status: 200, text: JSON.stringify({ keys: [keys.get("first")?.jwk] }) });
    await until(async () => (await post(text)).status === 200, "the keys were asked for again");
  });

  test("a key that is shared is no key of a server", async () => {
    const shared = {
      kty: "oct",
      kid: "first",
      k: Buffer.from("0123456789abcdef0123456789abcdef").toString("base64url"),
    };
    pages.set(place, { status: 200, text: JSON.stringify({ keys: [shared] }) });
    const { status, text } = await checkedWith(await token());
    expect([status, text]).toEqual([401, expect.stringContaining("its signing key is unknown")]);
  });
});

test("keys at another origin than the issuer's are not asked for, unless the configuration names them", async () => {
  const other = `http://127.0.0.1:${portOf(issuerServer)}/tenant`;
  pages.set("/.well-known/oauth-authorization-server/tenant", {
    status: 200,
    text: JSON.stringify({ issuer: other, jwks_uri: `http://127.0.0.1:${portOf(elsewhere)}/keys` }),
  });
  const before = issuer;
  issuer = other;
  setting(CLIENTS());
  const text = await token();
  await until(async () => (await post(text)).status === 503, "the issuer counts");
  expect((await post(text)).text).toContain("set `jwks` if that is correct");
  expect(heardElsewhere).toBe(0);
  issuer = before;
  setting(CLIENTS());
});

test("metadata that names another issuer is refused", async () => {
  const other = `http://127.0.0.1:${portOf(issuerServer)}/mixed`;
  pages.set("/.well-known/oauth-authorization-server/mixed", {
    status: 200,
    text: JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }),
  });
  const before = issuer;
  issuer = other;
  setting(CLIENTS());
  const text = await token();
  await until(async () => (await post(text)).status === 503, "the issuer counts");
  expect((await post(text)).text).toContain("its metadata names another issuer");
  issuer = before;
  setting(CLIENTS());
});

test("without `oauth`, and with a mistake in it, access tokens are unknown tokens", async () => {
  const text = await token();
  for (const config of ["", `oauth: { resource: ${resource()}, issuers: [{ issuer: ${issuer} }] }\n`]) {
    fixture.write("config/ambit/config.yml", config);
    await until(async () => !(await post(text)).challenge.includes("resource_metadata"), "the configuration counts");
    const { status, challenge } = await post(text);
    expect([status, challenge]).toEqual([401, 'Bearer realm="ambit", error="invalid_token"']);
    expect((await fetch(metadataAddress())).status).toBe(404);
  }
  setting(CLIENTS());
});

test("refusals are in the log, and no part of a signature is anywhere in the state", async () => {
  const codes = (await fixture.log({ kind: "session", outcome: "deny" })).map(({ code }) => code);
  for (const code of ["unknown_token", "insufficient_scope", "not_mapped", "not_available"])
    expect(codes).toContain(code);
  const signatures = signed.map((text) => text.split(".")[2] ?? "");
  expect(signatures.length).toBeGreaterThan(20);
  const state = join(fixture.base, "state");
  const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const bytes = readFileSync(join(file.parentPath, file.name));
    for (const signature of signatures) expect(bytes.includes(signature)).toBe(false);
  }
  for (const signature of signatures) expect(errors).not.toContain(signature);
});
