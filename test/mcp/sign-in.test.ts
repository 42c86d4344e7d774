// Sign-ins at MCP servers at addresses: a real authorization server, the SDK's own server behind it, the real daemon and broker, and the
// command as a process with a person's browser.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { createRemoteJWKSet, decodeJwt, type JWTVerifyGetKey, jwtVerify } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { readBody, sendResponse, webRequest } from "../../src/mcp/http/web-exchange.ts";
import { NamesOutside } from "../broker/names-outside.ts";
import { root } from "../e2e/ambit.ts";
import { onTerminal } from "../e2e/terminal.ts";
import { until } from "../house/until.ts";
import type { Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { AuthorizationServer, browse } from "./authorization-server.ts";

let fixture: Fixture;
let caller: Caller;
let session: Session;
let authority: AuthorizationServer;
let short: AuthorizationServer;
let server: Server;
let elsewhere: Server;
let heardElsewhere = 0;
/** What the server heard: its path, and the token of the request. */
const heard: { readonly path: string; readonly bearer: string | null }[] = [];
/** Every token that was ever sent: none of them is anywhere but in the secret store. */
const tokens = new Set<string>();
/** Tokens that the server refuses although they are valid. */
const refused = new Set<string>();

const portOf = (one: Server): number => (one.address() as { readonly port: number }).port;
const base = (): string => `http://127.0.0.1:${portOf(server)}`;

function tracker(): McpServer {
  const made = new McpServer({ name: "tracker", version: "1" });
  made.registerTool(
    "echo",
    { description: "Echo.", inputSchema: z.object({ value: z.string() }) },
    async ({ value }) => ({
      content: [{ type: "text", text: `tracker ${value}` }],
    }),
  );
  return made;
}

const handlers = { newer: createMcpHandler(tracker, { legacy: "reject" }), both: createMcpHandler(tracker) };
const keySets = new Map<string, JWTVerifyGetKey>();

/** A server for each way to say where one signs in; the metadata of a path is at its well-known place. */
function metadataOf(path: string): object | null {
  const resource = `${base()}${path}`;
  switch (path) {
    case "/newer":
    case "/both":
    case "/late":
    case "/late-newer":
      return { resource, authorization_servers: [authority.issuer], scopes_supported: ["ambit"] };
    case "/short":
      return { resource, authorization_servers: [short.issuer], scopes_supported: ["ambit"] };
    case "/other-resource":
      return { resource: "https://bank.example/mcp", authorization_servers: [authority.issuer] };
    case "/mixed":
      return { resource, authorization_servers: [`${base()}/as-mixed`] };
    case "/plain":
      return { resource, authorization_servers: ["http://login.example.com"] };
    case "/special":
      return { resource, authorization_servers: [`https://login.example.test:${portOf(elsewhere)}`] };
    case "/handle":
      return { resource, authorization_servers: [authority.issuer], scopes_supported: ["{{secret:other}}"] };
    default:
      return null;
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? null;
  heard.push({ path, bearer });
  if (bearer !== null) tokens.add(bearer);
  const json = (value: object): unknown =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  const wellKnown = "/.well-known/oauth-protected-resource";
  if (path.startsWith(wellKnown)) {
    const of = path.slice(wellKnown.length);
    if (of === "/redirect")
      return void response.writeHead(302, { location: `http://127.0.0.1:${portOf(elsewhere)}/` }).end();
    if (of === "/large") return void response.writeHead(200).end("x".repeat(1_000_000));
    const metadata = metadataOf(of);
    return void (metadata === null ? response.writeHead(404).end() : json(metadata));
  }
  if (path.startsWith("/.well-known/oauth-authorization-server/as-mixed"))
    return void json({
      ...{
        issuer: authority.issuer,
        response_types_supported: ["code"],
        authorization_endpoint: `${authority.issuer}/auth`,
      },
      ...{ token_endpoint: `${base()}/steal`, registration_endpoint: `${base()}/register` },
    });
  if (path.startsWith("/.well-known/")) return void response.writeHead(404).end();
  const kind = path.slice(1);
  const text = (await readBody(request, 1_000_000)) ?? "";
  // Many servers let everybody begin, and ask for a sign-in afterwards.
  const isOpen = kind.startsWith("late") && /"(?:initialize|notifications\/initialized)"/.test(text);
  const isGood = isOpen || (bearer !== null && !refused.has(bearer) && (await isValid(bearer, `${base()}${path}`)));
  if (!isGood) {
    const challenge = `Bearer resource_metadata="${base()}${wellKnown}${path}"`;
    return void response.writeHead(401, { "www-authenticate": challenge }).end();
  }
  const handler = kind.endsWith("newer") ? handlers.newer : handlers.both;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const asked = webRequest(request, gone.signal);
  await sendResponse(
    await handler.fetch(asked, text === "" ? {} : { parsedBody: JSON.parse(text) as unknown }),
    response,
  );
}

/** As a server has to: by the keys of the authorization server, for this resource. */
async function isValid(token: string, audience: string): Promise<boolean> {
  try {
    const { iss = "" } = decodeJwt(token);
    const keys = keySets.get(iss) ?? createRemoteJWKSet(new URL(`${iss}/jwks`));
    keySets.set(iss, keys);
    await jwtVerify(token, keys, { audience, issuer: [authority.issuer, short.issuer] });
    return true;
  } catch {
    return false;
  }
}

const KINDS = [
  "newer",
  "both",
  "late",
  "late-newer",
  "short",
  "other-resource",
  "mixed",
  "plain",
  "special",
  "redirect",
  "large",
  "handle",
  "nowhere",
];

beforeAll(async () => {
  [fixture, authority, short] = await Promise.all([
    Fixture.make(),
    AuthorizationServer.start(),
    AuthorizationServer.start({ seconds: 31, revocation: false }),
  ]);
  server = createServer((request, response) => void serve(request, response).catch(() => response.destroy())).listen(
    0,
    "127.0.0.1",
  );
  elsewhere = createServer((_, response) => {
    heardElsewhere++;
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await Promise.all([once(server, "listening"), once(elsewhere, "listening")]);
  fixture.agent("scout", [
    `tool.invoke{tools=[${KINDS.map((kind) => `"${kind}__*"`).join(",")},"keyed__*","gone__*"]}`,
  ]);
  const entries = KINDS.map((kind) => `  ${kind}: { url: "${base()}/${kind}" }`);
  const gone = ["gone", "ungranted"].map((name) => `  ${name}: { url: "http://127.0.0.1:1/mcp" }`);
  const own = `  keyed: { url: "${base()}/both", headers: { Authorization: "Bearer {{secret:own}}" } }`;
  fixture.write("config/ambit/mcp.yml", `servers:\n${[...entries, ...gone, own].join("\n")}\n`);
  await fixture.begin();
  caller = fixture.caller();
}, 60_000);

afterAll(async () => {
  await Promise.all([authority?.stop(), short?.stop()]);
  server?.close();
  elsewhere?.close();
  await fixture?.remove();
});

beforeEach(async () => {
  session = expectValue(await caller.open(fixture.project, "scout"));
});

afterEach(async () => {
  await session.close();
});

interface Login {
  /** The page that the command printed; null where it ended without one. */
  readonly page: string | null;
  readonly child: ChildProcess;
  /** Its status and everything that it printed. */
  readonly ended: Promise<{ readonly status: number | null; readonly out: string }>;
}

/** Starts the command, as a person's process, and waits for the page or for its end. */
async function login(name: string, ...words: readonly string[]): Promise<Login> {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), "mcp", "login", name, "--json", ...words], {
    ...{ cwd: fixture.project, env: fixture.environment, stdio: ["ignore", "pipe", "pipe"] },
  });
  let out = "";
  const page = new Promise<string | null>((found) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      out += `${line}\n`;
      const { page: printed } = JSON.parse(line) as { readonly page?: string };
      if (printed !== undefined) found(printed);
    });
    child.once("close", () => found(null));
  });
  child.stderr?.on("data", (text: Buffer) => {
    out += text.toString();
  });
  const ended = once(child, "close").then(([status]) => ({ status: status as number | null, out }));
  return { page: await page, child, ended };
}

