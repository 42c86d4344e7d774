// What the state records about its key without holding it: its source, how a passphrase is verified, and the previous
// keys, each sealed under its successor. With the last key an interrupted resealing can be read.

import { KEY_SOURCES, type KeySource } from "../core/ports/secret-key.ts";
import { sealedCharactersMax } from "./age.ts";
import { decrypt, encrypt } from "./envelope.ts";
import type { StateKey } from "./key.ts";
import { type Cost, isCost, keyOf } from "./key.ts";
import { parseReference, type Reference, referenceText } from "./references.ts";

export const KEY_SETTING = "secrets.key";
/** After this many interruptions in a row the next resealing is refused. */
export const previousMax = 64;

/** How a text is stretched into a key, and how the key is verified. */
export interface KeyDerivation {
  readonly salt: string;
  readonly cost: Cost;
  readonly verifier: string;
}

export interface AgeSealedKey {
  readonly recipient: string;
  /** The identity file that opens it; null if the user names one each time. */
  readonly identity: string | null;
  readonly sealed: string;
}

export interface KeyRecord {
  readonly source: KeySource;
  readonly keyId: string;
  /** Of a passphrase, or of the value of a reference. */
  readonly passphrase: KeyDerivation | null;
  readonly age: AgeSealedKey | null;
  readonly reference: Reference | null;
  readonly previous: readonly PreviousKey[];
}

export interface PreviousKey {
  readonly keyId: string;
  readonly sealed: string;
}

export const NO_PLACE: Pick<KeyRecord, "passphrase" | "age" | "reference" | "previous"> = {
  passphrase: null,
  age: null,
  reference: null,
  previous: [],
};

export function recordText(record: KeyRecord): string {
  return JSON.stringify(record);
}

/** Null if it cannot be parsed: the store then counts as locked. */
export function readRecord(text: string): KeyRecord | null {
  try {
    const read = JSON.parse(text) as Partial<KeyRecord>;
    const { source, keyId, previous, passphrase = null, age = null, reference = null } = read;
    if (source === undefined || !KEY_SOURCES.includes(source)) return null;
    if (typeof keyId !== "string" || !/^[0-9a-f]{32}$/.test(keyId)) return null;
    if (!Array.isArray(previous) || previous.length > previousMax) return null;
    if ((source === "passphrase" || source === "reference") !== (passphrase !== null)) return null;
    if ((source === "age") !== (age !== null) || (source === "reference") !== (reference !== null)) return null;
    if (passphrase !== null && !isCost(passphrase.cost)) return null;
    if (age !== null && !isAge(age)) return null;
    if (reference !== null && parseReference(referenceText(reference)) === null) return null;
    return { source, keyId, passphrase, age, reference, previous };
  } catch {
    return null;
  }
}

function isAge({ recipient, identity, sealed }: AgeSealedKey): boolean {
  const isNamed = identity === null || (typeof identity === "string" && identity.startsWith("/"));
  return isNamed && typeof recipient === "string" && typeof sealed === "string" && sealed.length <= sealedCharactersMax;
}

const aboutPrevious = (keyId: string): Buffer => Buffer.from(JSON.stringify(["ambit previous key", keyId]));

export function wrapPrevious(previous: StateKey, key: StateKey): PreviousKey {
  const sealed = encrypt(previous.bytes, key.bytes, aboutPrevious(previous.id)).toString("base64");
  return { keyId: previous.id, sealed };
}

/** Those that can be opened; the others are ignored. */
export function previousKeys({ previous }: KeyRecord, key: StateKey): readonly StateKey[] {
  return previous.flatMap(({ keyId, sealed }) => {
    const bytes = decrypt(Buffer.from(sealed, "base64"), key.bytes, aboutPrevious(keyId));
    return bytes === null ? [] : [keyOf(bytes)];
  });
}
