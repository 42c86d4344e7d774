// How an MCP server is run or reached: its authority is what `requires` says, inside the user's ceiling, and nothing of the agent that
// calls it. The plan of its sandbox is made from these grants.
import { destinationText } from "../../core/authority/axes/destination.ts";
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { pathText, tree } from "../../core/authority/axes/path.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Url } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import { compile, type Moment } from "../../core/authority/compiled.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS, type Link } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { grantOf, sequences } from "../../core/notation/grants.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { type ServerProgram, serverTool } from "../../core/notation/servers/server-endpoint.ts";
import type { WrittenServer } from "../../core/notation/servers/server-file.ts";
import { packageText } from "../../core/notation/servers/server-package.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { FetchSecret } from "../../core/ports/instruments.ts";
import type { RunDenial, RunResult } from "../../core/ports/process.ts";
import { requestOf } from "../../runtime/context/tool-request.ts";
import { connectRequest } from "../../sandbox/network/network-grants.ts";
import { packageArgv } from "../packages/package-argv.ts";
import type { PackageStore } from "../packages/package-store.ts";
import type { ProgramContext, Programs } from "../parts.ts";
import type { Session, SessionFacts } from "../session.ts";
import type { ServerOffers } from "./call-events.ts";
import type { CatalogServer } from "./server-catalog.ts";
import type { ServerConnection } from "./server-connection.ts";
import { ServerHttp, type ServerHttpOptions, type ServerSignIn } from "./server-http.ts";
import { ServerProcess, type StartServer } from "./server-process.ts";

/** For whom a server runs: a session, or a person who looks at it. */
export interface ServerOwner extends Pick<Session, "isClosed" | "onClose"> {
  readonly facts: Pick<SessionFacts, "id" | "name" | "cwd">;
  readonly onAbort?: Session["onAbort"];
}

export interface ServerRunOptions extends Pick<ServerHttpOptions, "fetch" | "listen" | "resolver"> {
  readonly programs: Pick<Programs, "run">;
  readonly packages: Pick<PackageStore, "folderOf" | "has">;
  /** The value of a stored secret that is bound to the server, counted as used; null where it cannot be used. */
  secret(name: string, use: ServerSecretUse): Promise<Uint8Array | null>;
  /** What no agent and no server exceeds; null for no limit. */
  ceiling(): readonly Grant[] | null;
  needsReview(owner: ServerOwner): boolean;
  /** The sign-in of a person at a server. */
  signInAt(one: CatalogServer): ServerSignIn;
  isFrozen(): boolean;
  now(): number;
}

/** `denied`: reports a connection that was refused to a server. */
export interface ServerStartOptions extends ServerRunOptions {
  readonly signIn: ServerSignIn;
  denied(denial: RunDenial): void;
}

export interface ServerSecretUse {
  readonly tool: string;
  /** Where it is sent; null: the program of the server gets it. */
  readonly url: Url | null;
}

export function openServer(
  server: WrittenServer,
  session: ServerOwner,
  pathSettings: PathSettings,
  options: ServerStartOptions,
): ServerConnection {
  const { endpoint } = server;
  if (endpoint.kind === "program")
    return new ServerProcess(startServer(server, endpoint, session, pathSettings, options), revealedBy(endpoint));
  const tool = serverTool(server.name);
  return new ServerHttp({
    endpoint,
    fetch: (wish) => options.fetch(wish),
    listen: (wish) => options.listen(wish),
    resolver: () => options.resolver(),
    judge: serverJudge(server, options, (denial) => options.denied(denial)),
    signIn: options.signIn,
    secrets: async (names) => {
      if (options.isFrozen()) return "all agents are frozen: ambit thaw";
      const opened: FetchSecret[] = [];
      for (const name of names) {
        const value = await options.secret(name, { tool, url: endpoint.url });
        if (value === null) {
          for (const one of opened) one.value.fill(0);
          return missingSecret(name, tool, hostText(endpoint.url));
        }
        opened.push({ name, value, hosts: [hostText(endpoint.url)], isSignOnly: false });
      }
      return opened;
    },
  });
}

