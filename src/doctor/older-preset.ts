// Records that extend a preset of which there is a newer version.
import { newestPreset, PRESETS } from "../core/notation/record/presets.ts";
import { entryOf, type TreeNode } from "../core/notation/tree.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

const presetsMax = 32;

export function olderPresets(tree: TreeNode | null, about: FindingSubject): readonly Finding[] {
  const value = tree?.kind === "map" ? (entryOf(tree, "extends")?.value ?? null) : null;
  if (value === null) return [];
  return (value.kind === "list" ? value.items : [value]).slice(0, presetsMax).flatMap((item) => {
    const name = item.kind === "scalar" && typeof item.value === "string" ? item.value : "";
    const newest = PRESETS.has(name) ? newestPreset(name.replace(/^ambit:|@\d+$/g, "")) : null;
    if (newest === null || newest === name) return [];
    return [
      newFinding("older_preset", about, {
        message: `\`${name}\` has a newer version, \`${newest}\``,
        meaning: MEANINGS.get(name) ?? "A preset never changes; the newer version is a better one.",
        fix: `extends: ${newest}`,
        span: item.span,
        severity: MEANINGS.has(name) ? "warning" : "info",
      }),
    ];
  });
}

/** Versions that let an agent do something that the next one asks about. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["ambit:coder@1", "It runs `npm test` without asking, and the agent may have written what that runs."],
]);
