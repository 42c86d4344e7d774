// The fetches that run in the broker: so many at a time, each with its own secrets, wiped when it is over.

import type { DenialCode } from "../../../core/authority/decision.ts";
import type { Resolver } from "../../../core/ports/resolver.ts";
import { redactorOf } from "../../../log/redaction/redactor.ts";
import { resolverOf } from "../names/resolver.ts";
import { fetchesMax, resolversMax } from "./fetch-limits.ts";
import type { FetchAsked, FetchOwnerMessage } from "./fetch-messages.ts";
import { type FetchWorld, RunningFetch } from "./fetch-running.ts";
import { type GivenSecret, writtenForms } from "./handles.ts";

export class Fetches {
  readonly #world: FetchWorld;
  readonly #running = new Map<number, RunningFetch>();
  readonly #resolvers = new Map<string, Resolver>();

  constructor(world: FetchWorld) {
    this.#world = world;
  }

  take(message: FetchOwnerMessage): void {
    if (message.kind === "fetch") void this.#fetch(message);
    else if (message.kind === "fetch-more") this.#running.get(message.number)?.more();
    else this.#running.get(message.number)?.stop();
  }

  async #fetch(asked: FetchAsked): Promise<void> {
    const { number } = asked;
    const end = (code: DenialCode | null, message: string, seen: readonly string[]): void =>
      this.#world.tell({ kind: "fetch-end", number, code, message, seen });
    if (this.#running.has(number) || this.#running.size >= fetchesMax)
      return end("budget_exhausted", "too many fetches at once", []);
    const secrets = asked.secrets.map(({ name, value, hosts }) => ({
      name,
      value: Buffer.from(value, "base64"),
      hosts,
    }));
    const made = redactorOf(secrets.flatMap(writtenForms));
    const resolve = this.#resolver(asked);
    if (!made.ok || resolve === null) {
      wipe(secrets);
      return made.ok ? end("invalid_input", "there is no such resolver", []) : end("secret_refused", made.message, []);
    }
    const running = new RunningFetch(asked, secrets, made.redactor, resolve, this.#world);
    this.#running.set(number, running);
    try {
      const failure = await running.run();
      // Whatever a message says, it says without secrets.
      const message = running.clean(failure?.message ?? "");
      end(failure?.code ?? null, message.slice(0, 4096), running.seen());
    } catch {
      end("not_available", "the fetch failed", running.seen());
    } finally {
      this.#running.delete(number);
      running.stop();
      made.redactor.forget();
      wipe(secrets);
    }
  }

  #resolver({ resolver }: FetchAsked): Resolver | null {
    const key = JSON.stringify(resolver);
    const known = this.#resolvers.get(key) ?? resolverOf(resolver, this.#world.now);
    if (known === null) return null;
    this.#resolvers.set(key, known);
    for (const oldest of this.#resolvers.keys()) {
      if (this.#resolvers.size <= resolversMax) break;
      this.#resolvers.delete(oldest);
    }
    return known;
  }
}

/** Their texts stay in memory until they are collected; these bytes do not. */
function wipe(secrets: readonly GivenSecret[]): void {
  for (const { value } of secrets) value.fill(0);
}
