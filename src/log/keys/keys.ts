// The keys that sign the log: created once, stored in a folder of the state, rotated on request. `first` names the
// log's first key; `<number>.next` holds the signed note in which a key names its successor. INVARIANT: at every moment
// exactly one key is current, whatever was interrupted: the last one in the chain of notes.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { CodedFailure, Result } from "../../core/base/result.ts";
import type { Signer } from "../../core/ports/stores/signing.ts";
import { namesIn, PRIVATE, PUBLIC, prepareKeyFolder, readOwn, removeOwn, writeOnce } from "./key-files.ts";
import { keyTextOf, publicKeyOf, signerOf } from "./key-text.ts";

export interface AuditKeys {
  /** The log's first key, to which verification is pinned. */
  readonly first: string;
  /** All of them, oldest first; the last is current. */
  readonly keys: readonly string[];
  /** The notes that lead from one to the next. */
  readonly rotations: readonly string[];
  readonly signer: Signer;
  /** Creates the next key, already on disk. It has no effect until `rotate`. */
  prepare(): KeyResult<string>;
  /**
   * The note, signed by the current key, names the prepared key as the next. Once the note is on disk the new key is
   * current and the old private key is deleted. Returns the new keys; this object is out of date then.
   */
  rotate(next: string, note: string): KeyResult<AuditKeys>;
}

export type KeyResult<T> = Result<T, CodedFailure<"audit_unavailable">>;

const rotationsMax = 10_000;

/**
 * `state` is our state folder. The first key is created on first use; two processes that do so at once end with the
 * same one.
 */
export function openAuditKeys(state: string): KeyResult<AuditKeys> {
  const folder = join(state, "keys");
  return attempt(() => {
    const wrong = prepareKeyFolder(folder);
    if (wrong !== null) return refused(wrong);
    const there = readOwn(join(folder, "first"), 0o022);
    if (!there.ok && there.isThere) return refused(there.message);
    if (!there.ok) {
      const made = makeKey(folder);
      if (!writeOnce(folder, "first", `${made}\n`, PUBLIC)) removeOwn(folder, [`${numberOf(made)}.key`]);
    }
    return load(folder);
  });
}

function load(folder: string): KeyResult<AuditKeys> {
  const first = readOwn(join(folder, "first"), 0o022);
  if (!first.ok) return refused(first.message);
  const keys = [first.text.trimEnd()];
  const rotations: string[] = [];
  for (;;) {
    const key = keys.at(-1) as string;
    if (publicKeyOf(key) === null) return refused(`a file in ${folder} names a key that is not valid`);
    const note = readOwn(join(folder, `${numberOf(key)}.next`), 0o022);
    if (!note.ok && note.isThere) return refused(note.message);
    if (!note.ok) break;
    const next = nextIn(note.text);
    if (next === null || keys.includes(next) || keys.length > rotationsMax)
      return refused(`${join(folder, `${numberOf(key)}.next`)} does not name a valid next key`);
    keys.push(next);
    rotations.push(note.text);
  }
  const current = keys.at(-1) as string;
  const privateKey = readPrivate(folder, current);
  if (!privateKey.ok) return privateKey;
  // Private keys are left by an interruption between the note and the deletion; public halves by earlier versions, and
  // nothing checks them.
  removeOwn(folder, [
    ...keys.slice(0, -1).map((key) => `${numberOf(key)}.key`),
    ...keys.map((key) => `${numberOf(key)}.pub`),
  ]);
  return { ok: true, value: keysOf(folder, keys, rotations, privateKey.value) };
}

function keysOf(folder: string, keys: readonly string[], rotations: readonly string[], key: KeyObject): AuditKeys {
  const signer = signerOf(key);
  return {
    first: keys[0] as string,
    keys,
    rotations,
    signer,
    prepare: () =>
      attempt(() => {
        // Keys that were prepared and never used.
        const known = new Set(keys.map(numberOf));
        const left = namesIn(folder).filter(
          (name) => /^[0-9a-f]{8}\.(key|pub)$/.test(name) && !known.has(name.slice(0, 8)),
        );
        removeOwn(folder, left);
        return { ok: true, value: makeKey(folder) };
      }),
    rotate: (next, note) =>
      attempt(() => {
        if (nextIn(note) !== next || keys.includes(next)) return refused("the checkpoint does not name this key");
        const prepared = readPrivate(folder, next);
        if (!prepared.ok) return prepared;
        if (!writeOnce(folder, `${numberOf(signer.key)}.next`, note, PUBLIC))
          return refused("this key has already named its successor");
        return load(folder);
      }),
  };
}

/** A new private key on disk; its public half is in `first` or in a note. */
function makeKey(folder: string): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = keyTextOf(privateKey);
  const text = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  if (!writeOnce(folder, `${numberOf(key)}.key`, text, PRIVATE))
    throw new Error("a key with this number already exists; try again");
  return key;
}

function readPrivate(folder: string, key: string): KeyResult<KeyObject> {
  const path = join(folder, `${numberOf(key)}.key`);
  const read = readOwn(path, 0o077);
  if (!read.ok) return refused(read.message);
  try {
    const found = createPrivateKey(read.text);
    return keyTextOf(found) === key ? { ok: true, value: found } : refused(`${path} is not the private half of ${key}`);
  } catch {
    return refused(`${path} does not contain a private key`);
  }
}

function numberOf(key: string): string {
  return key.split("+")[1] ?? "";
}

/** The key that a note names as the next. */
function nextIn(note: string): string | null {
  const next = /^next (ambit-audit-key\+\S+)$/m.exec(note)?.[1] ?? "";
  return publicKeyOf(next) === null ? null : next;
}

function attempt<T>(act: () => KeyResult<T>): KeyResult<T> {
  try {
    return act();
  } catch (error) {
    const why = errorCode(error) === "unknown" && error instanceof Error ? error.message : errorCode(error);
    return refused(`the keys of the log cannot be stored (${why})`);
  }
}

function refused(message: string): CodedFailure<"audit_unavailable"> {
  return { ok: false, code: "audit_unavailable", message };
}
