// ambit inside an application: its own tools registered against a policy, sessions of agents, and the connection to the
// daemon, which decides, charges and logs every call.
import { join, resolve } from "node:path";
import { commandContext } from "../agents/disk/command-context.ts";
import { findWorkspace } from "../agents/disk/workspace.ts";
import type { ControlMessages } from "../core/ports/daemon/daemon-control.ts";
import { type Answer, type MessageClient, NO_DAEMON, type Refusal } from "../core/ports/daemon/exchange.ts";
import { APPROVAL_STATES, type Approval } from "../core/ports/stores/approval-store.ts";
import type { ChainedEntry, LogQuery } from "../core/ports/stores/log.ts";
import { daemonClient } from "../daemon/rpc/connect.ts";
import type { UserFolders } from "../platform/folders.ts";
import { passedEnvironment } from "../platform/passed-environment.ts";
import type { Capabilities } from "../runtime/tool/declaration.ts";
import type { Tool } from "../runtime/tool/define.ts";
import type { PlainTool, Registration, ToolListing } from "../runtime/tool/registry.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presentWith } from "../tools/web/present-result.ts";
import { AmbitRefused } from "./answers.ts";
import { DaemonConnection } from "./connection.ts";
import { agentPolicy, registryOf } from "./registry.ts";
import { Session } from "./session.ts";

export interface AmbitOptions {
  /** The project, or a folder in it; agents are found from here. Relative paths start at the project's root. */
  readonly workspace?: string;
  /**
   * The most that the application's own tools may declare, in the form of a declaration. Without it only the agents'
   * grants limit them.
   */
  readonly policy?: Capabilities;
  /** Compact specs that every session of this application is limited to, whatever its agent holds. */
  readonly ceiling?: readonly string[];
  /** The folder for state, in place of `XDG_STATE_HOME`: the state lies in `ambit` below it. */
  readonly state?: string;
}

