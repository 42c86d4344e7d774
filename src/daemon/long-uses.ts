// What uses of contexts that do not fit into one message hold in memory: counted for each agent, and for all of them.
import { agentScope } from "./generations.ts";
import type { Session } from "./session.ts";

/** Of one agent, over all of its sessions: the longest use there is, and some room. */
const agentBytesMax: number = 128 * 1_048_576;
/** Of all agents together. */
const bytesMax: number = 384 * 1_048_576;

/** What one use holds. */
export interface LongUse {
  /** So many bytes more; false where there is no room for them, and then they are not counted. */
  take(bytes: number): boolean;
  /** It holds nothing any more. */
  end(): void;
}

export class LongUses {
  readonly #agents = new Map<string, number>();
  #all = 0;

  /** Everything that is held at this moment. */
  get bytes(): number {
    return this.#all;
  }

  begin(session: Session): LongUse {
    const agent = agentScope(session.facts.name);
    let held = 0;
    const change = (bytes: number): void => {
      const now = (this.#agents.get(agent) ?? 0) + bytes;
      if (now === 0) this.#agents.delete(agent);
      else this.#agents.set(agent, now);
      this.#all += bytes;
      held += bytes;
    };
    return {
      take: (bytes) => {
        if (this.#all + bytes > bytesMax || (this.#agents.get(agent) ?? 0) + bytes > agentBytesMax) return false;
        change(bytes);
        return true;
      },
      end: () => change(-held),
    };
  }
}
