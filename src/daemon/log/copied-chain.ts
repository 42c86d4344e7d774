// The log's rows with a second copy: retention removes nothing that the copy does not have.
import type { ChainStore } from "../../core/ports/stores/chain-rows.ts";
import type { Copies } from "./copied-ledger.ts";

export function copiedChain(chain: ChainStore, copies: Copies): ChainStore {
  return {
    rows: (from, count) => chain.rows(from, count),
    checkpoints: (from) => chain.checkpoints(from),
    head: () => chain.head(),
    first: () => chain.first(),
    unindexed: (from, to) => chain.unindexed(from, to),
    keepCheckpoint: async (row) => {
      const kept = await chain.keepCheckpoint(row);
      copies.copy?.wake();
      return kept;
    },
    prune: async (before, entry) => {
      const { isPlain, copy } = copies;
      if (isPlain) return chain.prune(before, entry);
      // The copy may have lost entries since the last write.
      const kept = copy !== null && (await copy.looked(copy.timeoutMilliseconds)) ? (copy.kept ?? 0) : 0;
      if (before - 1 <= kept) return chain.prune(before, entry);
      const message = `the second copy of the log has acknowledged entries only up to ${kept}: nothing was removed. See: ambit daemon status`;
      return { ok: false, code: "audit_unavailable", message };
    },
  };
}
