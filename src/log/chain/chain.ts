// A hash chain: each hash covers its entry and all entries before it.
import type { Digest } from "../../core/ports/digest.ts";

/** The previous hash of the first entry. */
export const ZERO_HASH: string = "0".repeat(64);

/** The previous hash is always 64 characters, so no other pair of texts concatenates to the same one. */
export function chainHash(digest: Digest, previous: string, body: string): string {
  return digest(`${previous}\n${body}`);
}

/** Whether it has the form that `chainHash` produces. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
