// Signs every commit of the log with the current key, and stores the newest signature beside the keys.

import { join } from "node:path";
import type { DurableResult } from "../../core/ports/stores/durable.ts";
import type { LogEnd, Notary } from "../../core/ports/stores/notary.ts";
import type { CheckSignature } from "../../core/ports/stores/signing.ts";
import { keyNumber, makeCheckpoint, parseCheckpoint, type SignedCheckpoint } from "../../log/chain/checkpoint.ts";
import { HeadFile } from "../../log/keys/head.ts";
import { signatureCheck } from "../../log/keys/key-text.ts";
import { type AuditKeys, openAuditKeys } from "../../log/keys/keys.ts";

export interface DaemonNotary extends Notary {
  /** The current keys. */
  keys: AuditKeys;
  /** A note for this end that may name the next key. */
  noteOf(end: LogEnd, next: string | null): string;
  /** Set before anything is committed: the log's name and the clock. */
  begin(node: string, now: () => number): void;
  /** Resolves when the stored note is on disk. */
  flush(): Promise<boolean>;
  close(): void;
}

/** `state` is the state folder. */
export function openNotary(state: string): DurableResult<DaemonNotary> {
  const opened = openAuditKeys(state);
  if (!opened.ok) return opened;
  const file = new HeadFile(join(state, "keys"));
  const check = signatureCheck();
  let log: { readonly node: string; now(): number } | null = null;
  /** Undefined: the file was not read yet. */
  let last: LogEnd | null | undefined;
  const notary: DaemonNotary = {
    keys: opened.value,
    noteOf: ({ place, hash }, next) => {
      if (log === null) throw new TypeError("the log has no id yet");
      const checkpoint = { node: log.node, size: place, hash, at: log.now(), next, isEveryCommitSigned: true } as const;
      return makeCheckpoint(checkpoint, notary.keys.signer);
    },
    sign: (end) => notary.noteOf(end, null),
    isSigned: (text, { place, hash }) => {
      const note = parseCheckpoint(text);
      return note !== null && note.size === place && note.hash === hash && isOurs(note, notary.keys.keys, check);
    },
    remembered: () => {
      last ??= lastOf(file, notary.keys.keys, check);
      return last;
    },
    remember: (text) => {
      const note = parseCheckpoint(text);
      if (note === null) throw new TypeError("this is not a checkpoint");
      file.write(text);
      last = { place: note.size, hash: note.hash };
    },
    begin: (node, now) => {
      log = { node, now };
    },
    flush: () => file.flush(),
    close: () => file.close(),
  };
  return { ok: true, value: notary };
}

/** The newest note that one of the keys signed. */
function lastOf(file: HeadFile, keys: readonly string[], check: CheckSignature): LogEnd | null {
  const texts = file.read();
  let best: { readonly end: LogEnd; readonly slot: number } | null = null;
  for (const [slot, text] of texts.entries()) {
    const note = parseCheckpoint(text);
    if (note === null || !isOurs(note, keys, check)) continue;
    if (best === null || note.size > best.end.place) best = { end: { place: note.size, hash: note.hash }, slot };
  }
  if (best !== null) file.keep(best.slot);
  if (best === null && texts.length > 0) throw new Error("keys/head has no checkpoint signed by a key of this log");
  return best?.end ?? null;
}

function isOurs(note: SignedCheckpoint, keys: readonly string[], check: CheckSignature): boolean {
  return keys.some((key) => keyNumber(key) === note.keyNumber && check(key, note.signed, note.signature));
}
