// Verifies the log of a store, batch by batch, so that the daemon can serve other requests meanwhile.

import type { VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import type { ChainStore } from "../../core/ports/stores/chain-rows.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import { NotePages } from "./note-pages.ts";
import { Verifier, type VerifyOptions, type VerifyPorts } from "./verify.ts";

export interface VerifyStorePorts extends VerifyPorts {
  readonly chain: Pick<ChainStore, "rows" | "checkpoints" | "head" | "first" | "unindexed">;
  /** Yields to other work. */
  pause(): Promise<void>;
}

const batchRows = 1000;
const attemptsMax = 3;

/** Up to the end of the log at the start: entries written meanwhile are verified the next time. */
export async function verifyStore(ports: VerifyStorePorts, given: Omit<VerifyOptions, "first">): Durable<VerifyReport> {
  for (let attempt = 1; ; attempt++) {
    const first = await ports.chain.first();
    if (!first.ok) return first;
    const answer = await verifyOnce(ports, { ...given, first: first.value });
    if (!answer.ok) return answer;
    const after = await ports.chain.first();
    if (!after.ok) return after;
    // Retention removed rows meanwhile, so the result says nothing.
    if (after.value === first.value || attempt === attemptsMax) return answer;
  }
}

async function verifyOnce(ports: VerifyStorePorts, given: VerifyOptions): Durable<VerifyReport> {
  const { chain } = ports;
  const head = await chain.head();
  if (!head.ok) return head;
  const { place: end } = head.value;
  const verifier = new Verifier(ports, given);
  const notes = new NotePages(chain, given.first - 1);
  for (let from = given.first; from <= end; ) {
    const rows = await chain.rows(from, Math.min(batchRows, end - from + 1));
    if (!rows.ok) return rows;
    const last = rows.value.at(-1)?.place ?? 0;
    // The position must advance, or this would never end.
    if (!(last >= from)) break;
    const fed = await notes.each(Math.min(last, end), (note) => verifier.checkpoint(note));
    if (!fed.ok) return fed;
    for (const row of rows.value) verifier.row(row);
    const unindexed = await chain.unindexed(from, Math.min(last, end));
    if (!unindexed.ok) return unindexed;
    if (unindexed.value !== null) verifier.unindexed(unindexed.value);
    from = last + 1;
    await ports.pause();
  }
  const fed = await notes.each(end, (note) => verifier.checkpoint(note));
  if (!fed.ok) return fed;
  // A note beyond the end belongs to an entry written since, or to one that is missing.
  const now = await chain.head();
  if (!now.ok) return now;
  const ahead = await chain.checkpoints(Math.max(end, now.value.place) + 1);
  if (!ahead.ok) return ahead;
  for (const note of ahead.value) verifier.checkpoint(note);
  return { ok: true, value: verifier.end(head.value) };
}