/** Decides connections by what the server requires and by the user's ceiling, as they are at that moment. */
export function serverJudge(
  server: WrittenServer,
  options: Pick<ServerRunOptions, "ceiling" | "isFrozen" | "now">,
  denied: (denial: RunDenial) => void,
): (request: Request) => Decision {
  return (request) => {
    if (options.isFrozen()) return FROZEN;
    const [to, port] = request.values;
    if (!isDestination(to) || typeof port !== "number") return REFUSED;
    const authority = serverAuthority(server, options.ceiling(), []);
    const connection = connectRequest(to, port, "sni");
    const decision = judge(authority, connection, momentOf(options));
    if (decision.outcome === "deny") denied({ code: decision.code, request: requestText(connection), times: 1 });
    return decision;
  };
}

/** The program sees these values: nothing but its walls limits what it does with them. */
function revealedBy({ environment }: ServerProgram): readonly Enforcement[] {
  const note = "the server's program has the value";
  return environment.some(({ secret }) => secret !== null) ? [{ axis: "name", strength: "checked", note }] : [];
}

function missingSecret(name: string, tool: string, host: string | null): string {
  const fix = `ambit secrets set ${name} --tool ${tool}${host === null ? "" : ` --host ${host}`}`;
  return `the secret ${name} is not stored, not bound to this server, used up, or locked: ${fix}`;
}

/** With its port where that is not the usual one. */
export function hostText({ host, port, scheme }: Url): string {
  const text = destinationText(host);
  const name = text.includes(":") && !text.startsWith("[") ? `[${text}]` : text;
  return port === (scheme === "https" ? 443 : 80) ? name : `${name}:${port}`;
}

const FROZEN: Decision = { outcome: "deny", code: "frozen", at: null };
const REFUSED: Decision = { outcome: "deny", code: "address_refused", at: null };

function momentOf({ now }: Pick<ServerRunOptions, "now">): Moment {
  return { now: now(), clean: false, generation: 0, revoked: null, exhausted: null };
}

/** Everything that a sandbox can be asked for on behalf of a server. */
interface ServerPlan {
  readonly authority: Authority;
  readonly request: Request;
}

function startServer(
  server: WrittenServer,
  endpoint: ServerProgram,
  session: ServerOwner,
  pathSettings: PathSettings,
  options: ServerStartOptions,
): StartServer {
  return async ({ input, sinks, signal }): Promise<RunResult> => {
    const plan = serverRunRequest(server, endpoint, pathSettings, options.ceiling());
    if (typeof plan === "string") return refused(plan);
    const { authority, request } = plan;
    const moment = (): Moment => momentOf(options);
    const decision = judge(authority, request, moment());
    if (decision.outcome === "deny") return refused("your ceiling does not cover what the server requires");
    const context: ProgramContext = {
      authority,
      owner: `server ${server.name} of ${session.facts.id}`,
      holds: () => (session.isClosed ? [] : authority),
      needsReview: () => options.needsReview(session),
      agent: session.facts.name,
      call: `server ${server.name}`,
      session: session.facts.id,
      generation: 0,
      cwd: session.facts.cwd,
      folderNames: [session.facts.cwd],
      environment: {},
      moment,
      useSecret: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
      useModel: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
      modelUsed: () => undefined,
      door: null,
      refused: () => "",
    };
    const { command, runtime } = endpoint;
    const pinned = endpoint.package;
    const stored = pinned === null ? null : await options.packages.folderOf(pinned, server.name);
    if (pinned !== null && stored?.ok === false) {
      const request = `package ${packageText(pinned)}`;
      options.denied({ code: stored.code, request, times: 1 });
      return { ok: false, refused: { ...stored, message: `${stored.code}: ${stored.message}` } };
    }
    const environment = await variablesOf(server.name, endpoint, options);
    if (typeof environment === "string") return refused(environment);
    const argv = pinned !== null && stored?.ok === true ? packageArgv(pinned.kind, stored.folder, command) : command;
    const result = await options.programs.run(context, {
      ...{ argv, request, by: decision.by, input, sinks, signal },
      milliseconds: null,
      server: { environment, runtime, ...(stored?.ok === true ? { package: stored.folder } : {}) },
    });
    if (result.ok) for (const denial of result.ran.denials) options.denied(denial);
    return result;
  };
}

