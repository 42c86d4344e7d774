// Logs the model provider's own tools that a session was offered: they run at the provider, so the offer is all that can be
// logged.
import { textIn } from "../core/base/fields.ts";
import type { JsonObject } from "../core/base/json.ts";
import { SerialQueue } from "../core/base/serial-queue.ts";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import { type Answer, refusal } from "../core/ports/daemon/exchange.ts";
import type { Ledger } from "../core/ports/stores/ledger.ts";
import type { Entries } from "./log/entries.ts";
import type { Session } from "./session.ts";

type OfferedTools = Extract<Answer<ProviderToolsView>, { readonly ok: true }>;

export class Offers {
  readonly #entries: Entries;
  readonly #ledger: Pick<Ledger, "append">;
  /** Per session, the restrictions of each tool when it was last offered. */
  readonly #known = new WeakMap<Session, Map<string, string>>();
  /** One after another: a tool whose entry is being written is not logged twice. */
  readonly #queue = new SerialQueue();

  constructor(entries: Entries, ledger: Pick<Ledger, "append">) {
    this.#entries = entries;
    this.#ledger = ledger;
  }

  /**
   * One entry per session and tool, and another when its restrictions have changed. INVARIANT: a tool whose offer cannot be
   * logged is not offered.
   */
  written(session: Session, asked: JsonObject, answer: OfferedTools): Promise<Answer<ProviderToolsView>> {
    return this.#queue.run(() => this.#write(session, asked, answer));
  }

  async #write(session: Session, asked: JsonObject, answer: OfferedTools): Promise<Answer<ProviderToolsView>> {
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
