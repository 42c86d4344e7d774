// Sessions of clients that ask through hooks. Each question comes from a process of its own, so a session stays open from one to
// the next, until the client's process has ended. INVARIANT: no question ends it: a process of the agent could ask that, too.
// A command that a hook put in the place of the client's own is called through the same session.
import { textIn } from "../../core/base/fields.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Admission } from "../control/admission.ts";
import type { Opening } from "../opening.ts";
import type { Exchange, Peer, ProcessMark } from "../rpc/serving.ts";
import type { Session, Sessions } from "../session.ts";
import type { HookOptions } from "./hook-options.ts";

const sessionsMax = 256;

/** Programs that clients start hooks by. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "dash", "bash", "zsh", "fish"]);

/** INVARIANT: a question about anything but the canary never has the session of a trial. */
export interface HookConversation {
  /** The client's own. */
  readonly id: string;
  readonly isTrial: boolean;
}

interface HookSession {
  readonly client: ProcessMark;
  readonly opening: Promise<Answer<Session>>;
}

export class HookSessions {
  readonly #opening: Opening;
  readonly #sessions: Sessions;
  readonly #admission: Admission;
  readonly #isAlive: (mark: ProcessMark) => boolean;
  /** The oldest first. */
  readonly #open = new Map<string, HookSession>();

  constructor(opening: Opening, sessions: Sessions, admission: Admission, isAlive: (mark: ProcessMark) => boolean) {
    this.#opening = opening;
    this.#sessions = sessions;
    this.#admission = admission;
    this.#isAlive = isAlive;
  }

