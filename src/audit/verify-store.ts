// Verifies the log of a store, batch by batch, so that whoever serves it can answer others meanwhile.
import type { ChainStore } from "../ports/chain-rows.ts";
import type { VerifyAnswer } from "../ports/daemon-control.ts";
import type { Durable } from "../ports/durable.ts";
import { NotePages } from "./note-pages.ts";
import { Verifier, type VerifyGiven, type VerifyPorts } from "./verify.ts";

export interface VerifyStorePorts extends VerifyPorts {
  readonly chain: Pick<ChainStore, "rows" | "checkpoints" | "head" | "first" | "unindexed">;
  /** Lets others have their turn. */
  pause(): Promise<void>;
}

const batchRows = 1000;
const attemptsMax = 3;

/** Up to where the log went when it began: what is written meanwhile is verified the next time. */
export async function verifyStore(ports: VerifyStorePorts, given: Omit<VerifyGiven, "first">): Durable<VerifyAnswer> {
  for (let attempt = 1; ; attempt++) {
    const first = await ports.chain.first();
    if (!first.ok) return first;
    const answer = await verifyOnce(ports, { ...given, first: first.value });
    if (!answer.ok) return answer;
    const after = await ports.chain.first();
    if (!after.ok) return after;
    // Retention took rows away under our hands: then nothing was found, for or against.
    if (after.value === first.value || attempt === attemptsMax) return answer;
  }
}

async function verifyOnce(ports: VerifyStorePorts, given: VerifyGiven): Durable<VerifyAnswer> {
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
    // What comes back must lead on, or this would never end.
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
  // A note ahead of the end is of something written since, or of something that is gone.
  const now = await chain.head();
  if (!now.ok) return now;
  const ahead = await chain.checkpoints(Math.max(end, now.value.place) + 1);
  if (!ahead.ok) return ahead;
  for (const note of ahead.value) verifier.checkpoint(note);
  return { ok: true, value: verifier.end(head.value) };
}