const hostOf = (one: AuthorizationServer): string => new URL(one.issuer).host;

/** Signs in as a person would. */
async function signIn(name: string, at: AuthorizationServer = authority): Promise<string> {
  const { page, ended } = await login(name, "--host", hostOf(at));
  if (page === null) throw new Error((await ended).out);
  const redirected = await browse(page, redirectOf(page));
  expect((await fetch(redirected)).status).toBe(200);
  const { status, out } = await ended;
  expect([status, out]).toEqual([0, expect.stringContaining('"state":"signed in"')]);
  return page;
}

const redirectOf = (page: string): string => new URL(page).searchParams.get("redirect_uri") ?? "";

async function listed(
  name: string,
): Promise<{ readonly signIn: { readonly state: string } | null; readonly failure: string | null }> {
  const { servers } = expectValue(await fixture.control("servers.list", { cwd: fixture.project }));
  return servers.find((one) => one.name === name) as never;
}

const echo = (name: string, value = "hi") => session.do(`${name}__echo`, { value });

test.each(["nowhere", "late", "late-newer"])(
  "a server of the kind %s answers calls with a code and a hint, before it was ever used",
  async (name) => {
    const answer = await echo(name);
    expect(answer).toMatchObject({ said: "sign_in_required", value: { fix: `ambit mcp login ${name}` } });
    expect(JSON.stringify(answer)).toContain("tell the user to sign in");
  },
);

