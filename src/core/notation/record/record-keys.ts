// The keys of a record that carry authority, keys that look as if they were meant to be one of them, and scope keys
// that stand outside their grant.
import { CATALOG, scopeKeys } from "../../authority/catalog.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { CONDITION_KEYS } from "../scope/conditions.ts";
import { entryOf, type Mapping } from "../tree.ts";

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
  "room",
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
  ["deny", "policy"],
  ["denied", "policy"],
  ["forbid", "policy"],
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
  for (const { key, keySpan, value } of record.entries) {
    if (known.includes(key) || ORDINARY.includes(key)) continue;
    const nested = value.kind === "map" ? entryOf(value, "capabilities") : null;
    if (nested !== null) {
      meant.add("capabilities");
      const message = `\`capabilities\` belongs at the top level of a record, not below \`${key.slice(0, 80)}\``;
      diagnostics.error("bad_indentation", nested.keySpan, message, {
        fix: key === "spec" ? MANIFEST : "capabilities:",
      });
      continue;
    }
    if (ROOMS.includes(key.toLowerCase())) {
      const message = `\`${key.slice(0, 80)}\` has no effect; \`room\` lists the agents whose notes and denials are read`;
      diagnostics.warning("unknown_key", keySpan, message, { fix: "room: [scout]" });
      continue;
    }
    const suggestion = meantKey(
      key,
      known.filter((one) => one !== "room"),
    );
    if (suggestion === null) continue;
    meant.add(suggestion as AuthorityKey);
    diagnostics.error("unknown_key", keySpan, `unknown key \`${key.slice(0, 80)}\``, { suggestion, fix: suggestion });
  }
  return meant;
}

/** Other words for the transcript that agents share. They may also be keys of the record's own. */
const ROOMS: readonly string[] = ["room", "rooms", "transcript", "transcripts"];

/** How the snippet of a manifest becomes one. */
const MANIFEST = "write it to a .yml file that begins with `kind: AgentManifest`";

const SCOPE_KEYS: ReadonlySet<string> = new Set([...CATALOG.flatMap(scopeKeys), ...CONDITION_KEYS]);

export function isScopeKey(key: string): boolean {
  return SCOPE_KEYS.has(key);
}

/**
 * Whether scope keys stand at the top level of a record, where grants of it could have them and do not: one lost indent
 * makes `records.update: { classes: [note] }` a grant of every class. Each is an error.
 */
export function strayKeys(record: Mapping, omitted: ReadonlySet<string>, diagnostics: Diagnostics): boolean {
  const own: readonly string[] = [...AUTHORITY_KEYS, ...ORDINARY];
  const stray = record.entries.filter(({ key }) => omitted.has(key) && !own.includes(key));
  for (const { key, keySpan } of stray)
    diagnostics.error(
      "bad_indentation",
      keySpan,
      `\`${key}\` limits a capability only below its verb; until it is fixed, the record grants nothing`,
      { fix: `indent \`${key}\` below its verb` },
    );
  return stray.length > 0;
}
