// A session: one agent, bound when it was opened, on behalf of one user. It can only become narrower.
import type { CompiledLink } from "../core/authority/compiled.ts";
import { type Principal, principalsOf } from "../core/authority/principal.ts";
import { linkedController } from "../core/base/abort.ts";
import type { UserFacts } from "../core/notation/record/user-record.ts";
import { type Refusal, refusal } from "../core/ports/daemon/exchange.ts";
import type { TerminalControl } from "../core/ports/process.ts";
import type { AccountBalance } from "../core/ports/stores/ledger.ts";
import type { AgentName } from "../core/ports/stores/link-store.ts";
import type { Who } from "../core/ports/stores/log.ts";
import { sameName } from "./calls/agent-names.ts";
import { agentScope } from "./calls/generations.ts";
import type { ClientConnection, ProcessMark } from "./rpc/serving.ts";

export interface SessionFacts {
  readonly id: string;
  readonly name: AgentName;
  /** As the client wrote it: an id or a file. */
  readonly asked: string;
  readonly cwd: string;
  readonly user: string | null;
  readonly trace: string;
  readonly face: string;
  readonly opened: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly connected: ClientConnection;
  /** The process it belongs to, with its descendants. */
  readonly root: ProcessMark;
  /** Its client is an ancestor of the process that opened it: a server that a client started. */
  readonly isForParent?: boolean;
  /** It tries a hook with the canary, which no client calls. */
  readonly isTrial?: boolean;
  /** It brought its own authority, instead of an agent's. */
  readonly hasOwnAuthority?: boolean;
  /** For a session that a client token opened: whether the token is revoked or has expired. */
  isRevoked?(): boolean;
  /** Its id; absent without a token. */
  readonly clientToken?: string;
  /** The agent that made a delegation; null if there is none of this id. */
  granterOf?(link: string): string | null;
}

const runningMax = 64;

export class Session {
  readonly facts: SessionFacts;
  /** Its agent's key for generations and slots. */
  readonly scope: string;
  #who: Who;
  #facts: UserFacts | null = null;
  #principals: readonly Principal[];
  /** The task it runs, and the agents that pay for it besides its own. */
  task: { readonly id: string; readonly generation: number; readonly payers: readonly string[] } | null = null;
  /** Each further pledge is one more limit: narrowing, and never undone. */
  readonly pledges: CompiledLink[] = [];
  /** Its user had a record at some time while it was open. INVARIANT: never reset, so that a removed ceiling is noticed. */
  hadUserRecord = false;
  #above: string | null = null;
  #isClean = true;
  #taintedBy: string | null = null;
  #isClosed = false;
  calls = 0;
  /** What the accounts of the last allowed call have left. */
  left: readonly AccountBalance[] = [];
  #lastDenial = "";
  #equalDenials = 0;
  /** What it runs now; aborted when it closes. */
  readonly running: Set<AbortController> = new Set();
  /** The terminal of the program that runs on one. */
  terminal: TerminalControl | null = null;
  readonly #aborting: (() => void)[] = [];
  readonly #closing: (() => void)[] = [];