test("a call of a server that was never used says why: it has the grant, and its tools are not known", async () => {
  expect(await echo("gone")).toMatchObject({ said: "not_available", value: { fix: "ambit mcp show gone" } });
  // The pause before it is started again.
  expect(await echo("gone")).toMatchObject({ said: "not_available" });
  expect((await session.do("ungranted__echo")).said).toBe("unknown_tool");
});

describe.each(["newer", "both", "late", "late-newer"])("a sign-in at a server of the kind %s", (name) => {
  test("shows the host first, uses PKCE and a state, and makes its tools callable", async () => {
    const without = await login(name);
    expect(without.page).toBeNull();
    const { status, out } = await without.ended;
    expect([status, out]).toEqual([2, expect.stringContaining(`--host ${hostOf(authority)}`)]);
    const page = new URL(await signIn(name));
    expect(page.searchParams.get("code_challenge_method")).toBe("S256");
    expect(page.searchParams.get("resource")).toBe(`${base()}/${name}`);
    expect((page.searchParams.get("state") ?? "").length).toBeGreaterThan(40);
    expect(await echo(name)).toMatchObject({ said: "done" });
    expect(JSON.stringify(await echo(name, "again"))).toContain("tracker again");
    expect((await listed(name)).signIn?.state).toBe("signed in");
  });

  test("ends with `logout`, which revokes its tokens, and calls then say what to do", async () => {
    const revoked = (await authority.asked("/token/revocation")).length;
    const { status, out } = await fixture.ambit("mcp", "logout", name);
    // Its access tokens are JWTs, which this authorization server does not take back.
    const revocation = `its refresh token is revoked at ${authority.issuer}, where its access token is valid until it expires`;
    expect([status, out]).toEqual([0, `signed out of ${name}; ${revocation}\n`]);
    expect((await authority.asked("/token/revocation")).length).toBe(revoked + 2);
    expect((await fixture.ambit("mcp", "logout", name)).out).toBe(`not signed in at ${name}\n`);
    expect(await echo(name)).toMatchObject({ said: "sign_in_required", value: { fix: `ambit mcp login ${name}` } });
    expect((await listed(name)).signIn).toBeNull();
    expect((await fixture.ambit("secrets", "list")).out).not.toContain(`mcp-${name}-`);
    await signIn(name);
    expect(await echo(name)).toMatchObject({ said: "done" });
  });
});

