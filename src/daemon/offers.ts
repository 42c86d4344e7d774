// Tools of a model's provider that a session was offered, written down: what they do happens there and never comes past us, so
// this is all that can be told of them.
import type { JsonObject } from "../core/base/json.ts";
import type { ProviderToolsTold } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { Ledger } from "../core/ports/stores/ledger.ts";
import { textIn } from "./input.ts";
import type { Entries } from "./log/entries.ts";
import { refusal } from "./refusal.ts";
import type { Session } from "./session.ts";

type Offered = Extract<Answer<ProviderToolsTold>, { readonly ok: true }>;

export class Offers {
  readonly #entries: Entries;
  readonly #ledger: Pick<Ledger, "append">;
  /** Of each session, what each tool was held to when it was offered last. */
  readonly #known = new WeakMap<Session, Map<string, string>>();
  /** One after another: a tool that is being written down is not written twice. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(entries: Entries, ledger: Pick<Ledger, "append">) {
    this.#entries = entries;
    this.#ledger = ledger;
  }

  /**
   * One entry for each session and tool, and another where what it is held to has changed. INVARIANT: what cannot be written
   * down is not offered.
   */
  written(session: Session, asked: JsonObject, answer: Offered): Promise<Answer<ProviderToolsTold>> {
    const mine = this.#turn.then(() => this.#write(session, asked, answer));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #write(session: Session, asked: JsonObject, answer: Offered): Promise<Answer<ProviderToolsTold>> {
    const provider = textIn(asked, "provider") ?? "";
    const known = this.#known.get(session) ?? new Map<string, string>();
    this.#known.set(session, known);
    const tools = answer.value.tools.filter(({ name, domains }) => known.get(`${provider}:${name}`) !== held(domains));
    if (tools.length === 0) return answer;
    const entries = tools.map(({ name, domains }) => {
      const more = { provider, domains: domains === null ? null : [...domains] };
      return this.#entries.make("session", session.who(), "offered", { tool: `${provider}:${name}`, more });
    });
    const written = await this.#ledger.append(entries);
    if (!written.ok) return refusal(written.code, written.message);
    for (const { name, domains } of tools) known.set(`${provider}:${name}`, held(domains));
    return answer;
  }
}

function held(domains: readonly string[] | null): string {
  return JSON.stringify(domains);
}
