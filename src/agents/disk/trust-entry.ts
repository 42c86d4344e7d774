// Parses a trust file, or null: a text that differs from our own format was not written by us.
import type { Roots, TrustedFile } from "../../core/ports/trust.ts";

export const VERSION = 1;

const rootsMax = 100_000;
const shownMax = 100_000;

export function readProjectEntry(text: string | null, workspace: string): { readonly digest: string } | null {
  const map = mapOf(text, workspace);
  return map !== null && isDigest(map["digest"]) ? { digest: map["digest"] } : null;
}

/** Null also for the entry of another path under this name. */
export function readTrustedEntry(text: string | null, workspace: string, path: string): TrustedFile | null {
  const map = mapOf(text, workspace);
  if (map === null || map["path"] !== path) return null;
  const { text: trusted, roots, digest, config, shown } = map;
  if (typeof trusted !== "string" || !isRoots(roots) || !isDigest(digest)) return null;
  if ((config !== null && !isDigest(config)) || (shown !== undefined && !isTexts(shown))) return null;
  return { path, text: trusted, roots, digest, config, ...(shown === undefined ? {} : { shown }) };
}

/** The path that an entry is about. */
export function readPath(text: string | null, workspace: string): string | null {
  const path = mapOf(text, workspace)?.["path"];
  return typeof path === "string" ? path : null;
}

function mapOf(text: string | null, workspace: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = text === null ? null : JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    const map = value as Readonly<Record<string, unknown>>;
    return map["version"] === VERSION && map["workspace"] === workspace ? map : null;
  } catch {
    return null;
  }
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= shownMax && value.every((one) => typeof one === "string");
}

function isRoots(value: unknown): value is Roots {
  const isPath = (one: unknown): boolean => typeof one === "string" && one.startsWith("/");
  return (
    Array.isArray(value) &&
    value.length <= rootsMax &&
    value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && isPath(pair[0]) && (pair[1] === null || isPath(pair[1])),
    )
  );
}