  /** `cwd`: the folder of the hook's process. */
  async of(
    exchange: Exchange,
    options: HookOptions,
    conversation: HookConversation,
    cwd: string,
  ): Promise<Answer<Session>> {
    const key = keyOf(exchange, options, conversation);
    for (let pending = this.#open.get(key); pending !== undefined; pending = this.#open.get(key)) {
      const known = await pending.opening;
      if (known.ok && !known.value.isClosed) return known;
      // Another question may have opened the next one meanwhile.
      if (this.#open.get(key) === pending) this.#open.delete(key);
    }
    const opening = this.#begin(exchange, options, conversation, cwd).catch(() => NOT_OPENED);
    const begun = { client: clientOf(exchange, options), opening };
    this.#open.set(key, begun);
    const opened = await opening;
    if (!opened.ok && this.#open.get(key) === begun) this.#open.delete(key);
    const [oldest] = this.#open.keys();
    if (this.#open.size > sessionsMax && oldest !== undefined) await this.#end(oldest);
    return opened;
  }

  async end(exchange: Exchange, options: HookOptions, conversation: HookConversation): Promise<void> {
    await this.#end(keyOf(exchange, options, conversation));
  }

  /**
   * INVARIANT: the id of a session is no authority. It selects one of the sessions of the client that this process descends from,
   * as the kernel reports it, and only for the agent that the session is bound to.
   */
  async join({ value, connected }: Exchange): Promise<Answer<object>> {
    const [id, agent] = [textIn(value, "session"), textIn(value, "agent", agentCharactersMax)];
    for (const { opening, client } of [...this.#open.values()]) {
      const opened = await opening;
      if (!opened.ok || opened.value.facts.id !== id || opened.value.isClosed) continue;
      const { asked, isTrial = false } = opened.value.facts;
      if (isTrial || asked !== agent || !isBelow(connected.peer, client)) return NOT_JOINED;
      this.#sessions.join(opened.value, connected);
      return { ok: true, value: {} };
    }
    return NOT_JOINED;
  }

  /** INVARIANT: another session of the same client is not cleaner than its hook's: the client carries text from one to the other. */
  taintBelow(session: Session): void {
    const clients = [...this.#open.values()].map(({ client }) => client);
    if (clients.some((client) => isBelow(session.facts.connected.peer, client))) session.taint(UNSEEN);
  }

  /**
   * The session of our own MCP server that runs below this very client, for this agent; null where there is none. INVARIANT: a name
   * is no authority: another server can have it.
   */
  ownServer(exchange: Exchange, options: HookOptions): Session | null {
    const { agent, user, hasServer } = options;
    if (!hasServer) return null;
    const client = clientOf(exchange, options);
    const found = this.#sessions.all().find(({ facts, isClosed }) => {
      const isSame = facts.asked === agent && facts.user === user;
      return !isClosed && facts.face === "mcp" && isSame && isBelow(facts.connected.peer, client);
    });
    return found ?? null;
  }

  /** Closes the sessions of clients that are gone. */
  async sweep(): Promise<void> {
    for (const [key, { opening, client }] of [...this.#open]) {
      const opened = await opening;
      if (!opened.ok || opened.value.isClosed || !this.#isAlive(client)) await this.#end(key);
    }
  }

  async #end(key: string): Promise<void> {
    const opened = await this.#open.get(key)?.opening;
    this.#open.delete(key);
    if (opened?.ok === true) this.#opening.close(opened.value);
  }

  async #begin(
    { connected }: Exchange,
    options: HookOptions,
    { isTrial }: HookConversation,
    cwd: string,
  ): Promise<Answer<Session>> {
    const { agent, user, folder } = options;
    const value = {
      ...{ cwd: folder ?? cwd, agent, user, trace: null, face: "hook", pledge: null, token: null },
      ...{ environment: {}, isForParent: true, isTrial, level: clientLevel(connected.peer, options) },
    };
    const opened = await this.#opening.open({ value, connected }, "client");
    if (!opened.ok) return opened;
    const session = this.#sessions.of(connected).find(({ facts }) => facts.id === opened.value.session);
    if (session === undefined) return refusal("unknown_session", "the session is closed");
    this.#admission.remember(session.facts);
    // INVARIANT: a hook does not see what the client reads, so no grant with `clean` covers its calls.
    session.taint(UNSEEN);
    for (const other of this.#sessions.all())
      if (isBelow(other.facts.connected.peer, clientOf({ connected }, options))) other.taint(UNSEEN);
    return { ok: true, value: session };
  }
}

const NOT_OPENED = refusal("not_available", "the session could not be opened");
const NOT_JOINED = refusal(
  "unknown_session",
  "no open session of a client's hook has this id, this agent, and a client that started this process",
  "repeat the call in the client: its hook opens a session",
);

const UNSEEN = "its start: a hook does not see what the client reads";

const agentCharactersMax = 4096;
const levelsMax = 16;

/** A conversation that goes on in another process of the client has another session: the first ends with its process. */
function keyOf(exchange: Exchange, options: HookOptions, { id, isTrial }: HookConversation): string {
  const { dialect, agent, user, folder } = options;
  const { pid, start } = clientOf(exchange, options);
  return JSON.stringify([dialect.client, agent, user, folder, id, isTrial, pid, start]);
}

/** The process whose descendants the session is for. In a container it can be the first of all, which is no session's root. */
function clientOf({ connected: { peer } }: Pick<Exchange, "connected">, options: HookOptions): ProcessMark {
  return peer.ancestors[clientLevel(peer, options)] ?? { pid: peer.pid, start: peer.start };
}

/** How many levels above the hook's process its client is: the first that is no shell, or the first of its processes. */
function clientLevel({ ancestors }: Peer, { dialect }: HookOptions): number {
  const first = ancestors.findIndex(({ name = "" }, level) => level > 0 && !SHELLS.has(name));
  let level = Math.max(first, 1);
  const name = ancestors[level]?.name;
  while (dialect.isManyProcesses === true && name !== undefined && ancestors[level + 1]?.name === name) level++;
  return Math.min(level, levelsMax);
}

function isBelow({ ancestors }: Peer, root: ProcessMark): boolean {
  return ancestors.some(({ pid, start }) => pid === root.pid && start === root.start);
}
