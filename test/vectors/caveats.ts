// Caveats as the bridle files show them: partial, with omitted axes meaning everything.
import type { Chain } from "../../src/core/authority/chain.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { type CaveatsLink, readCaveats } from "../../src/core/notation/caveats/caveats.ts";
import { caveatsOf } from "../../src/core/notation/caveats/caveats-printer.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { treeOf } from "./json-tree.ts";
import { linkOf, PATH_SETTINGS, READING } from "./machine.ts";

const TOP: JsonObject = {
  fs_read: "all",
  fs_write: "all",
  exec: "all",
  net: "all",
  max_calls: "unlimited",
  valid_for_generation: "all",
};

export function wholeCaveats(part: JsonObject): JsonObject {
  return { ...TOP, ...part };
}

/** Throws for a document that is refused as a whole: the rows contain none. */
export function caveatsLink(part: JsonObject, reading: Reading = READING): CaveatsLink {
  const { link, diagnostics } = readCaveats(treeOf(wholeCaveats(part)), reading);
  if (link === null) throw new Error(`the caveats were refused: ${diagnostics.map((one) => one.message).join("; ")}`);
  return link;
}

/** The granted caveats, then those the tool requires. */
export function caveatsChain(granted: CaveatsLink, required: CaveatsLink | null): Chain {
  const own = linkOf(granted.grants, { id: "granted", calls: granted.calls, validity: validityOf(granted) });
  if (required === null) return [own];
  return [
    own,
    linkOf(required.grants, { id: "required", calls: required.calls, validity: validityOf(required) }, "limit"),
  ];
}

function validityOf({ generations }: CaveatsLink): typeof ALWAYS {
  return { ...ALWAYS, generations };
}

/** The meet of both, printed back as caveats; null if caveats cannot express it. */
export function printCaveats(grants: CaveatsLink["grants"], links: readonly CaveatsLink[]): JsonObject | null {
  const calls = links.flatMap((link) => (link.calls === null ? [] : [link.calls]));
  const limits = links.flatMap((link) => (link.generations === null ? [] : [link.generations]));
  const generations =
    limits.length === 0 ? null : limits.reduce((left, right) => left.filter((one) => right.includes(one)));
  const printed = caveatsOf(
    grants,
    calls.length === 0 ? null : Math.min(...calls),
    generations,
    PATH_SETTINGS.protectedPaths,
  );
  return printed === null ? null : normalCaveats(printed as unknown as JsonObject);
}

/** Lists are sets. */
export function normalCaveats(caveats: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(caveats).map(([axis, scope]) => [axis, normalScope(scope)]));
}

export function normalScope(scope: Json): Json {
  const only = (scope as { only?: unknown } | null)?.only;
  return Array.isArray(only) ? { only: [...new Set(only as Json[])].sort() } : scope;
}
