// Sessions of clients that ask through hooks. Each question comes from a process of its own, so a session stays open from one to
// the next, until the client's process has ended. INVARIANT: no question ends it: a process of the agent could ask that, too.
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Admission } from "../control/admission.ts";
import type { Opening } from "../opening.ts";
import type { Exchange, Peer, ProcessMark } from "../rpc/serving.ts";
import type { Session, Sessions } from "../session.ts";
import type { HookOptions } from "./hook-options.ts";

const sessionsMax = 256;

/** Programs that clients start hooks by. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "dash", "bash", "zsh", "fish"]);

export class HookSessions {
  readonly #opening: Opening;
  readonly #sessions: Sessions;
  readonly #admission: Admission;
  readonly #isAlive: (mark: ProcessMark) => boolean;
  /** The oldest first. */
  readonly #open = new Map<string, Promise<Answer<Session>>>();

  constructor(opening: Opening, sessions: Sessions, admission: Admission, isAlive: (mark: ProcessMark) => boolean) {
    this.#opening = opening;
    this.#sessions = sessions;
    this.#admission = admission;
    this.#isAlive = isAlive;
  }

  /** `cwd`: the folder of the hook's process. */
  async of(exchange: Exchange, options: HookOptions, conversation: string, cwd: string): Promise<Answer<Session>> {
    const key = keyOf(options, conversation);
    for (let pending = this.#open.get(key); pending !== undefined; pending = this.#open.get(key)) {
      const known = await pending;
      if (known.ok && !known.value.isClosed) return known;
      // Another question may have opened the next one meanwhile.
      if (this.#open.get(key) === pending) this.#open.delete(key);
    }
    const opening = this.#begin(exchange, options, cwd).catch(() => NOT_OPENED);
    this.#open.set(key, opening);
    const opened = await opening;
    if (!opened.ok && this.#open.get(key) === opening) this.#open.delete(key);
    const [oldest] = this.#open.keys();
    if (this.#open.size > sessionsMax && oldest !== undefined) await this.#end(oldest);
    return opened;
  }

  async end(options: HookOptions, conversation: string): Promise<void> {
    await this.#end(keyOf(options, conversation));
  }

  /** Closes the sessions of clients that are gone. */
  async sweep(): Promise<void> {
    for (const [key, opening] of [...this.#open]) {
      const opened = await opening;
      if (!opened.ok || opened.value.isClosed || !this.#isAlive(opened.value.facts.root)) await this.#end(key);
    }
  }

  async #end(key: string): Promise<void> {
    const opened = await this.#open.get(key);
    this.#open.delete(key);
    if (opened?.ok === true) this.#opening.close(opened.value);
  }

  async #begin(exchange: Exchange, { agent, user, folder }: HookOptions, cwd: string): Promise<Answer<Session>> {
    const { connected } = exchange;
    const value = {
      ...{ cwd: folder ?? cwd, agent, user, trace: null, face: "hook", pledge: null, token: null },
      ...{ environment: {}, isForParent: true, level: clientLevel(connected.peer) },
    };
    const opened = await this.#opening.open({ value, connected }, "client");
    if (!opened.ok) return opened;
    const session = this.#sessions.of(connected).find(({ facts }) => facts.id === opened.value.session);
    if (session === undefined) return refusal("unknown_session", "the session is closed");
    this.#admission.remember(session.facts);
    // INVARIANT: a hook does not see what the client reads, so no grant with `clean` covers its calls.
    session.taint("its start: a hook does not see what the client reads");
    return { ok: true, value: session };
  }
}

const NOT_OPENED = refusal("not_available", "the session could not be opened");

function keyOf({ dialect, agent, user, folder }: HookOptions, conversation: string): string {
  return JSON.stringify([dialect.client, agent, user, folder, conversation]);
}

/** How many levels above the hook's process its client is: the first that is no shell. */
function clientLevel({ ancestors }: Peer): number {
  const at = ancestors.findIndex(({ name = "" }, level) => level > 0 && !SHELLS.has(name));
  return Math.max(at, 1);
}