  constructor(facts: SessionFacts) {
    const { name, user, id, trace } = facts;
    this.facts = facts;
    this.scope = agentScope(name);
    const { agent, workspace } = name;
    this.#who = {
      user,
      agent,
      agents: [agent],
      workspace,
      chain: [],
      session: id,
      trace,
      ...principalIn(user, null),
    };
    this.#principals = principalsOf(user, []);
  }

  /** What the user's record says now; entries from here on have it. */
  describeUser(facts: UserFacts | null): void {
    if (facts === this.#facts) return;
    this.#facts = facts;
    this.#who = { ...this.#who, ...principalIn(this.facts.user, facts) };
    this.#principals = principalsOf(this.facts.user, facts?.groups ?? []);
  }

  /** On whose behalf it acts, for conditions of grants. */
  get principals(): readonly Principal[] {
    return this.#principals;
  }

  get isClean(): boolean {
    return this.#isClean;
  }

  get taintedBy(): string | null {
    return this.#taintedBy;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Its token does not hold any more: it starts nothing, and is closed soon. */
  get isRevoked(): boolean {
    return this.facts.isRevoked?.() ?? false;
  }

  /** It has read untrusted data. True the first time. */
  taint(why: string): boolean {
    if (!this.#isClean) return false;
    this.#isClean = false;
    this.#taintedBy = why;
    return true;
  }

  /** How many equal denials in a row, including this one. */
  countDenial(what: string): number {
    this.#equalDenials = what === this.#lastDenial ? this.#equalDenials + 1 : 1;
    this.#lastDenial = what;
    return this.#equalDenials;
  }

  /** Cancels what it runs now; it stays open. */
  abortRunning(): void {
    for (const controller of [...this.running]) controller.abort();
    for (const listener of this.#aborting) listener();
  }

  /** Called each time that what it runs is cancelled, for what runs between its calls. */
  onAbort(listener: () => void): void {
    this.#aborting.push(listener);
  }

  /** Ends everything it runs. */
  close(): void {
    this.#isClosed = true;
    this.abortRunning();
    for (const listener of this.#closing.splice(0)) listener();
  }

  /** Counts work that ends with its caller or with the session; null if the session is closed or too much runs. */
  begin(...callers: readonly AbortSignal[]): { readonly signal: AbortSignal; end(): void } | null {
    if (this.#isClosed || this.isRevoked || this.running.size >= runningMax) return null;
    const { controller, release } = linkedController(...callers);
    this.running.add(controller);
    return {
      signal: controller.signal,
      end: () => {
        this.running.delete(controller);
        release();
      },
    };
  }

  /** Why it starts nothing more: what `begin` answers with null. */
  get startRefusal(): StartRefusal {
    return this.#isClosed || this.isRevoked ? CLOSED : BUSY;
  }

  /** Called when the session closes, for resources kept between its calls; immediately if it is closed already. */
  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#closing.push(listener);
  }

  /** It acts for a sub-agent of a client that has this agent: its entries name both. */
  actBelow(agent: string): void {
    if (this.#above === agent) return;
    this.#above = agent;
    this.#who = { ...this.#who, agents: [agent, this.facts.name.agent] };
  }

  /** The same object for every call by the agent's own record, so that derived values can be cached. */
  who(chain: readonly string[] = []): Who {
    if (chain.length === 0) return this.#who;
    const granters = chain.map((link) => this.facts.granterOf?.(link) ?? null).filter((agent) => agent !== null);
    const all = [...(this.#above === null ? [] : [this.#above]), ...granters, this.facts.name.agent];
    return { ...this.#who, chain, agents: all.filter((agent, at) => agent !== all[at - 1]) };
  }
}

interface StartRefusal {
  readonly code: "revoked" | "not_available";
  readonly message: string;
  readonly fix: null;
}

const CLOSED: StartRefusal = { code: "revoked", message: "this session was closed", fix: null };
const BUSY: StartRefusal = {
  code: "not_available",
  message: "this session runs too many programs at once",
  fix: null,
};

/** The member of an entry that describes its user; none without a user. */
export function principalIn(user: string | null, facts: UserFacts | null): Pick<Who, "principal"> {
  if (user === null) return {};
  const { name = null, address = null, groups = [] } = facts ?? {};
  return { principal: { user, name, address, groups } };
}

export const NO_SESSION: Refusal = refusal(
  "unknown_session",
  "no such session on this connection",
  "open a session first",
);

const sessionsMax = 4096;
const sessionsOfConnectionMax = 256;

export class Sessions {
  readonly #all = new Map<string, Session>();
  /** Connections that call through a session which another connection opened. */
  readonly #guests = new Map<ClientConnection, Session>();

  add(session: Session): boolean {
    const { connected, id } = session.facts;
    if (this.#all.size >= sessionsMax || this.of(connected).length >= sessionsOfConnectionMax) return false;
    this.#all.set(id, session);
    return true;
  }

  /** INVARIANT: only the connection that opened it can name it. */
  get(id: string, connected: ClientConnection): Session | null {
    const session = this.#all.get(id);
    if (session === undefined || session.facts.connected !== connected) return null;
    return session.isClosed || session.isRevoked ? null : session;
  }

  /** For calls alone: also through a session that this connection joined, whose lifetime and pledges are not its own. */
  callable(id: string, connected: ClientConnection): Session | null {
    const joined = this.#guests.get(connected);
    return joined?.facts.id === id && !joined.isClosed ? joined : this.get(id, connected);
  }

  /** Until the connection closes. The caller has checked that the connection may call through it. */
  join(session: Session, connected: ClientConnection): void {
    this.#guests.set(connected, session);
    connected.onClose(() => this.#guests.delete(connected));
  }

  of(connected: ClientConnection): readonly Session[] {
    return [...this.#all.values()].filter((one) => one.facts.connected === connected);
  }

  ofAgent(name: AgentName): readonly Session[] {
    return [...this.#all.values()].filter(({ facts }) => sameName(facts.name, name));
  }

  all(): readonly Session[] {
    return [...this.#all.values()];
  }

  remove(session: Session): void {
    session.close();
    this.#all.delete(session.facts.id);
  }
}
