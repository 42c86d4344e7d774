// A chain of hashes: each hash stands for its entry and for everything before it.
import type { Digest } from "../../core/ports/digest.ts";

/** Stands before the first entry. */
export const ZERO_HASH: string = "0".repeat(64);

/** The hash before it is always 64 characters, so no other pair of texts joins to the same one. */
export function chainHash(digest: Digest, previous: string, body: string): string {
  return digest(`${previous}\n${body}`);
}

/** Spelled as `chainHash` spells it. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
