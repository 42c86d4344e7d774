// Repeated denials: the first few are written, the rest are counted, and the count is written.

import type { Digest } from "../../core/ports/digest.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { DenialRate, type UnwrittenDenials } from "../../log/floods/denial-rate.ts";
import { FloodCount, floodKey } from "../../log/floods/floods.ts";
import type { Entries } from "./entries.ts";

const rememberedMax = 2048;

export class Floods {
  readonly #count = new FloodCount<LogEntry>();
  readonly #entries: Entries;
  readonly #ledger: Ledger;
  readonly #digest: Digest;
  readonly #now: () => number;
  /** The last written entry of each kind; a denial that is only counted is reported with its id. */
  readonly #written = new Map<string, string>();
  /** Rate of distinct denials per agent. */
  readonly #rate = new DenialRate<LogEntry>();
  /** The last written entry of each agent. */
  readonly #lastOf = new Map<string, string>();

  constructor(entries: Entries, ledger: Ledger, digest: Digest, now: () => number) {
    this.#entries = entries;
    this.#ledger = ledger;
    this.#digest = digest;
    this.#now = now;
  }

  /** Null if it is to be written; else the id of the entry it is counted with. */
  take(entry: LogEntry, times = 1): string | null {
    const { session, tool, code, more } = entry;
    const asked = more["requests"];
    const reason = more["reason"];
    // Invalid arguments have no requests, so their reason is the only thing that distinguishes them.
    const requests = [
      ...(Array.isArray(asked) ? asked.map(String) : []),
      ...(typeof reason === "string" ? [reason] : []),
    ];
    const key = floodKey(this.#digest, { session, tool: tool ?? "", code: code ?? "", requests });
    const known = this.#written.get(key);
    if (this.#count.take(key, this.#now(), entry, times) === "counted" && known !== undefined) return known;
    const agent = `${entry.workspace ?? ""}#${entry.agent ?? ""}`;
    const last = this.#lastOf.get(agent);
    if (!this.#rate.take(agent, code ?? "", this.#now(), entry) && last !== undefined) return last;
    remember(this.#written, key, entry.id);
    remember(this.#lastOf, agent, entry.id);
    return null;
  }

  /** Writes the counts that are due; all of them before the daemon ends. */
  async write(isLast: boolean): Promise<void> {
    const due = isLast ? this.#count.drain() : this.#count.due(this.#now());
    const same = due.flatMap(({ about, times }) => (about === null ? [] : [this.#suppressed(about, times)]));
    const counts = [
      ...same,
      ...this.#rate.drain(isLast ? Number.POSITIVE_INFINITY : this.#now()).map((one) => this.#unwritten(one)),
    ];
    if (counts.length > 0) await this.#ledger.append(counts);
  }

  /** For many distinct denials: a count per code, and the first of them as an example. */
  #unwritten({ about, times, codes }: UnwrittenDenials<LogEntry>): LogEntry {
    const { user, agent, workspace, chain, session, trace, tool, verbs, code, more } = about;
    const who = { user, agent, workspace, chain, session, trace };
    const told = { times, codes: { ...codes }, isDifferent: true, requests: more["requests"] ?? [] };
    return this.#entries.make("suppressed", who, "deny", { tool, verbs, code, more: told });
  }

  #suppressed(entry: LogEntry, times: number): LogEntry {
    const { user, agent, workspace, chain, session, trace, tool, verbs, code, id, more } = entry;
    const who = { user, agent, workspace, chain, session, trace };
    const told = { times, requests: more["requests"] ?? [] };
    return this.#entries.make("suppressed", who, "deny", { tool, verbs, code, of: id, more: told });
  }
}

function remember(ids: Map<string, string>, key: string, id: string): void {
  ids.delete(key);
  ids.set(key, id);
  const [oldest] = ids.keys();
  if (ids.size > rememberedMax && oldest !== undefined) ids.delete(oldest);
}
