// The ledger: a decision with all its charges in one commit, and the log of everything.
import type { Durable } from "../core/ports/stores/durable.ts";
import type {
  AccountCharge,
  AccountState,
  Cost,
  DecisionResult,
  DecisionWrite,
  Ledger,
} from "../core/ports/stores/ledger.ts";
import type { ChainedEntry, LogEntry, LogQuery } from "../core/ports/stores/log.ts";
import { entryBody } from "../log/chain/entry-body.ts";
import {
  accountCostLeft,
  chargeAccounts,
  type Generations,
  isAccountEmpty,
  listAccounts,
  UNKNOWN_GENERATION,
} from "./accounts/account.ts";
import { NO_COST, settleCost } from "./accounts/cost.ts";
import type { ApprovalRows } from "./approvals/approval-rows.ts";
import { type CommitLoop, writeFailure } from "./commit-loop.ts";
import type { Connection } from "./connection.ts";
import { isLive, type LinkRows } from "./links/link.ts";
import { appendEntry, headOf } from "./log/append.ts";
import type { LogReader } from "./log/log-reader.ts";
import type { SqliteSecretStore } from "./secret.ts";

export const entriesAtOnceMax = 1_000;
export const accountsListedMax = 10_000;

export interface LedgerParts {
  readonly generations: Generations;
  readonly approvals: ApprovalRows;
  readonly links: LinkRows;
  readonly secrets: Pick<SqliteSecretStore, "isUsable" | "useIn">;
  readonly reader: LogReader;
}

export class SqliteLedger implements Ledger {
  readonly #loop: CommitLoop;
  readonly #parts: LedgerParts;

  constructor(loop: CommitLoop, parts: LedgerParts) {
    this.#loop = loop;
    this.#parts = parts;
  }

  async decide(write: DecisionWrite): Durable<DecisionResult> {
    const body = bodyOf(write.entry);
    if (body === null) return writeFailure("the entry cannot be written");
    return this.#loop.write((connection) => this.#decided(connection, write, body), body.length);
  }

  async append(entries: readonly LogEntry[], patienceMilliseconds = 0): Durable<{ readonly place: number }> {
    if (entries.length > entriesAtOnceMax)
      return writeFailure(`at most ${entriesAtOnceMax} entries are written at once`);
    const bodies: string[] = [];
    let bytes = 0;
    for (const entry of entries) {
      const body = bodyOf(entry);
      if (body === null) return writeFailure("the entry cannot be written");
      bodies.push(body);
      bytes += body.length;
    }
    return this.#loop.write(
      (connection) => {
        for (let at = 0; at < entries.length; at++)
          appendEntry(connection, entries[at] as LogEntry, bodies[at] as string);
        return { place: headOf(connection).place };
      },
      bytes,
      patienceMilliseconds,
    );
  }

  /** False while no state is loaded: the commit then answers with the reason. */
  isEmpty(charge: AccountCharge, now: number, cost: Cost = LEAST_COST): boolean {
    const read = this.#loop.readNow((connection) => isAccountEmpty(connection, charge, now, cost));
    return read.ok && read.value;
  }

  /** Nothing while no state is loaded. */
  costLeft(charge: AccountCharge): ReturnType<Ledger["costLeft"]> {
    const read = this.#loop.readNow((connection) => accountCostLeft(connection, charge));
    return read.ok ? read.value : NO_COST;
  }

  async settle(outcome: LogEntry, decision: string, cost: Cost | null): Durable<{ readonly place: number }> {
    const body = bodyOf(outcome);
    if (body === null) return writeFailure("the entry cannot be written");
    return this.#loop.write((connection) => {
      settleCost(connection, decision, cost);
      return { place: appendEntry(connection, outcome, body) };
    }, body.length);
  }

  generation(scope: string): number {
    return this.#loop.isReady() ? this.#parts.generations.of(scope) : UNKNOWN_GENERATION;
  }

  bump(scopes: readonly string[], entry: LogEntry): Durable<null> {
    return this.#loop.write((connection) => {
      this.#parts.generations.bump(connection, scopes);
      appendEntry(connection, entry);
      return null;
    });
  }

  log(query: LogQuery): Durable<readonly ChainedEntry[]> {
    return this.#parts.reader.log(query);
  }

  entry(id: string): ReturnType<Ledger["entry"]> {
    return this.#parts.reader.entry(id);
  }

  accounts(family: string | null): Durable<readonly AccountState[]> {
    return this.#loop.read((connection) => listAccounts(connection, family, accountsListedMax));
  }

  /** The checks are in the order of the codes; if one fails nothing was changed. */
  #decided(connection: Connection, write: DecisionWrite, body: string): DecisionResult {
    const { entry, claim, secret } = write;
    const { approvals, generations, links, secrets } = this.#parts;
    if (write.generations.some(([scope, made]) => generations.of(scope) !== made))
      return { ok: false, code: "generation_stale" };
    if (write.links.some((id) => !isLive(links.live(id), entry.at))) return { ok: false, code: "revoked" };
    const approval = claim === null ? null : approvals.claimable(connection, claim, entry.at);
    if (claim !== null && approval === null) return { ok: false, code: "approval_required" };
    if (secret !== undefined && !secrets.isUsable(connection, secret)) return { ok: false, code: "secret_refused" };
    const { reserved } = write;
    const reservation = reserved === undefined ? null : { decision: entry.id, cost: reserved };
    const charged = chargeAccounts(connection, write.charges, entry.at, reservation);
    if (!charged.ok) return { ok: false, code: "budget_exhausted", empty: charged.empty };
    if (approval !== null) approvals.use(connection, approval, entry.id);
    const place = appendEntry(connection, entry, body);
    if (secret === undefined) return { ok: true, place, left: charged.left };
    secrets.useIn(connection, secret);
    return { ok: true, place: appendEntry(connection, secret.entry), left: charged.left };
  }
}

/** For showing whether anything is left. */
const LEAST_COST: Cost = { tokens: 1, money: 1 };

function bodyOf(entry: LogEntry): string | null {
  try {
    return entryBody(entry);
  } catch {
    return null;
  }
}
