// What the state knows about its key without having it: where it comes from, how a passphrase is tested, and which keys
// were used before, each under the one after it. With the last one a re-sealing that was cut short can be read.

import { decrypt, encrypt } from "./sealing.ts";
import type { StateKey } from "./sealing-key.ts";
import { type Cost, isCost, keyOf } from "./sealing-key.ts";

export const KEY_SETTING = "secrets.key";
/** More than this many interruptions in a row, and the next one is refused. */
export const previousMax = 64;

export interface KeyRecord {
  readonly source: "file" | "passphrase";
  readonly keyId: string;
  readonly passphrase: { readonly salt: string; readonly cost: Cost; readonly verifier: string } | null;
  readonly previous: readonly PreviousKey[];
}

export interface PreviousKey {
  readonly keyId: string;
  readonly sealed: string;
}

export function recordText(record: KeyRecord): string {
  return JSON.stringify(record);
}

/** Null where it does not read: the store counts as locked then. */
export function readRecord(text: string): KeyRecord | null {
  try {
    const record = JSON.parse(text) as KeyRecord;
    const isPassphrase = record.source === "passphrase";
    if ((!isPassphrase && record.source !== "file") || typeof record.keyId !== "string") return null;
    if (!Array.isArray(record.previous) || record.previous.length > previousMax) return null;
    if (isPassphrase !== (record.passphrase !== null)) return null;
    if (record.passphrase !== null && !isCost(record.passphrase.cost)) return null;
    return record;
  } catch {
    return null;
  }
}

const aboutPrevious = (keyId: string): Buffer => Buffer.from(JSON.stringify(["ambit previous key", keyId]));

export function wrapPrevious(previous: StateKey, key: StateKey): PreviousKey {
  const sealed = encrypt(previous.bytes, key.bytes, aboutPrevious(previous.id)).toString("base64");
  return { keyId: previous.id, sealed };
}

/** Those that open; the others are as good as gone. */
export function previousKeys({ previous }: KeyRecord, key: StateKey): readonly StateKey[] {
  return previous.flatMap(({ keyId, sealed }) => {
    const bytes = decrypt(Buffer.from(sealed, "base64"), key.bytes, aboutPrevious(keyId));
    return bytes === null ? [] : [keyOf(bytes)];
  });
}
