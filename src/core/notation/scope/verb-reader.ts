// The verb of a grant by its name.
import { CATALOG, type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import type { Span } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";

const VERBS: readonly string[] = CATALOG.map((entry) => entry.verb);

/** Names the seed once used, and what they are called now. */
const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ["shell.exec", "proc.exec"],
  ["shell.eval", "proc.eval"],
]);

export function readVerb(name: string, span: Span, diagnostics: Diagnostics): VerbEntry | null {
  const today = DEPRECATED.get(name);
  if (today !== undefined) {
    diagnostics.warning("deprecated", span, `\`${name}\` is called \`${today}\` now`, {
      suggestion: today,
      fix: today,
    });
  }
  const entry = verbEntry(today ?? name);
  if (entry === null) {
    const shown = JSON.stringify(name.slice(0, 80));
    const message = name.includes("*")
      ? `${shown} is not a capability: wildcards in verbs are not allowed, list each verb`
      : name.includes(".")
        ? `unknown capability ${shown}`
        : `${shown} is not a capability; an example is net.get`;
    diagnostics.error("unknown_verb", span, message, { suggestion: nearestVerb(name) });
  }
  return entry;
}

/** One of the same family where that exists: `memory.delete` never means `net.delete`. */
export function nearestVerb(name: string): string | null {
  const family = VERBS.filter((verb) => verb.startsWith(name.slice(0, name.indexOf(".") + 1)));
  return nearestName(name, family.length === 0 ? VERBS : family);
}

/** The verb a text is about even where it is not understood: by its name, its old name, or the nearest one. */
export function meantVerb(name: string): string | null {
  return verbEntry(name)?.verb ?? DEPRECATED.get(name) ?? nearestVerb(name);
}

/** A name of today or of the seed, as against a guess. */
export function isVerb(name: string): boolean {
  return verbEntry(name) !== null || DEPRECATED.has(name);
}
