// What uses of contexts that do not fit into one message hold in memory, and for how long: counted for each session, each agent
// and all of them. Whoever comes late finds room, because nobody may hold more than is left for others.
import { agentScope } from "../calls/generations.ts";
import type { Session } from "../session.ts";

/** Of one agent, over all of its sessions: twice the longest use there is, and some room. */
const agentBytesMax: number = 160 * 1_048_576;
/** Of all agents together. */
const bytesMax: number = 384 * 1_048_576;

/** How long others are kept waiting for room. */
export interface Patience {
  /** From the first byte of a use to its last. */
  readonly inputMillisecondsMax: number;
  /** Until an answer is read. */
  readonly answerMillisecondsMax: number;
}

export const LONG_USE_PATIENCE: Patience = { inputMillisecondsMax: 60_000, answerMillisecondsMax: 60_000 };

/** What one use holds. */
export interface LongUse {
  /** So many bytes more; false where there is no room for them, and then they are not counted. */
  take(bytes: number): boolean;
  /** It holds nothing any more. */
  end(): void;
}

export class LongUses {
  readonly #agents = new Held<string>();
  readonly #sessions = new Held<Session>();
  #all = 0;

  /** Everything that is held at this moment. */
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
        // INVARIANT: a session leaves its agent's others as much as it holds, and an agent all other agents.
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

class Held<K> {
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
