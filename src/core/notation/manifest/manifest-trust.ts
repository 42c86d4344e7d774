// The trust level of a manifest: a ceiling that takes away what has no limit.

import type { Scope } from "../../authority/axes/scope.ts";
import type { Grant } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { entryOf, type Mapping } from "../tree.ts";

const TRUST_LEVELS = ["untrusted", "sandboxed", "trusted", "privileged"] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

/** Null: not understood. A level that is misspelt, in its key or its value, must not fall back to a wider one. */
export function readTrust(spec: Mapping, around: readonly Mapping[], diagnostics: Diagnostics): TrustLevel | null {
  const twisted = spec.entries.find(({ key }) => key !== "trust_level" && isTrustLike(key));
  const misplaced = around.flatMap((map) => map.entries).find(({ key }) => isTrustLike(key));
  const wrong = twisted ?? misplaced;
  if (wrong !== undefined) {
    const message = `${quoteText(wrong.key)} is not a key here; a level of trust is \`spec.trust_level\`, and nothing is granted`;
    diagnostics.error("unknown_key", wrong.keySpan, message, { suggestion: "trust_level" });
    return null;
  }
  const entry = entryOf(spec, "trust_level");
  if (entry === null) return "privileged";
  const value = entry.value.kind === "scalar" ? entry.value.value : null;
  const level = TRUST_LEVELS.find((one) => one === value);
  if (level !== undefined) return level;
  const suggestion = typeof value === "string" ? nearestName(value, TRUST_LEVELS) : null;
  diagnostics.error(
    "bad_value",
    entry.value.span,
    `\`trust_level\` is one of ${TRUST_LEVELS.join(", ")}; nothing is granted`,
    { suggestion },
  );
  return null;
}

function isTrustLike(key: string): boolean {
  return (
    nearestName(key.toLowerCase(), [...OTHER_KEYS, "trust_level", "trustlevel", "trust"])?.startsWith("trust") ?? false
  );
}

/** What else a manifest's `spec` has where it comes from; none of it grants or limits anything here. */
const OTHER_KEYS: readonly string[] = [
  "capabilities",
  "network",
  "task",
  "model",
  "runtime",
  "resources",
  "command",
  "env",
  "lifecycle",
  "secrets",
];

export function exceedsTrust(grant: Grant, trust: TrustLevel): boolean {
  if (trust === "privileged" || grant.verb.family === "internal" || !isUnlimited(grant)) return false;
  return trust !== "trusted" || grant.verb.verb === "secret.use";
}

/** Everything on the first axis, whether nothing was written or only stars: the two are the same authority. */
function isUnlimited({ scopes }: Grant): boolean {
  const first: Scope | undefined = scopes[0];
  if (first === undefined || first.kind === "any") return true;
  if (first.kind === "destinations") return first.everyPublic || first.ranges.some((range) => range.prefix < 8);
  if (first.kind !== "sequences") return false;
  return first.of.some((pattern) => pattern.every((segment) => segment.kind === "one" || segment.kind === "deep"));
}
