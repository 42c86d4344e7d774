// How an MCP server is run: its authority is what `requires` says, inside the user's ceiling, and nothing of the agent that
// calls it. The plan of its sandbox is made from these grants.
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { pathText, tree } from "../../core/authority/axes/path.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import { compile, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS, type Link } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { grantOf, sequences } from "../../core/notation/grants.ts";
import type { WrittenServer } from "../../core/notation/servers/server-file.ts";
import type { RunResult } from "../../core/ports/process.ts";
import { requestOf } from "../../runtime/context/tool-request.ts";
import type { ProgramContext, Programs } from "../parts.ts";
import type { Session, SessionFacts } from "../session.ts";
import type { StartServer } from "./server-process.ts";

/** For whom a server runs: a session, or a person who looks at it. */
export interface ServerOwner extends Pick<Session, "isClosed" | "onClose"> {
  readonly facts: Pick<SessionFacts, "id" | "name" | "cwd">;
}

export interface ServerRunOptions {
  readonly programs: Pick<Programs, "run">;
  /** What no agent and no server exceeds; null for no limit. */
  ceiling(): readonly Grant[] | null;
  needsReview(owner: ServerOwner): boolean;
  now(): number;
}

/** Everything that a sandbox can be asked for on behalf of a server. */
interface ServerPlan {
  readonly authority: Authority;
  readonly request: Request;
}

export function startServer(
  server: WrittenServer,
  session: ServerOwner,
  pathSettings: PathSettings,
  options: ServerRunOptions,
): StartServer {
  return async ({ input, sinks, signal }): Promise<RunResult> => {
    const plan = serverPlan(server, pathSettings, options.ceiling());
    if (typeof plan === "string") return refused(plan);
    const { authority, request } = plan;
    const moment = (): Moment => ({ now: options.now(), clean: false, generation: 0, revoked: null, exhausted: null });
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
      useSecret: async () => false,
      useModel: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
      modelUsed: () => undefined,
      door: null,
      refused: () => "",
    };
    const { command, environment, runtime } = server;
    return options.programs.run(context, {
      ...{ argv: command, request, by: decision.by, input, sinks, signal },
      milliseconds: null,
      server: { environment, runtime },
    });
  };
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

/** Or why it cannot be planned. */
function serverPlan(
  server: WrittenServer,
  pathSettings: PathSettings,
  ceiling: readonly Grant[] | null,
): ServerPlan | string {
  const root = serverRoot(server);
  const run =
    root === null
      ? grantOf("sandbox.exec", {}, WRITTEN)
      : grantOf("proc.exec", { root: sequences([tree(root)]) }, WRITTEN);
  const link = (role: Link["role"], id: string, grants: readonly Grant[]): Link => ({
    ...{ id, role, issuer: "user", holder: `server ${server.name}`, grants: [...grants, run] },
    validity: ALWAYS,
    calls: null,
  });
  const authority: Authority = [
    [
      compile(link("own", `server ${server.name}`, server.requires)),
      // The person named the program; the ceiling limits what it reaches.
      ...(ceiling === null ? [] : [compile(link("limit", "ceiling of servers", ceiling))]),
    ],
  ];
  const throwAway = verbEntry("sandbox.exec");
  if (root === null) return throwAway === null ? "" : { authority, request: { verb: throwAway, values: [] } };
  const isWriting = server.requires.some(({ verb }) => verb.verb !== "fs.read" && verb.verb.startsWith("fs."));
  const request = requestOf(
    { verb: "proc.exec", argv: server.command, in: pathText(root), root: isWriting ? "live" : "ro" },
    { pathSettings, toAscii: (name) => name, tool: server.name },
  );
  return request.ok ? { authority, request: request.value } : request.message;
}

const WRITTEN = { span: null, implied: "server" } as const;

function refused(message: string): RunResult {
  return { ok: false, refused: { code: "sandbox_unavailable", message, fix: null } };
}
