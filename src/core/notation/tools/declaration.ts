// A tool's declaration of what it touches, read as a requirement. What is not declared is not touched.
import type { Grant } from "../../authority/grant.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { kindName } from "../scope/scope-values.ts";
import type { Entry, TreeNode } from "../tree.ts";
import { PART_READERS, type Part, type PartGrants } from "./declaration-readers.ts";

export { readPersonality } from "../record/personality.ts";
export type { Part } from "./declaration-readers.ts";

export interface ToolRequirement {
  /** Each carries the part it comes from in `implied`. */
  readonly grants: readonly Grant[];
  readonly parts: readonly Part[];
  /** Parts that take whatever the policy allows (`*`, `from-personality`): there is nothing to hold them against. */
  readonly inherited: readonly Part[];
}

export interface DeclarationReading {
  /** Null: not understood, so the tool must not run. */
  readonly requirement: ToolRequirement | null;
  readonly diagnostics: readonly Diagnostic[];
}

export function readDeclaration(node: TreeNode, reading: Reading): DeclarationReading {
  const diagnostics = new Diagnostics();
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a declaration is a map of what a tool touches, not ${kindName(node)}`, {
      fix: "{}",
    });
    return { requirement: null, diagnostics: diagnostics.list };
  }
  const asked = node.entries.map((entry) => readPart(entry, reading, diagnostics));
  const understood = asked.filter((part) => part !== null).flat();
  const requirement: ToolRequirement = {
    grants: understood.flatMap((part) => part.grants),
    parts: understood.map(({ part }) => part),
    inherited: understood.flatMap(({ part, inherits }) => (inherits ? [part] : [])),
  };
  return { requirement: asked.includes(null) ? null : requirement, diagnostics: diagnostics.list };
}

/** An unknown member has no effect, so it is a warning only. */
function readPart(
  { key, keySpan, value }: Entry,
  reading: Reading,
  diagnostics: Diagnostics,
): readonly PartGrants[] | null {
  const read = PART_READERS.get(key);
  if (read !== undefined) return read(value, reading, diagnostics);
  diagnostics.warning(
    "unknown_key",
    keySpan,
    `${quoteText(key)} is not something a tool can declare; it is not provided`,
    { suggestion: nearestName(key, [...PART_READERS.keys()]) },
  );
  return [];
}
