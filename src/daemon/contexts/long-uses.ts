// Memory and time limits of context uses that do not fit into one message, counted per session, per agent and in total. No
// holder may use more than it leaves for others.
import { agentScope } from "../calls/generations.ts";
import type { Session } from "../session.ts";

/** Per agent, over all of its sessions: twice the longest possible use, and some room. */
const agentBytesMax: number = 160 * 1_048_576;
/** All agents together. */
const bytesMax: number = 384 * 1_048_576;

/** Timeouts of a long use, which bound how long others wait for its memory. */
export interface LongUseTimeouts {
  /** From the first byte of a use to its last. */
  readonly inputMillisecondsMax: number;
  /** Until a response is read. */
  readonly answerMillisecondsMax: number;
}

export const LONG_USE_TIMEOUTS: LongUseTimeouts = { inputMillisecondsMax: 60_000, answerMillisecondsMax: 60_000 };

/** The memory of one use. */
export interface LongUse {
  /** Reserves that many more bytes; false if there is no room, and then nothing is reserved. */
  take(bytes: number): boolean;
  /** Releases everything. */
  end(): void;
}

export class LongUses {
  readonly #agents = new ByteCounts<string>();
  readonly #sessions = new ByteCounts<Session>();
  #all = 0;

  /** Total bytes reserved now. */
  get bytes(): number {
    return this.#all;
  }

  begin(session: Session): LongUse {
    const agent = agentScope(session.facts.name);
    let held = 0;
    const change = (bytes: number): void => {
      this.#agents.change(agent, bytes);
      this.#sessions.change(session, bytes);
      this.#all += bytes;
      held += bytes;
    };
    return {
      take: (bytes) => {
        // INVARIANT: a session leaves as much as it holds to its agent's other sessions, and an agent as much to all other agents.
        const ofAgent = this.#agents.of(agent) + bytes;
        const ofSession = this.#sessions.of(session) + bytes;
        if (ofAgent > agentBytesMax || ofSession > agentBytesMax - ofAgent) return false;
        if (ofAgent > bytesMax - this.#all - bytes) return false;
        change(bytes);
        return true;
      },
      end: () => change(-held),
    };
  }
}

class ByteCounts<K> {
  readonly #bytes = new Map<K, number>();

  of(who: K): number {
    return this.#bytes.get(who) ?? 0;
  }

  change(who: K, bytes: number): void {
    const now = this.of(who) + bytes;
    if (now === 0) this.#bytes.delete(who);
    else this.#bytes.set(who, now);
  }
}
