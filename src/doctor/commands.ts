// Programs that run whatever they are handed: under a star they make the list of programs meaningless.
import { argvPatternText } from "../core/authority/axes/argv.ts";
import type { Grant } from "../core/authority/grant.ts";
import type { Sequence } from "../core/authority/patterns/sequence.ts";
import { INTERPRETERS, isAside, LAUNCHERS, programName } from "../core/notation/record/project-programs.ts";
import { patternsOf } from "./breadth.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

/** Their scripts are read: a star matches only those that print, a program named as a whole takes any. */
const READ_SCRIPTS: ReadonlySet<string> = new Set(["awk", "gawk", "mawk", "sed"]);

const RUNNERS: ReadonlySet<string> = new Set([...INTERPRETERS, ...LAUNCHERS]);
const patternsShownMax = 4;

export function interpreterPatterns(grant: Grant, about: FindingSubject): Finding | null {
  if (grant.verb.verb !== "proc.exec") return null;
  const open = patternsOf(grant, "argv").filter(isOpen);
  if (open.length === 0) return null;
  const shown = open.slice(0, patternsShownMax).map((pattern) => `\`${argvPatternText(pattern)}\``);
  const more = open.length > patternsShownMax ? ` and ${open.length - patternsShownMax} more` : "";
  return newFinding("interpreter_pattern", about, {
    message: `${shown.join(", ")}${more} runs any program`,
    meaning: "The wildcard matches a script or another program, so the other patterns of the list limit nothing.",
    fix: 'name the script: patterns: ["python scripts/report.py **"]',
    grants: [grant],
  });
}

/** A star where the program, or the script it is to run, is named. */
export function isOpen(pattern: Sequence): boolean {
  const [program, ...rest] = pattern;
  if (program?.kind !== "literal") return true;
  const name = programName(program.text);
  if (READ_SCRIPTS.has(name)) return rest.some((segment) => segment.kind === "rest");
  if (!RUNNERS.has(name)) return false;
  const script = rest.find((segment) => segment.kind !== "literal" || !isAside(segment.text));
  return script !== undefined && script.kind !== "literal";
}