test("a token of one server is not sent to another, whatever a client or an entry says", async () => {
  await signIn("both");
  const before = heard.length;
  await echo("keyed");
  await echo("newer");
  for (const { path, bearer } of heard.slice(before))
    if (bearer !== null) expect(decodeJwt(bearer).aud).toBe(`${base()}${path}`);
  const refusal = await login("keyed", "--host", hostOf(authority));
  expect((await refusal.ended).out).toContain("has a credential in its entry");
});

test("two calls at once after the token was refused refresh it once", async () => {
  await signIn("both");
  expect(await echo("both")).toMatchObject({ said: "done" });
  const last = heard.findLast(({ path, bearer }) => path === "/both" && bearer !== null)?.bearer ?? "";
  refused.add(last);
  const before = (await authority.asked("/token")).length;
  await authority.delay(300);
  const answers = await Promise.all([echo("both", "a"), echo("both", "b"), echo("both", "c")]);
  await authority.delay(0);
  expect(answers).toMatchObject([{ said: "done" }, { said: "done" }, { said: "done" }]);
  expect((await authority.asked("/token")).length).toBe(before + 1);
  const next = heard.findLast(({ path, bearer }) => path === "/both" && bearer !== null)?.bearer ?? "";
  expect(next).not.toBe(last);
});

test("a token that is about to end is refreshed before it is sent", async () => {
  await signIn("short", short);
  const before = (await short.asked("/token")).length;
  await until(
    async () => (await echo("short")).said === "done" && (await short.asked("/token")).length > before,
    "it was refreshed",
  );
});

test("a log-out says where the authorization server does not revoke tokens", async () => {
  await signIn("short", short);
  const { out } = await fixture.ambit("mcp", "logout", "short", "--json");
  expect(JSON.parse(out)).toEqual({
    ...{ name: "short", wasSignedIn: true, issuer: short.issuer, revocation: "not offered" },
  });
});

test("a server that is removed takes its sign-in and its pin with it", async () => {
  await signIn("late");
  expect(await echo("late")).toMatchObject({ said: "done" });
  const { status, out } = await fixture.ambit("mcp", "remove", "late");
  expect([status, out]).toEqual([0, expect.stringContaining("signed out of late; its refresh token is revoked")]);
  expect((await fixture.ambit("secrets", "list")).out).not.toMatch(/mcp-late-[0-9a-f]{12}\./);
  expect((await fixture.log({ outcome: "server_forgotten" })).length).toBe(1);
  // Another server of this name is pinned at its own first use.
  const added = await fixture.ambit("mcp", "add", "late", "--user", "--yes", "--url", `${base()}/both`);
  expect([added.status, added.out]).toEqual([0, expect.stringContaining("added late")]);
  await until(async () => (await echo("late")).said === "sign_in_required", "the new entry is in effect");
  const failure = async (): Promise<unknown> =>
    (
      JSON.parse((await fixture.ambit("mcp", "list", "--json")).out) as { servers: Record<string, unknown>[] }
    ).servers.find(({ name }) => name === "late")?.["failure"];
  expect(await failure()).toBe("it needs a sign-in");
  await signIn("late");
  expect(await failure()).toBeNull();
  // While a file has the server, its pin stays.
  const kept = { cwd: fixture.project, name: "both", level: "user" as const, presence: null };
  expect(await fixture.control("servers.forget", kept)).toMatchObject({ ok: false, code: "not_available" });
});

