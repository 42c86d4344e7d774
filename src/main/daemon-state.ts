// What the daemon owns: the database with the log, the key that signs it, its second copy, the clock and the ids.
import type { JsonObject } from "../core/base/json.ts";
import type { Config } from "../core/notation/config/config.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { EntryKind, LogEntry } from "../core/ports/stores/log.ts";
import { daemonClock } from "../daemon/clock.ts";
import { IdGenerator } from "../daemon/ids.ts";
import { copiedChain } from "../daemon/log/copied-chain.ts";
import { CopiedLedger } from "../daemon/log/copied-ledger.ts";
import { NO_ACTOR } from "../daemon/log/entries.ts";
import { openNotary } from "../daemon/log/notary.ts";
import { proofOf } from "../daemon/log/proof.ts";
import { DaemonSink } from "../daemon/log/sink.ts";
import { unconfirmedOutcome } from "../daemon/log/sink-entries.ts";
import type { DaemonParts, Proof } from "../daemon/parts.ts";
import { sha256 } from "../platform/digest.ts";
import { BY_A_NEWER_ONE } from "../store/schema.ts";
import { openState, type State } from "../store/state.ts";

interface DaemonStateOptions {
  readonly state: string;
  readonly program: string;
  log(line: string): void;
  /** The second copy did not confirm the entry of a call that used this approval. */
  unconfirmed(approval: string, outcome: string): void;
}

interface CopySettings {
  /** The folder of the user's configuration, which relative paths of the copy start in. */
  readonly folder: string | null;
  config(): Config | null;
}

export interface DaemonState {
  /** INVARIANT: entries are written through these stores only, so that the second copy has them, too. */
  readonly stores: State;
  readonly sink: DaemonSink;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly id: DaemonParts["id"];
  /** An entry without an actor. */
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  /** Why the log cannot be written; null if it can. */
  problem(): string | null;
  /** Names this daemon in the log, and starts the second copy. */
  begin(copy: CopySettings): Promise<Proof>;
  close(): Promise<void>;
}

export async function openDaemonState(options: DaemonStateOptions): Promise<Answer<DaemonState>> {
  const { state, program, log } = options;
  const signing = openNotary(state);
  if (!signing.ok) return { ...signing, fix: "ambit daemon logs" };
  const { value: notary } = signing;
  const opened = openState(state, { digest: sha256, program, notary });
  if (!opened.ok)
    return { ...opened, fix: opened.message.includes(BY_A_NEWER_ONE) ? "ambit upgrade --check" : "ambit audit verify" };
  const { value: own } = opened;
  const last = await own.ledger.log({ count: 1 });
  const { now, elapsed } = daemonClock(last.ok ? (last.value[0]?.entry.at ?? 0) : 0);
  const names = new IdGenerator();
  const { id } = names;
  // Before the first commit, which is signed with this name.
  const node = own.settings.get("node") ?? names.name();
  notary.begin(node, now);
  own.loop.onFailure((why) => log(why === null ? "the log can be written again" : unwritten(why)));
  const sink = new DaemonSink();
  const stores = {
    ...own,
    chain: copiedChain(own.chain, sink),
    ledger: new CopiedLedger({
      ledger: own.ledger,
      copies: sink,
      elapsed,
      unconfirmed: ({ entry, claim }) => {
        const outcome = unconfirmedOutcome(entry, id("e"), now());
        void stores.ledger.append([outcome]);
        if (claim !== null) options.unconfirmed(claim.approval, outcome.outcome);
      },
    }),
  };
  const entry: DaemonState["entry"] = (kind, outcome, of, more) => ({
    ...{ ...NO_ACTOR, id: id("e"), kind, at: now(), tool: null, verbs: [], outcome, code: null, of, more },
  });
  const daemonEntry = (outcome: string, more: JsonObject): LogEntry => entry("daemon", outcome, null, more);
  return {
    ok: true,
    value: {
      ...{ stores, sink, now, elapsed, id, entry },
      problem: () => (own.loop.problem === null ? null : unwritten(own.loop.problem)),
      begin: async (copy) => {
        const { chain, ledger, settings } = stores;
        if (settings.get("node") === null) await settings.set("node", node, daemonEntry("named", { node }));
        const proof = proofOf({ notary, node, chain, ledger, digest: sha256, now, entry: daemonEntry });
        const { beginning } = proof;
        sink.begin({
          ...copy,
          node,
          chain,
          ledger: own.ledger,
          settings,
          digest: sha256,
          now,
          log,
          beginning,
          entry: daemonEntry,
        });
        return proof;
      },
      close: async () => {
        await sink.close();
        stores.close();
        notary.close();
      },
    },
  };
}

function unwritten(why: string): string {
  return `the log cannot be written, so every call is denied: ${why}`;
}
