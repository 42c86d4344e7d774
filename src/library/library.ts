// ambit inside an application: its own tools registered against a policy, sessions of agents, and the connection to the
// daemon, which decides, charges and logs every call.
import { join, resolve } from "node:path";
import { commandContext } from "../agents/disk/command-context.ts";
import { findWorkspace } from "../agents/disk/workspace.ts";
import { NO_DAEMON, type Refusal } from "../core/ports/daemon/exchange.ts";
import { daemonClient } from "../daemon/rpc/connect.ts";
import { passedEnvironment } from "../platform/passed-environment.ts";
import type { Capabilities } from "../runtime/tool/declaration.ts";
import type { Tool } from "../runtime/tool/define.ts";
import type { Registration, ToolListing } from "../runtime/tool/registry.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presenting } from "../tools/web/present-result.ts";
import { AmbitRefused } from "./answers.ts";
import { DaemonConnection } from "./connection.ts";
import { registryOf } from "./registry.ts";
import { Session } from "./session.ts";

export interface AmbitOptions {
  /** The project, or a folder in it; agents are found from here. Relative paths start at the project's root. */
  readonly workspace?: string;
  /**
   * The most that the application's own tools may declare, in the form of a declaration. Without it only the agents'
   * grants limit them.
   */
  readonly policy?: Capabilities;
}

export interface SessionOptions {
  /** The user the session acts for; if the user has a record, it is one more ceiling. */
  readonly user?: string;
  /** The session is limited to these compact specs from the start. */
  readonly pledge?: readonly string[];
  /** A token that another agent delegated. */
  readonly token?: string;
  readonly trace?: string;
  /** The session holds these Caveats and no record; the agent is then called `anonymous`. */
  readonly caveats?: Caveats;
}

/** What a session may do at most, on six axes. Text that is read at run time is checked again. */
export interface Caveats {
  readonly fs_read: "all" | { readonly only: readonly string[] };
  readonly fs_write: "all" | { readonly only: readonly string[] };
  readonly exec: "all" | { readonly only: readonly string[] };
  readonly net: "all" | { readonly only: readonly string[] };
  readonly max_calls: "unlimited" | { readonly at_most: number };
  readonly valid_for_generation: "all" | { readonly only: readonly number[] };
}

export interface Ambit {
  /** Errors are data. Tools from files or packages are not registered here: they run in their own sandbox. */
  register(tool: Tool): Registration;
  /** The application's own tools, by name. */
  readonly tools: readonly Omit<ToolListing, "availability">[];
  /** Rejects with `AmbitRefused` if the session cannot be opened: unknown agent, no daemon. */
  session(agent: string, options?: SessionOptions): Promise<Session>;
  /** Closes every session. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the library needs from the machine; `program` is the folder of our own package. */
export interface LibraryMachine {
  readonly program: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  now(): number;
}

/** Starts the daemon if none is running, so that a problem with it is reported at once. */
export async function openLibrary(machine: LibraryMachine, options: AmbitOptions): Promise<Ambit> {
  const { program, environment, now } = machine;
  const named = resolve(machine.cwd, options.workspace ?? ".");
  // The daemon resolves a project's paths at its root, so they are resolved there here too.
  const cwd = findWorkspace(named) ?? named;
  const { home, folders, agents, reading } = commandContext({ cwd, now: now(), environment });
  const registry = registryOf(reading(), options.policy ?? null);
  const daemon = daemonClient({ home, folders, program, isPresenceNeeded: () => false });
  const line = new DaemonConnection(daemon.call);
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
      { user = null, pledge = null, token = null, trace = null, caveats = null }: Nullable<SessionOptions> = {},
    ) => {
      const brought = caveats === null ? {} : { caveats: JSON.stringify(caveats) };
      const asked = { cwd, agent, user, trace, face: "library", pledge, token, isForParent: false, ...brought };
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

/** No daemon is running, or it cannot serve. Refusals of a running daemon are logged by the daemon. */
const UNSERVED: ReadonlySet<string> = new Set(["not_available", NO_DAEMON, "no_answer", "audit_unavailable"]);

function refusalOf({ code, message, fix }: AmbitRefused): Omit<Refusal, "ok"> {
  return { code, message, fix };
}

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null };