describe("--no-browser", () => {
  const words = (): readonly string[] =>
    fixture.words("mcp", "login", "newer", "--no-browser", "--host", hostOf(authority));
  const pageIn = (raw: string): string => /http:\/\/127\.0\.0\.1:\d+\/auth\?\S+/.exec(raw)?.[0] ?? "";

  test("takes the address that a browser elsewhere shows at the end", async () => {
    const pasted = async (raw: string): Promise<string> => `${await browse(pageIn(raw), redirectOf(pageIn(raw)))}\r`;
    const { status, raw } = await onTerminal(fixture.project, words(), [["paste it here", pasted]], {});
    expect([status, raw]).toEqual([0, expect.stringContaining("signed in at newer")]);
    expect(await echo("newer")).toMatchObject({ said: "done" });
  });

  test("takes no address of another sign-in, no other address, and needs a terminal", async () => {
    const asked = (await authority.asked("/token")).length;
    const others: readonly ((redirect: string) => string)[] = [
      (redirect) => `${redirect}?code=x&state=${"A".repeat(43)}`,
      () => "https://evil.example/callback?code=x",
      () => "nothing",
    ];
    for (const other of others) {
      const pasted = (raw: string): string => `${other(redirectOf(pageIn(raw)))}\r`;
      const { status, raw } = await onTerminal(fixture.project, words(), [["paste it here", pasted]], {});
      expect([status, raw]).toEqual([1, expect.stringContaining("the sign-in was not finished")]);
    }
    expect((await authority.asked("/token")).length).toBe(asked);
    const { ended } = await login("newer", "--no-browser");
    expect(await ended).toMatchObject({ status: 2, out: expect.stringContaining("needs a terminal") as string });
  });
});

test("the secret of a client needs its id, and a place where it is", async () => {
  const { ended } = await login("newer", "--client-secret-from", "env:NOWHERE");
  expect(await ended).toMatchObject({ status: 2, out: expect.stringContaining("--client-id") as string });
  const missing = await login("newer", "--client-id", "one", "--client-secret-from", "env:NOWHERE");
  expect(await missing.ended).toMatchObject({
    status: 1,
    out: expect.stringContaining("NOWHERE is not set") as string,
  });
  const odd = await login("newer", "--client-id", "one", "--client-secret-from", "elsewhere");
  expect(await odd.ended).toMatchObject({ status: 2, out: expect.stringContaining("--client-secret-from") as string });
});

test("a refresh token that was revoked ends the sign-in: calls have the code, and the list says it", async () => {
  await signIn("both");
  expect(await echo("both")).toMatchObject({ said: "done" });
  await authority.revoke();
  refused.add(heard.findLast(({ path, bearer }) => path === "/both" && bearer !== null)?.bearer ?? "");
  const asked = (await authority.asked("/token")).length;
  expect(await echo("both")).toMatchObject({ said: "sign_in_required", value: { fix: "ambit mcp login both" } });
  expect(await echo("both")).toMatchObject({ said: "sign_in_required" });
  expect((await authority.asked("/token")).length).toBe(asked + 1);
  expect((await listed("both")).signIn?.state).toBe("expired");
  expect((await fixture.ambit("mcp", "list")).out).toContain("the sign-in has expired: ambit mcp login both");
  await signIn("both");
  expect(await echo("both")).toMatchObject({ said: "done" });
});

describe("the redirect", () => {
  test("with another state is refused, and the sign-in goes on", async () => {
    const { page, ended } = await login("newer", "--host", hostOf(authority));
    const redirected = await browse(page ?? "", redirectOf(page ?? ""));
    const other = new URL(redirected);
    other.searchParams.set("state", "A".repeat(43));
    expect((await fetch(other)).status).toBe(400);
    expect((await fetch(new URL("/callback", other))).status).toBe(400);
    expect((await fetch(redirected)).status).toBe(200);
    expect((await ended).status).toBe(0);
    // The state counts once, and no other process can use another.
    const again = { state: redirected.searchParams.get("state") ?? "", code: "x", iss: null };
    expect(await fixture.control("servers.signin", again)).toMatchObject({ ok: false, code: "unknown_state" });
    expect(await fixture.control("servers.signin", { ...again, state: "" })).toMatchObject({ ok: false });
  });

  test("of another issuer is refused (mix-up)", async () => {
    const asked = (await authority.asked("/token")).length;
    const { page, ended } = await login("newer", "--host", hostOf(authority));
    const redirected = await browse(page ?? "", redirectOf(page ?? ""));
    redirected.searchParams.set("iss", "https://evil.example");
    await fetch(redirected);
    const { status, out } = await ended;
    expect([status, out]).toEqual([4, expect.stringContaining("a different authorization server")]);
    expect((await authority.asked("/token")).length).toBe(asked);
  });

  test("with an error ends the command", async () => {
    const { page, ended } = await login("newer", "--host", hostOf(authority));
    const end = new URL(redirectOf(page ?? ""));
    end.search = String(
      new URLSearchParams({ error: "access_denied", state: new URL(page ?? "").searchParams.get("state") ?? "" }),
    );
    await fetch(end);
    expect(await ended).toMatchObject({ status: 1, out: expect.stringContaining("access_denied") as string });
  });
});

