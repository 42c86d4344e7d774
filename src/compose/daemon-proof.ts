// The log's proof as the daemon gives it: signed notes at due time, verification, export, another key, retention.
import { ENTRIES_PRUNED, KEY_ROTATED, pruningDetails, rotationDetails } from "../audit/chain-events.ts";
import { makeCheckpoint, parseCheckpoint } from "../audit/checkpoint.ts";
import { exportLine } from "../audit/export.ts";
import { verifyStore } from "../audit/verify-store.ts";
import type { Proof } from "../daemon/parts.ts";
import { signatureCheck } from "../node/audit-key-text.ts";
import { type AuditKeys, openAuditKeys } from "../node/audit-keys.ts";
import type { ChainStore } from "../ports/chain-rows.ts";
import type { Digest } from "../ports/digest.ts";
import type { Kept } from "../ports/durable.ts";
import type { Answer, Refusal } from "../ports/exchange.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { LogEntry } from "../ports/log.ts";

const entriesPerNote = 1000;
const millisecondsPerNote = 10_000;
const dayMilliseconds = 86_400_000;
const batchRows = 500;

export interface ProofAsked {
  readonly state: string;
  /** Whose log: a name of this state. */
  readonly node: string;
  readonly chain: ChainStore;
  readonly ledger: Ledger;
  readonly digest: Digest;
  now(): number;
  entry(outcome: string, more: LogEntry["more"]): LogEntry;
}

export function proofOf({ state, node, chain, ledger, digest, now, entry }: ProofAsked): Kept<Proof> {
  const opened = openAuditKeys(state);
  if (!opened.ok) return opened;
  let keys: AuditKeys = opened.value;
  let signed = -1;
  let signedAt = 0;

  const sign = async (next: string | null): Promise<Kept<string>> => {
    const head = await chain.head();
    if (!head.ok) return head;
    const text = makeCheckpoint({ node, size: head.value.place, hash: head.value.hash, at: now(), next }, keys.signer);
    const kept = await chain.keepCheckpoint({ place: head.value.place, text });
    if (!kept.ok) return kept;
    signed = head.value.place;
    signedAt = now();
    return { ok: true, value: text };
  };

  const checkpoint = async (isLast: boolean): Promise<void> => {
    const head = await chain.head();
    if (!head.ok || head.value.place === 0 || head.value.place === signed) return;
    const isDue = head.value.place - signed >= entriesPerNote || now() - signedAt >= millisecondsPerNote;
    if (isDue || isLast) await sign(null);
  };

  /** The new key is named in an entry, the entry is covered by a note of the old key, and only then is it used. */
  const rotate = async (): Promise<Answer<{ readonly key: string }>> => {
    const next = keys.prepare();
    if (!next.ok) return refused(next);
    const told = await ledger.append([entry(KEY_ROTATED, rotationDetails(keys.signer.key, next.value))]);
    if (!told.ok) return refused(told);
    const note = await sign(next.value);
    if (!note.ok) return refused(note);
    const rotated = keys.rotate(next.value, note.value);
    if (!rotated.ok) return refused(rotated);
    keys = rotated.value;
    await sign(null);
    return { ok: true, value: { key: keys.signer.key } };
  };

  /** Up to the last note that is older: what remains begins where that note ends. */
  const retain = async (days: number): Promise<Answer<{ readonly removed: number; readonly first: number }>> => {
    const notes = await chain.checkpoints(1);
    if (!notes.ok) return refused(notes);
    const before = now() - days * dayMilliseconds;
    const old = notes.value.filter(({ text }) => (parseCheckpoint(text)?.at ?? Number.POSITIVE_INFINITY) < before);
    const last = old.at(-1)?.place ?? 0;
    const first = await chain.first();
    if (!first.ok) return refused(first);
    if (last < first.value) return { ok: true, value: { removed: 0, first: first.value } };
    const pruned = await chain.prune(last + 1, entry(ENTRIES_PRUNED, pruningDetails(last + 1)));
    return pruned.ok ? { ok: true, value: { ...pruned.value, first: last + 1 } } : refused(pruned);
  };

  const exportFrom: Proof["export"] = async (from, line) => {
    const [first, head] = [await chain.first(), await chain.head()];
    if (!first.ok) return refused(first);
    if (!head.ok) return refused(head);
    const start = Math.max(from, first.value);
    line(exportLine({ kind: "header", node, first: start, keys: keys.keys, at: now() }));
    for (const text of keys.rotations) line(exportLine({ kind: "rotation", text }));
    const notes = await chain.checkpoints(Math.max(0, start - 1));
    if (!notes.ok) return refused(notes);
    let note = 0;
    const notesUpTo = (place: number): void => {
      for (; note < notes.value.length && (notes.value[note]?.place ?? 0) <= place; note++) {
        const row = notes.value[note];
        if (row !== undefined && row.place <= head.value.place) line(exportLine({ kind: "checkpoint", ...row }));
      }
    };
    notesUpTo(start - 1);
    for (let at = start; at <= head.value.place; ) {
      const rows = await chain.rows(at, Math.min(batchRows, head.value.place - at + 1));
      if (!rows.ok) return refused(rows);
      if (rows.value.length === 0) break;
      for (const row of rows.value) {
        line(exportLine({ kind: "entry", ...row }));
        notesUpTo(row.place);
        at = row.place + 1;
      }
      await pause();
    }
    line(exportLine({ kind: "head", ...head.value }));
    return { ok: true, value: head.value };
  };

  const proof: Proof = {
    verify: async (head) => {
      const given = { key: keys.first, rotations: keys.rotations, node, head };
      const answer = await verifyStore({ digest, check: signatureCheck(), chain, pause }, given);
      return answer.ok ? { ok: true, value: answer.value } : refused(answer);
    },
    export: exportFrom,
    keys: () => keys.keys,
    rotate,
    retain,
    checkpoint,
  };
  return { ok: true, value: proof };
}

function pause(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

function refused({ code, message }: { readonly code: string; readonly message: string }): Refusal {
  return { ok: false, code, message, fix: null };
}
