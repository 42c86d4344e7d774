// ambit inside an application: its own tools registered against a policy, sessions of agents, and the way to the daemon
// that decides, charges and writes every call.
import { join, resolve } from "node:path";
import { askingAt } from "../agents/disk/command-context.ts";
import { findWorkspace } from "../agents/disk/workspace.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";
import { daemonClient } from "../daemon/rpc/connect.ts";
import { passedEnvironment } from "../platform/passed-environment.ts";
import type { Capabilities } from "../runtime/tool/declaration.ts";
import type { Tool } from "../runtime/tool/define.ts";
import type { Registration, ToolListing } from "../runtime/tool/registry.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presenting } from "../tools/web/present.ts";
import { AmbitRefused } from "./answers.ts";
import { Line } from "./connection.ts";
import { registryOf } from "./registry.ts";
import { Session } from "./session.ts";

export interface AmbitOptions {
  /** The project, or a folder in it; agents are found from here. Relative paths are read at the project's root. */
  readonly workspace?: string;
  /** All that the application's own tools may declare, written as they declare it. Without it the agents' grants alone hold them. */
  readonly policy?: Capabilities;
}

export interface SessionOptions {
  /** On whose behalf; their own record, if they have one, is one more ceiling. */
  readonly user?: string;
  /** The session holds at most this from the beginning, as compact specs. */
  readonly pledge?: readonly string[];
  /** A token another agent handed over. */
  readonly token?: string;
  readonly trace?: string;
}

export interface Ambit {
  /** Errors are data. A tool of a file or a package is not passed here: it is run apart from everything. */
  register(tool: Tool): Registration;
  /** The application's own tools, by name. */
  readonly tools: readonly Omit<ToolListing, "availability">[];
  /** Rejects with `AmbitRefused` where there is none: no such agent, no daemon. */
  session(agent: string, options?: SessionOptions): Promise<Session>;
  /** Closes every session. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the library stands on; `program` is the folder of our own package. */
export interface LibraryMachine {
  readonly program: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  now(): number;
}

/** Starts the daemon where none serves, so that what is wrong with it is known at once. */
export async function openLibrary(machine: LibraryMachine, options: AmbitOptions): Promise<Ambit> {
  const { program, environment, now } = machine;
  const named = resolve(machine.cwd, options.workspace ?? ".");
  // The daemon reads a project's words at its root, so they are read there here, too.
  const cwd = findWorkspace(named) ?? named;
  const { home, folders, agents, reading } = askingAt({ cwd, now: now(), environment });
  const registry = registryOf(reading(), options.policy ?? null);
  const daemon = daemonClient({ home, folders, program, isPresenceNeeded: () => false });
  const line = new Line(daemon.call);
  const present = presenting(waitingPageProcess(join(program, "dist", "page.cjs")));
  const sessions = new Set<Session>();
  const connected = await line.open();
  const unserved = (agent: string | null, refusal: Refusal): void => {
    if (UNSERVED.has(refusal.code)) daemon.refused({ agent, tool: null, face: "library", cwd }, refusal);
  };
  if (!connected.ok) {
    unserved(null, connected);
    throw new AmbitRefused(connected);
  }
  const close = async (): Promise<void> => {
    await Promise.allSettled([...sessions].map((session) => session.close()));
    await line.close();
  };
  return {
    register: (tool) => registry.register(tool, "application"),
    get tools() {
      return registry.list().map(({ availability: _, ...shown }) => shown);
    },
    session: async (
      agent,
      { user = null, pledge = null, token = null, trace = null }: Nullable<SessionOptions> = {},
    ) => {
      const asked = { cwd, agent, user, trace, face: "library", pledge, token, isForParent: false };
      const { calls, opened } = await line
        .session({ ...asked, environment: passedEnvironment(environment, agents.user()?.config ?? null) })
        .catch((error: unknown) => {
          if (error instanceof AmbitRefused) unserved(agent, { ok: false, ...refusalOf(error) });
          throw error;
        });
      const session: Session = new Session({
        calls,
        opened,
        registry,
        protectedPaths: reading().ground.protectedPaths,
        present,
        now,
        ended: (one) => sessions.delete(one),
      });
      sessions.add(session);
      return session;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Nobody serves, or nobody can: what a daemon that serves refuses, it knows of. */
const UNSERVED: ReadonlySet<string> = new Set(["not_available", "no_answer", "audit_unavailable"]);

function refusalOf({ code, message, fix }: AmbitRefused): Omit<Refusal, "ok"> {
  return { code, message, fix };
}

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null };
