// The log's integrity proof: periodic signed notes, verification, export, key rotation, retention.

import { SerialQueue } from "../../core/base/serial-queue.ts";
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { ChainStore, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { ENTRIES_PRUNED, KEY_ROTATED, pruningDetails, rotationDetails } from "../../log/chain/chain-events.ts";
import { parseCheckpoint } from "../../log/chain/checkpoint.ts";
import { signatureCheck } from "../../log/keys/key-text.ts";
import { exportLine } from "../../log/verify/export.ts";
import { exportStore } from "../../log/verify/export-store.ts";
import type { ChainHead } from "../../log/verify/verify.ts";
import { verifyStore } from "../../log/verify/verify-store.ts";
import type { Proof } from "../parts.ts";
import type { DaemonNotary } from "./notary.ts";

const entriesPerNote = 1000;
const millisecondsPerNote = 10_000;
const dayMilliseconds = 86_400_000;

export interface ProofOptions {
  readonly notary: DaemonNotary;
  /** Name of the log's state, its node. */
  readonly node: string;
  readonly chain: ChainStore;
  readonly ledger: Ledger;
  readonly digest: Digest;
  now(): number;
  entry(outcome: string, more: LogEntry["more"]): LogEntry;
}

export interface LogProof extends Proof {
  /** The first lines of a copy of the log whose first entry is this one. */
  beginning(first: number): { readonly header: string; readonly rotations: readonly string[] };
}

export function proofOf({ notary, node, chain, ledger, digest, now, entry }: ProofOptions): LogProof {
  /** One at a time: a note must be signed by the key that is current when it is stored. */
  const queue = new SerialQueue();
  let signed = -1;
  let signedAt = 0;

  const noteOf = (head: ChainHead, next: string | null): CheckpointRow => ({
    place: head.place,
    text: notary.noteOf(head, next),
  });

  const sign = async (): Promise<void> => {
    const head = await chain.head();
    if (!head.ok) return;
    const kept = await chain.keepCheckpoint(noteOf(head.value, null));
    if (!kept.ok || !(await notary.flush())) return;
    signed = head.value.place;
    signedAt = now();
  };

  const checkpoint = (isLast: boolean): Promise<void> =>
    queue.run(async () => {
      const head = await chain.head();
      if (!head.ok || head.value.place === 0 || head.value.place === signed) return;
      const isDue = head.value.place - signed >= entriesPerNote || now() - signedAt >= millisecondsPerNote;
      if (isDue || isLast) await sign();
    });

  /** The new key is named in an entry and in a note of the old key; that note is on disk before the new key signs anything. */
  const rotate = async (): Promise<Answer<{ readonly key: string }>> => {
    const { keys } = notary;
    const next = keys.prepare();
    if (!next.ok) return refused(next);
    const told = await ledger.append([entry(KEY_ROTATED, rotationDetails(keys.signer.key, next.value))]);
    if (!told.ok) return refused(told);
    const head = await chain.head();
    if (!head.ok) return refused(head);
    const row = noteOf(head.value, next.value);
    const rotated = keys.rotate(next.value, row.text);
    if (!rotated.ok) return refused(rotated);
    notary.keys = rotated.value;
    const kept = await chain.keepCheckpoint(row);
    if (!kept.ok) return refused(kept);
    await sign();
    return { ok: true, value: { key: notary.keys.signer.key } };
  };

  /** Prunes up to the last note older than that; the rest starts after that note, and is signed at once. */
  const retain = async (days: number): Promise<Answer<{ readonly removed: number; readonly first: number }>> => {
    const first = await chain.first();
    if (!first.ok) return refused(first);
    const before = now() - days * dayMilliseconds;
    let last = 0;
    for (let from = first.value; ; ) {
      const notes = await chain.checkpoints(from);
      if (!notes.ok) return refused(notes);
      const old = notes.value.filter(({ text }) => (parseCheckpoint(text)?.at ?? Number.POSITIVE_INFINITY) < before);
      last = old.at(-1)?.place ?? last;
      const end = notes.value.at(-1)?.place ?? 0;
      if (old.length < notes.value.length || !(end >= from)) break;
      from = end + 1;
    }
    if (last < first.value) return { ok: true, value: { removed: 0, first: first.value } };
    const pruned = await chain.prune(last + 1, entry(ENTRIES_PRUNED, pruningDetails(last + 1)));
    if (!pruned.ok) return refused(pruned);
    await sign();
    return { ok: true, value: { ...pruned.value, first: last + 1 } };
  };

  return {
    verify: async (head) => {
      const { keys } = notary;
      const given = { key: keys.first, rotations: keys.rotations, node, head, remembered: notary.remembered() };
      const answer = await verifyStore({ digest, check: signatureCheck(), chain, pause }, given);
      return answer.ok ? { ok: true, value: answer.value } : refused(answer);
    },
    export: async (from, line) => {
      const { keys: all, rotations } = notary.keys;
      const done = await exportStore({ chain, line }, { node, keys: all, at: now(), rotations, from });
      return done.ok ? done : refused(done);
    },
    keys: () => notary.keys.keys,
    rotate: () => queue.run(rotate),
    retain: (days) => queue.run(() => retain(days)),
    checkpoint,
    beginning: (first) => ({
      header: exportLine({ kind: "header", node, first, keys: notary.keys.keys, at: now(), isCopy: true }),
      rotations: notary.keys.rotations.map((text) => exportLine({ kind: "rotation", text })),
    }),
  };
}

function pause(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

function refused({ code, message }: { readonly code: string; readonly message: string }): Refusal {
  return { ok: false, code, message, fix: null };
}
