// Whether a file is still the one that was read: a short text that changes whenever the file does.
import { type BigIntStats, lstatSync } from "node:fs";

/** Null where there is no plain file. */
export function stampOf(path: string): string | null {
  try {
    const found = lstatSync(path, { bigint: true });
    return found.isFile() ? stampText(found) : null;
  } catch {
    return null;
  }
}

export function stampText({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}.${ino}.${size}.${mtimeNs}.${ctimeNs}`;
}

/**
 * A file may be written twice within one tick of the file system's clock and keep its stamp. Ticks are a few
 * milliseconds where times have fractions of a second, and up to two seconds where they do not.
 */
export function isSettled({ mtimeNs, ctimeNs }: BigIntStats, now: number): boolean {
  const second = 1_000_000_000n;
  const last = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const tick = mtimeNs % second === 0n && ctimeNs % second === 0n ? 2n * second : second / 20n;
  return last + tick < BigInt(now) * 1_000_000n;
}
