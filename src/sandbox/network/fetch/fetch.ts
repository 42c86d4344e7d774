// The fetches that run in the broker: limited in number, each with its own secrets, which are wiped at its end.

import type { DenialCode } from "../../../core/authority/decision.ts";
import type { Resolver } from "../../../core/ports/resolver.ts";
import { redactorOf } from "../../../log/redaction/redactor.ts";
import { resolverOf } from "../names/resolver.ts";
import { fetchesMax, resolversMax } from "./fetch-limits.ts";
import type { FetchMessage, FetchMessageToBroker } from "./fetch-messages.ts";
import { type FetchContext, RunningFetch } from "./fetch-running.ts";
import { type SecretValue, writtenForms } from "./handles.ts";

export class Fetches {
  readonly #context: FetchContext;
  readonly #running = new Map<number, RunningFetch>();
  readonly #resolvers = new Map<string, Resolver>();

  constructor(context: FetchContext) {
    this.#context = context;
  }

  take(message: FetchMessageToBroker): void {
    if (message.kind === "fetch") void this.#fetch(message);
    else if (message.kind === "fetch-more") this.#running.get(message.number)?.more();
    else this.#running.get(message.number)?.stop();
  }

  async #fetch(asked: FetchMessage): Promise<void> {
    const { number } = asked;
    const end = (code: DenialCode | null, message: string, seen: readonly string[]): void =>
      this.#context.tell({ kind: "fetch-end", number, code, message, seen });
    if (this.#running.has(number) || this.#running.size >= fetchesMax)
      return end("budget_exhausted", "too many fetches at once", []);
    const secrets = asked.secrets.map(({ value, ...secret }) => ({
      ...secret,
      value: Buffer.from(value, "base64"),
    }));
    const made = redactorOf(secrets.flatMap(writtenForms));
    const resolve = this.#resolver(asked);
    if (!made.ok || resolve === null) {
      wipe(secrets);
      return made.ok ? end("invalid_input", "no such resolver", []) : end("secret_refused", made.message, []);
    }
    const running = new RunningFetch(asked, secrets, made.redactor, resolve, this.#context);
    this.#running.set(number, running);
    try {
      const failure = await running.run();
      // An error message must not contain secrets.
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

  #resolver({ resolver }: FetchMessage): Resolver | null {
    const key = JSON.stringify(resolver);
    const known = this.#resolvers.get(key) ?? resolverOf(resolver, this.#context.now);
    if (known === null) return null;
    this.#resolvers.set(key, known);
    for (const oldest of this.#resolvers.keys()) {
      if (this.#resolvers.size <= resolversMax) break;
      this.#resolvers.delete(oldest);
    }
    return known;
  }
}

/** Decoded strings stay in memory until they are collected; these buffers do not. */
function wipe(secrets: readonly SecretValue[]): void {
  for (const { value } of secrets) value.fill(0);
}
