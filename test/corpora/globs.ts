// globs.json: patterns and inputs from glob libraries, against our path patterns.
import { type PathSettings, parsePath, parsePathPatterns } from "../../src/core/authority/axes/path.ts";
import { sequenceMatches } from "../../src/core/authority/patterns/sequence.ts";
import { cases, type Data, flag, groupBy, nameOf, text } from "./data.ts";
import { type GlobInput, globDifferences } from "./globs-differences.ts";
import { fromRoot, glob, predictedMatch } from "./globs-reference.ts";
import { type Case, compareAnswers, type Group, HELD, type Outcome } from "./tally.ts";

/** The folder for relative patterns and inputs. Deep enough, and with a name that no case has. */
const base: readonly string[] = ["the-folder-of-globs", "deeper"];

/** The cases are about patterns alone: nothing is protected here. */
const pathSettings: PathSettings = { home: ["home", "user"], base, protectedPaths: [] };

export function runGlobs(file: Data): readonly Group[] {
  const libraries = groupBy(cases(file), (each) => (text(each, "lib") ?? "unknown").split(" ")[0] as string);
  return [...libraries].map(([library, rows]) => ({
    corpus: "globs",
    group: library,
    cases: rows.map((row, at): Case => {
      const shown = JSON.stringify([row["pattern"], row["input"], row["opts"] ?? null]);
      return { name: nameOf(row, at), shown, outcome: outcome(row) };
    }),
  }));
}

function outcome(row: Data): Outcome {
  const [pattern, input, expected] = [text(row, "pattern"), text(row, "input"), flag(row, "match")];
  if (pattern === null || input === null || expected === null) return { kind: "skipped", reason: "no text to match" };
  const ours = matches(pattern, input);
  const rule = glob(pattern, `/${base.join("/")}`);
  if (!rule.ok) {
    if (ours === "not in the language") return { kind: "decided", reason: `not in the language: ${rule.reason}` };
    return { kind: "missed", note: `read although it has ${rule.reason}` };
  }
  if (ours === "not in the language") return compareAnswers(expected, false, "pattern refused");
  if (ours === expected) return HELD;
  const given: GlobInput = { pattern, input, options: optionsOf(row), library: text(row, "lib") ?? "" };
  const reason = globDifferences.find(({ holds }) => holds(given))?.name;
  const foreseen = predictedMatch(rule.of, input, `/${base.join("/")}`);
  if (foreseen === ours && reason !== undefined) return { kind: "decided", reason };
  return compareAnswers(expected, ours, "no named difference");
}

/** Options that are on, or set to anything but false. */
function optionsOf(row: Data): readonly string[] {
  const options = row["opts"];
  if (typeof options !== "object" || options === null) return [];
  return Object.entries(options).flatMap(([name, value]) => (value === false || value === null ? [] : [name]));
}

/** An absolute pattern is relative to `/`, a relative one to the base; every input to the base. */
function matches(pattern: string, input: string): boolean | "not in the language" {
  const patterns = parsePathPatterns(pattern, fromRoot(pattern) ? [] : base, pathSettings);
  if (!patterns.ok) return "not in the language";
  const path = parsePath(input, pathSettings);
  return path.ok && patterns.value.some((each) => sequenceMatches(each, path.value));
}
