// Warm sandboxes that wait for their owner's next command. Each belongs to one key and is never lent to another.
import type { SandboxOwner } from "../plan/sandboxes.ts";
import type { RunningSandbox } from "./running-sandbox.ts";

export interface PoolKey extends SandboxOwner {
  /** Of the plan, and of the opened trees. */
  readonly digest: string;
}

interface Idle {
  readonly key: PoolKey;
  readonly name: string;
  readonly sandbox: RunningSandbox;
  readonly timer: NodeJS.Timeout;
}

export interface PoolBounds {
  readonly idlePerKeyMax: number;
  readonly idleMax: number;
  readonly idleMilliseconds: number;
}

export const POOL_BOUNDS: PoolBounds = { idlePerKeyMax: 4, idleMax: 64, idleMilliseconds: 60_000 };

export class Pool {
  readonly #bounds: PoolBounds;
  /** Longest idle first. */
  readonly #idle = new Set<Idle>();

  constructor(bounds: PoolBounds) {
    this.#bounds = bounds;
  }

  /** An idle sandbox, removed from the pool: the most recently used, whose caches are warm. */
  take(key: PoolKey): RunningSandbox | null {
    const name = nameOf(key);
    const found = [...this.#idle].filter((one) => one.name === name).at(-1);
    if (found === undefined) return null;
    this.#remove(found);
    return found.sandbox;
  }

  count(key: PoolKey): number {
    const name = nameOf(key);
    return [...this.#idle].filter((one) => one.name === name).length;
  }

  /** Returns the sandboxes that no longer fit, to be ended. */
  put(key: PoolKey, sandbox: RunningSandbox): readonly RunningSandbox[] {
    const name = nameOf(key);
    const timer = setTimeout(() => {
      this.#remove(one);
      void sandbox.end();
    }, this.#bounds.idleMilliseconds);
    timer.unref();
    const one: Idle = { key, name, sandbox, timer };
    this.#idle.add(one);
    const same = [...this.#idle].filter((other) => other.name === name);
    const surplus = [
      ...same.slice(0, Math.max(0, same.length - this.#bounds.idlePerKeyMax)),
      ...[...this.#idle].slice(0, Math.max(0, this.#idle.size - this.#bounds.idleMax)),
    ];
    return this.#drop(surplus);
  }

  /** Those of this agent's session with another generation. */
  stale({ agent, session, generation }: SandboxOwner): readonly RunningSandbox[] {
    return this.#drop(
      [...this.#idle].filter(
        ({ key }) => key.agent === agent && key.session === session && key.generation !== generation,
      ),
    );
  }

  /** Those of this agent, or all. */
  drain(agent: string | null): readonly RunningSandbox[] {
    return this.#drop([...this.#idle].filter(({ key }) => agent === null || key.agent === agent));
  }

  #drop(some: readonly Idle[]): readonly RunningSandbox[] {
    for (const one of some) this.#remove(one);
    return [...new Set(some.map(({ sandbox }) => sandbox))];
  }

  #remove(one: Idle): void {
    clearTimeout(one.timer);
    this.#idle.delete(one);
  }
}

function nameOf({ agent, session, generation, digest }: PoolKey): string {
  return JSON.stringify([agent, session, generation, digest]);
}