export interface RegisterOptions {
  /** The id of an agent of the workspace. Its delegations do not count: they may end at any time. */
  readonly agent?: string;
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
  /**
   * Never throws: errors are data. With `agent`, a declaration that exceeds what this agent holds is an error, too. Tools from
   * files or packages are not registered here: they run in their own sandbox.
   */
  register(tool: Tool | PlainTool, options?: RegisterOptions): Registration;
  /** The application's own tools, by name. */
  readonly tools: readonly Omit<ToolListing, "availability">[];
  /** Rejects with `AmbitRefused` if the session cannot be opened: unknown agent, no daemon. */
  session(agent: string, options?: SessionOptions): Promise<Session>;
  /** Entries of the log, the newest first; a hundred unless `count` says otherwise. */
  log(query?: Partial<LogQuery>): Promise<readonly ChainedEntry[]>;
  readonly approvals: ApprovalsView;
  /** Whether the files of the project have an effect. Only a person changes that: `ambit trust`. */
  trust(): ProjectTrust;
  /** The user's configuration and state, as this application uses them. */
  readonly folders: UserFolders;
  /** Closes every session. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Approvals as an application sees them. Approving needs evidence of a person: `ambit approve`. */
export interface ApprovalsView {
  /** Those that wait, or with `all` every stored one; the newest first. */
  list(options?: { readonly all?: boolean }): Promise<readonly Approval[]>;
  refuse(id: string, reason: string): Promise<Approval>;
}

export interface ProjectTrust {
  readonly workspace: string | null;
  /** own: the user's own folder. changed: what was trusted has an effect, what was added since has not. */
  readonly state: "own" | "trusted" | "untrusted" | "changed" | "none";
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
  const { program, now } = machine;
  const environment =
    options.state === undefined
      ? machine.environment
      : { ...machine.environment, XDG_STATE_HOME: resolve(machine.cwd, options.state) };
  const named = resolve(machine.cwd, options.workspace ?? ".");
  // The daemon resolves a project's paths at its root, so they are resolved there here too.
  const cwd = findWorkspace(named) ?? named;
  const { home, folders, agents, reading, reopen } = commandContext({ cwd, now: now(), environment });
  const registry = registryOf(reading(), options.policy ?? null);
  const daemon = daemonClient({ home, folders, program, isPresenceNeeded: () => false });
  const line = new DaemonConnection(daemon.call);
  const present = presentWith(waitingPageProcess(join(program, "dist", "page.cjs")));
  const sessions = new Set<Session>();
  const connected = await line.open();
  const unserved = (agent: string | null, refusal: Refusal): void => {
    if (UNSERVED.has(refusal.code)) daemon.refused({ agent, tool: null, face: "library", cwd }, refusal);
  };
  if (!connected.ok) {
    unserved(null, connected);
    throw new AmbitRefused(connected);
  }
  const ceiling = options.ceiling ?? null;
  const asking = async <T>(ask: (control: MessageClient<ControlMessages>) => Promise<Answer<T>>): Promise<T> => {
    const control = await daemon.control();
    if (!control.ok) throw new AmbitRefused(control);
    try {
      const answer = await ask(control.value);
      if (!answer.ok) throw new AmbitRefused(answer);
      return answer.value;
    } finally {
      control.value.close();
    }
  };
  const close = async (): Promise<void> => {
    await Promise.allSettled([...sessions].map((session) => session.close()));
    await line.close();
  };
  return {
    register: (tool, { agent } = {}) => {
      if (agent === undefined) return registry.register(tool, "application");
      const policy = agentPolicy(reopen(), reading(), agent);
      return typeof policy === "string" ? unknownAgent(agent, policy) : registry.register(tool, "application", policy);
    },
    get tools() {
      return registry.list().map(({ availability: _, ...shown }) => shown);
    },
    session: async (
      agent,
      { user = null, pledge = null, token = null, trace = null, caveats = null }: Nullable<SessionOptions> = {},
    ) => {
      const brought = caveats === null ? {} : { caveats: JSON.stringify(caveats) };
      const asked = {
        cwd,
        agent,
        user,
        trace,
        face: "library",
        pledge: pledge ?? ceiling,
        token,
        isForParent: false,
        ...brought,
      };
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
        protectedPaths: reading().pathSettings.protectedPaths,
        present,
        now,
        ended: (one) => sessions.delete(one),
      });
      sessions.add(session);
      if (ceiling !== null && pledge !== null)
        await session.pledge(ceiling).catch(async (error: unknown) => {
          await session.close();
          throw error;
        });
      return session;
    },
    log: async (query = {}) => (await asking((control) => control.ask("log.query", { count: 100, ...query }))).entries,
    approvals: {
      list: async ({ all = false } = {}) =>
        (
          await asking((control) =>
            control.ask("approvals.list", { states: all ? APPROVAL_STATES : ["pending"], count: 100 }),
          )
        ).approvals,
      refuse: async (id, reason) =>
        (await asking((control) => control.ask("approvals.refuse", { id, reason }))).approval,
    },
    trust: () => {
      const opened = reopen().openProject();
      if (opened === null) return { workspace: null, state: "none" };
      return { workspace: opened.workspace, state: opened.store === null ? "own" : opened.review.state };
    },
    folders,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function unknownAgent(agent: string, message: string): Registration {
  const error = { tool: "", capability: "agent", entry: agent, code: "unknown_agent", message } as const;
  return { ok: false, errors: Object.freeze([{ ...error, counterexample: null }]) };
}

/** No daemon is running, or it cannot serve. Refusals of a running daemon are logged by the daemon. */
const UNSERVED: ReadonlySet<string> = new Set(["not_available", NO_DAEMON, "no_answer", "audit_unavailable"]);

function refusalOf({ code, message, fix }: AmbitRefused): Omit<Refusal, "ok"> {
  return { code, message, fix };
}

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null };
