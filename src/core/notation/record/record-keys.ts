// The keys of a record that carry authority, and keys that look as if they were meant to be one of them.
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import type { Mapping } from "../tree.ts";

export const AUTHORITY_KEYS = [
  "capabilities",
  "access",
  "sandbox",
  "policy",
  "extends",
  "tests",
  "mode",
  "approvers",
  "land",
] as const;
export type AuthorityKey = (typeof AUTHORITY_KEYS)[number];

/** Keys every record may have; near to one of ours by accident only. */
const ORDINARY: readonly string[] = [
  ...["id", "class", "title", "tags", "description", "name", "model", "links", "created", "updated", "summary"],
];

/** Higher than for names inside a grant: a record has keys of its own, and `node` is not a misspelt `mode`. */
const misspeltSimilarityMin = 0.9;

/** Other words for the same thing, which people bring from other systems. */
const SYNONYMS: ReadonlyMap<string, AuthorityKey> = new Map([
  ["caps", "capabilities"],
  ["capability", "capabilities"],
  ["permissions", "capabilities"],
  ["grants", "capabilities"],
  ["allow", "capabilities"],
  ["test", "tests"],
  ["extend", "extends"],
  ["policies", "policy"],
  ["polices", "policy"],
  ["approver", "approvers"],
  ["approvedby", "approvers"],
]);

/** Case and separators never make another key. */
function meantKey(key: string, known: readonly string[]): string | null {
  const folded = key.toLowerCase().replace(/[^a-z]/g, "");
  return SYNONYMS.get(folded) ?? nearestName(folded, known, misspeltSimilarityMin);
}

/** The authority keys that were probably meant by keys that do not exist; each is an error. Other keys are the record's own. */
export function misspelledKeys(record: Mapping, diagnostics: Diagnostics): ReadonlySet<AuthorityKey> {
  const meant = new Set<AuthorityKey>();
  const known: readonly string[] = AUTHORITY_KEYS;
  for (const { key, keySpan } of record.entries) {
    if (known.includes(key) || ORDINARY.includes(key)) continue;
    const suggestion = meantKey(key, known);
    if (suggestion === null) continue;
    meant.add(suggestion as AuthorityKey);
    diagnostics.error("unknown_key", keySpan, `unknown key \`${key.slice(0, 80)}\``, { suggestion, fix: suggestion });
  }
  return meant;
}
