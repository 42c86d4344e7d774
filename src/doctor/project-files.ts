// What a program is given beside its own grant: files of the project that it runs and the agent may write, and patterns of
// `fs.read` that no sandbox can hold for it.
import { argvPatternText } from "../core/authority/axes/argv.ts";
import { pathPatternText, pathText } from "../core/authority/axes/path.ts";
import type { Grant } from "../core/authority/grant.ts";
import { intersectSequences } from "../core/authority/patterns/intersect.ts";
import { pathPatterns, unheldPatterns } from "../core/authority/patterns/tree-patterns.ts";
import { literalPrefix } from "../core/notation/policy/ceiling.ts";
import { runsProjectFiles } from "../core/notation/record/project-programs.ts";
import { isLive, patternsOf, scopeOf } from "./breadth.ts";
import { isOpen } from "./commands.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

const shownMax = 4;

/** Grants that run unasked what the agent may have written; the presets ask for the same commands. */
export function scriptsWithoutApproval(
  grants: readonly Grant[],
  about: FindingSubject,
  now: number,
): readonly Finding[] {
  const written = grants.filter(
    (grant) => grant.verb.verb === "fs.write" && grant.conditions.ask === 0 && isLive(grant, now),
  );
  return grants.flatMap((grant) => {
    if (grant.verb.verb !== "proc.exec" || grant.conditions.ask > 0 || !isLive(grant, now)) return [];
    // A star in place of the program or the script has a finding of its own.
    const patterns = patternsOf(grant, "argv").filter((pattern) => runsProjectFiles(pattern) && !isOpen(pattern));
    if (patterns.length === 0 || !written.some((one) => isBeside(one, grant))) return [];
    return [
      newFinding("unasked_script", about, {
        message: `${shown(patterns.map(argvPatternText))} executes files of the project, without approval`,
        meaning: "The agent may write those files, so it decides what the program does inside the sandbox.",
        fix: "ask: true on the grant, or `fs.write` outside the files that it runs",
        grants: [grant],
      }),
    ];
  });
}

/** Both reach a folder in common. */
function isBeside(write: Grant, run: Grant): boolean {
  if (scopeOf(write, "path")?.kind === "any" || scopeOf(run, "root")?.kind === "any") return true;
  return patternsOf(write, "path").some((left) =>
    patternsOf(run, "root").some((right) => (intersectSequences(left, right, true)?.length ?? 1) > 0),
  );
}

/** Programs are refused in a root of which `fs.read` covers a part that is neither folders nor single files. */
export function unenforceableReads(grants: readonly Grant[], about: FindingSubject, now: number): readonly Finding[] {
  const live = grants.filter((grant) => isLive(grant, now));
  const reads = live.filter(({ verb }) => verb.verb === "fs.read");
  const patterns = reads.flatMap((grant) => pathPatterns(scopeOf(grant, "path") ?? undefined));
  const runs = live.filter(({ verb }) => verb.verb === "proc.exec" || verb.verb === "proc.eval");
  const roots = runs.flatMap((grant) => patternsOf(grant, "root").map(literalPrefix));
  const root = roots.find((one) => unheldPatterns(patterns, one).length > 0);
  if (root === undefined) return [];
  const unheld = unheldPatterns(patterns, root);
  return [
    newFinding("unheld_read", about, {
      message: `a sandbox cannot enforce ${shown(unheld.map(pathPatternText))} for programs in ${pathText(root)}`,
      meaning: "Programs see only what `fs.read` covers, so programs are refused there.",
      fix: "use whole folders in `fs.read`, such as `docs/**`, or single files",
      grants: reads.filter((grant) =>
        pathPatterns(scopeOf(grant, "path") ?? undefined).some((one) => unheld.includes(one)),
      ),
    }),
  ];
}

function shown(texts: readonly string[]): string {
  const more = texts.length > shownMax ? ` and ${texts.length - shownMax} more` : "";
  return `${texts
    .slice(0, shownMax)
    .map((text) => `\`${text}\``)
    .join(", ")}${more}`;
}
