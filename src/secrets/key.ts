// The state key: 32 bytes with an id, random or derived from a passphrase.
import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";

export interface StateKey {
  readonly id: string;
  readonly bytes: Buffer;
}

export const keyBytes = 32;
export const passphraseCharactersMin = 8;
export const passphraseCharactersMax = 1024;

/** How expensive a guess is. Stored with the derived key, so that it can be raised later. */
export interface Cost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

export const COST: Cost = { n: 32_768, r: 8, p: 3 };
const costMax: Cost = { n: 1_048_576, r: 16, p: 16 };

export function isCost({ n, r, p }: Cost): boolean {
  const isWhole = [n, r, p].every((one) => Number.isInteger(one) && one >= 1);
  return isWhole && n >= 16_384 && (n & (n - 1)) === 0 && n <= costMax.n && r >= 8 && r <= costMax.r && p <= costMax.p;
}

export function newKey(): StateKey {
  return keyOf(randomBytes(keyBytes));
}

export function keyOf(bytes: Buffer): StateKey {
  return { id: createHmac("sha256", bytes).update("ambit key id").digest("hex").slice(0, 32), bytes };
}

export function notAPassphrase(text: string): string | null {
  const count = [...text].length;
  if (count < passphraseCharactersMin) return `a passphrase has at least ${passphraseCharactersMin} characters`;
  return count > passphraseCharactersMax ? `a passphrase has at most ${passphraseCharactersMax} characters` : null;
}

export function newSalt(): Buffer {
  return randomBytes(16);
}

/** Slow on purpose, and off the event loop. */
export function stretchPassphrase(passphrase: string, salt: Uint8Array, { n, r, p }: Cost): Promise<Buffer> {
  return new Promise((give, fail) => {
    const options = { N: n, r, p, maxmem: 256 * n * r };
    scrypt(passphrase.normalize("NFC"), salt, keyBytes, options, (error, key) => {
      if (error === null) give(key);
      else fail(error);
    });
  });
}

/** Checks that a key is the right one, and reveals nothing else about it. */
export function verifierOf(stretchedKey: Uint8Array): Buffer {
  return createHmac("sha256", stretchedKey).update("ambit verifier").digest();
}

export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