/** With the values of revealed secrets, or why one of them cannot be used. */
async function variablesOf(
  server: string,
  { environment }: ServerProgram,
  options: ServerRunOptions,
): Promise<readonly (readonly [string, string])[] | string> {
  const variables: (readonly [string, string])[] = [];
  const tool = serverTool(server);
  for (const { name, text, secret } of environment) {
    if (secret === null) {
      variables.push([name, text]);
      continue;
    }
    const value = await options.secret(secret, { tool, url: null });
    if (value === null) return missingSecret(secret, tool, null);
    const written = Buffer.from(value).toString("utf8");
    value.fill(0);
    if (written.includes("\0")) return `the secret ${secret} does not fit in a variable`;
    variables.push([name, written]);
  }
  return variables;
}

/** What is declared to the server. INVARIANT: its roots are those of `requires`; nothing of the client's is passed on. */
export function serverOffers({ requires, asks, endpoint }: WrittenServer): ServerOffers {
  const folders = requires.flatMap(({ verb, root }) => (verb.verb.startsWith("fs.") ? [pathText(root ?? [])] : []));
  const roots = [...new Set(folders)]
    .sort()
    .map((path) => `file://${path.split("/").map(encodeURIComponent).join("/")}`);
  return { roots: endpoint.kind === "program" && roots.length > 0 ? roots : null, asks };
}

/** The folder that the server starts in and sees a part of: the deepest that has all of its files; null for none. */
export function serverRoot({ requires }: Pick<WrittenServer, "requires">): readonly string[] | null {
  const roots = requires.filter(({ verb }) => verb.verb.startsWith("fs.")).map(({ root }) => root ?? []);
  const [first, ...others] = roots;
  if (first === undefined) return null;
  return others.reduce((common, root) => common.slice(0, sharedLength(common, root)), first);
}

function sharedLength(left: readonly string[], right: readonly string[]): number {
  const differs = left.findIndex((name, at) => name !== right[at]);
  return differs < 0 ? left.length : differs;
}

/** `added`: what both the server and the ceiling have. The person named the program; the ceiling limits what it reaches. */
function serverAuthority(server: WrittenServer, ceiling: readonly Grant[] | null, added: readonly Grant[]): Authority {
  const link = (role: Link["role"], id: string, grants: readonly Grant[]): Link => ({
    ...{ id, role, issuer: "user", holder: `server ${server.name}`, grants: [...grants, ...added] },
    validity: ALWAYS,
    calls: null,
  });
  return [
    [
      compile(link("own", `server ${server.name}`, server.requires)),
      ...(ceiling === null ? [] : [compile(link("limit", "ceiling of servers", ceiling))]),
    ],
  ];
}

/** Or why it cannot be planned. */
function serverRunRequest(
  server: WrittenServer,
  { command }: ServerProgram,
  pathSettings: PathSettings,
  ceiling: readonly Grant[] | null,
): ServerPlan | string {
  const root = serverRoot(server);
  const run =
    root === null
      ? grantOf("sandbox.exec", {}, WRITTEN)
      : grantOf("proc.exec", { root: sequences([tree(root)]) }, WRITTEN);
  const authority = serverAuthority(server, ceiling, [run]);
  const throwAway = verbEntry("sandbox.exec");
  if (root === null) return throwAway === null ? "" : { authority, request: { verb: throwAway, values: [] } };
  const isWriting = server.requires.some(({ verb }) => verb.verb !== "fs.read" && verb.verb.startsWith("fs."));
  const request = requestOf(
    { verb: "proc.exec", argv: command, in: pathText(root), root: isWriting ? "live" : "ro" },
    { pathSettings, toAscii: (name) => name, tool: server.name },
  );
  return request.ok ? { authority, request: request.value } : request.message;
}

const WRITTEN = { span: null, implied: "server" } as const;

function refused(message: string): RunResult {
  return { ok: false, refused: { code: "sandbox_unavailable", message, fix: null } };
}
