// A signed note of the number of entries and the last hash. Its format is that of transparency logs (C2SP signed-note
// and checkpoint), so that other witnesses can read it.

import { base64Bytes, base64Text } from "../../core/base/bytes.ts";
import type { Signer } from "../../core/ports/stores/signing.ts";
import { isHash } from "./chain.ts";

export interface Checkpoint {
  /** The node that owns the log. */
  readonly node: string;
  /** The number of entries, which is the position of the last. */
  readonly size: number;
  /** Of the last entry, in hexadecimal. */
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The key that signs from here on; null if it stays the same. */
  readonly next: string | null;
  /** Whether every commit of the log is signed from here on: then no entry follows the last note. */
  readonly isEveryCommitSigned?: true;
}

export interface SignedCheckpoint extends Checkpoint {
  /** Number of the signing key. */
  readonly keyNumber: string;
  /** The signed text, and the signature. */
  readonly signed: string;
  readonly signature: Uint8Array;
}

export const noteCharactersMax = 1024;

/** Throws for a node or a key that cannot be encoded: both are ours. */
export function makeCheckpoint(checkpoint: Checkpoint, signer: Signer): string {
  const number = keyNumber(signer.key);
  const signed = signedText(checkpoint);
  if (number === null || !isSpelled(checkpoint)) throw new TypeError("this checkpoint cannot be written");
  const signature = new Uint8Array([...bytesOfHexadecimal(number), ...signer.sign(signed)]);
  return `${signed}\n— ${KEY_NAME} ${base64Text(signature)}\n`;
}

/** Null for any text that `makeCheckpoint` does not write. Does not check the signature. */
export function parseCheckpoint(text: string): SignedCheckpoint | null {
  const match = text.length > noteCharactersMax ? null : SHAPE.exec(text);
  if (match === null) return null;
  const [, node = "", size = "", root = "", at = "", every, next = null, signatureText = ""] = match;
  const [hash, signature] = [base64Bytes(root), base64Bytes(signatureText)];
  if (hash?.length !== 32 || signature?.length !== 68) return null;
  const isEveryCommitSigned = every === undefined ? {} : ({ isEveryCommitSigned: true } as const);
  const checkpoint = {
    node,
    size: Number(size),
    hash: hexadecimalOf(hash),
    at: Number(at),
    next,
    ...isEveryCommitSigned,
  };
  if (!isSpelled(checkpoint)) return null;
  return {
    ...checkpoint,
    keyNumber: hexadecimalOf(signature.subarray(0, 4)),
    signed: signedText(checkpoint),
    signature: signature.subarray(4),
  };
}

const KEY_SHAPE = /^(ambit-audit-key)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;

export const KEY_NAME = "ambit-audit-key";

/**
 * Eight hexadecimal digits, or null if it is not a key. Two keys may share a number: a signature is checked with the
 * key.
 */
export function keyNumber(key: string): string | null {
  return KEY_SHAPE.exec(key)?.[2] ?? null;
}

const NODE = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";
const EVERY = "signs every commit\n";
const SHAPE = new RegExp(
  `^ambit audit (${NODE})\\n(0|[1-9]\\d{0,15})\\n([A-Za-z0-9+/=]{44})\\ntime (0|[1-9]\\d{0,15})\\n` +
    `(${EVERY})?(?:next ([a-z0-9+/A-Z-]{1,100})\\n)?\\n— ${KEY_NAME} ([A-Za-z0-9+/=]{92})\\n$`,
);
const NODE_ONLY = new RegExp(`^${NODE}$`);

function signedText({ node, size, hash, at, next, isEveryCommitSigned }: Checkpoint): string {
  const root = base64Text(bytesOfHexadecimal(hash));
  const every = isEveryCommitSigned === true ? EVERY : "";
  return `ambit audit ${node}\n${size}\n${root}\ntime ${at}\n${every}${next === null ? "" : `next ${next}\n`}`;
}

function isSpelled({ node, size, hash, at, next }: Checkpoint): boolean {
  return (
    NODE_ONLY.test(node) &&
    [size, at].every((each) => Number.isSafeInteger(each) && each >= 0) &&
    isHash(hash) &&
    (next === null || keyNumber(next) !== null)
  );
}

export function hexadecimalOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Of an even number of characters that the caller has checked. */
export function bytesOfHexadecimal(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** In the format of signed notes: a name, the key's number, and the key after a byte for its kind. */