test.each([
  ["other-resource", "metadata describes a different resource"],
  ["mixed", "a different authorization server"],
  ["plain", "without TLS"],
  ["redirect", "a redirect, which is not followed"],
  ["large", "large"],
  ["handle", ""],
  ["nowhere", ""],
])("a server of the kind %s is not signed in at", async (name, why) => {
  const { page, ended } = await login(name, "--host", hostOf(authority));
  expect(page).toBeNull();
  const { status, out } = await ended;
  expect([status === 0, out]).toEqual([false, expect.stringContaining(why)]);
  expect(heardElsewhere).toBe(0);
  expect((await listed(name)).signIn).toBeNull();
});

test("a name that leads to a special address is refused although the person allowed the host", async () => {
  const names = new NamesOutside();
  names.names.set("login.example.test", [["127.0.0.1"]]);
  fixture.write("config/ambit/config.yml", `resolver: ${JSON.stringify(await names.start())}\n`);
  const { page, ended } = await login("special", "--host", `login.example.test:${portOf(elsewhere)}`);
  expect([page, (await ended).out]).toEqual([
    null,
    expect.stringContaining("the address that the name resolves to is not allowed"),
  ]);
  expect(heardElsewhere).toBe(0);
  fixture.write("config/ambit/config.yml", "");
  names.stop();
});

test("the user's ceiling limits the hosts of a sign-in", async () => {
  fixture.write(
    "config/ambit/config.yml",
    `ceiling:\n  - net.connect: { hosts: [127.0.0.1], ports: [${portOf(server)}] }\n`,
  );
  const { page, ended } = await login("newer", "--host", hostOf(authority));
  expect(page).toBeNull();
  expect((await ended).status).not.toBe(0);
  fixture.write("config/ambit/config.yml", "");
});

test("a process of an agent's session cannot sign in", async () => {
  const asks = {
    cwd: fixture.project,
    name: "newer",
    redirect: "http://127.0.0.1:9/callback",
    hosts: [],
    clientId: null,
    clientSecret: null,
  };
  const answer = await caller.ask("servers.login", { ...asks, presence: null }, "2", {}, "control").answer;
  expect(answer.ok).toBe(false);
  expect(answer).toMatchObject({ code: "control_refused" });
});

test("no token is in the log, the state, or what commands print", async () => {
  for (const token of [...(await authority.tokens()), ...(await short.tokens())]) tokens.add(token);
  expect([...tokens].filter((token) => !token.includes(".")).length).toBeGreaterThan(4);
  const entries = JSON.stringify(await fixture.log({}));
  const shown = `${(await fixture.ambit("mcp", "list", "--json")).out}${(await fixture.ambit("mcp", "show", "newer")).out}`;
  const files = readdirSync(join(fixture.base, "state"), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.length).toBeGreaterThan(2);
  const contents = files.map((file) => readFileSync(join(file.parentPath, file.name)));
  for (const token of tokens) {
    const signature = token.split(".")[2] ?? token;
    expect(entries.includes(signature)).toBe(false);
    expect(shown.includes(signature)).toBe(false);
    for (const bytes of contents) expect(bytes.includes(signature)).toBe(false);
  }
  for (const outcome of ["server_signed_in", "server_signed_out", "server_sign_in_ended", "server_token_refreshed"])
    expect(entries).toContain(outcome);
});
