// Decisions about programs, their arguments, and the names of secrets.

import { isRiskyOption, riskOf } from "../../src/core/authority/programs/risky.ts";
import { isJsonObject, type JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { commandWords, wordsMatch } from "./model-words.ts";
import { mapAt, mapOr, type Row, textAt, textsAt, textsOr, textsOrNull } from "./row.ts";
import { seedCommand, seedExec, seedSecret } from "./seed-rules.ts";

/** A program is a plain name, or an absolute path without `.` and `..`. */
function isProgram(text: string): boolean {
  return !text.includes("/") || (text.startsWith("/") && !/\/(\.{0,2})(\/|$)/.test(text));
}

function isNamed(programs: readonly string[], program: string): boolean {
  return programs.includes(program) && isProgram(program) && !/[\s*]/.test(program);
}

function executes(input: Row): JsonObject {
  const exec = input["exec"] ?? null;
  const only = isJsonObject(exec) ? textsOr(exec, "only", []) : [];
  return { allowed: exec === "all" || isNamed(only, textAt(input, "program")) };
}

const ARGV: readonly string[] = ["egghead-argv-pattern"];

/** In its folder, one of the programs or one of the patterns, word by word; a star matches no risky option. */
export function commandCovered(scope: JsonObject, argv: readonly string[]): boolean {
  const [cmds, patterns] = [textsOrNull(scope, "cmds"), textsOrNull(scope, "patterns")];
  if (cmds === null && patterns === null) return Object.hasOwn(scope, "in");
  if ((cmds ?? []).some((program) => isNamed([program], argv[0] ?? ""))) return true;
  return (patterns ?? [])
    .map(commandWords)
    .some((words) => wordsMatch(words, argv) && riskyWords(argv).every((word) => words.includes(word)));
}

function riskyWords(argv: readonly string[]): readonly string[] {
  const risk = riskOf(argv[0] ?? "");
  return risk === null ? [] : argv.slice(1).filter((word) => isRiskyOption(risk, word));
}

function runs(input: Row): JsonObject {
  return { expect: commandCovered(mapAt(input, "scope"), textsAt(input, "argv")) ? "allow" : "deny" };
}

function patternsOf(input: Row): readonly string[] {
  return textsOr(mapOr(input, "scope"), "patterns", []);
}

/** A star that is neither alone, nor the last word, nor `cmd:*`. */
function hasInnerStar(pattern: string): boolean {
  return commandWords(pattern).some((word) => word !== "**" && word.includes("*"));
}

/** A command on which text and words differ: an inner star, an argument with a space, a risky option, a program's path. */
export function isOddCommand(scope: JsonObject, argv: readonly string[]): boolean {
  const isOddWord = argv.some((word) => word === "" || /\s/.test(word)) || riskyWords(argv).length > 0;
  return (
    isOddWord ||
    textsOr(scope, "patterns", []).some(hasInnerStar) ||
    textsOr(scope, "cmds", []).some((program) => !isProgram(program))
  );
}

/** Name segments: a star that is a whole segment matches one; a star within text is literal. */
function secretMatches(entry: string, ref: string): boolean {
  const [pattern, segments] = [entry.split("/"), ref.split("/")];
  if (
    [...pattern, ...segments].some((segment) => /^\.{0,2}$/.test(segment) || (segment.includes("*") && segment !== "*"))
  )
    return false;
  return wordsMatch(pattern, segments) && !ref.includes("*");
}

export const COMMAND_DECISIONS: readonly Decision[] = [
  {
    record: "0007-programs-by-name",
    when: "the program is asked for by a path: only that very path, absolute and without detours, covers it",
    files: ["bridle-exec-scope"],
    holds: (input) => textAt(input, "program").includes("/") && input["exec"] !== "all",
    answer: executes,
    seed: seedExec,
  },
  {
    record: "0007-programs-by-name",
    when: "the program's name holds a star or a space, so no entry names it",
    files: ["bridle-exec-scope"],
    holds: (input) => /[\s*]/.test(textAt(input, "program")) && input["exec"] !== "all",
    answer: executes,
    seed: seedExec,
  },
  {
    record: "0007-programs-by-name",
    when: "the program is asked for by a path that is relative or has detours",
    files: ["ethos-process"],
    holds: (input) => !isProgram(textAt(input, "binary")),
    answer: (input) => ({ expect: textsAt(input, "allowedBinaries").includes("*") ? "allow" : "deny" }),
    seed: (input) => ({
      expect: ["*", textAt(input, "binary")].some((one) => textsAt(input, "allowedBinaries").includes(one))
        ? "allow"
        : "deny",
    }),
  },
  {
    record: "0006-argv-patterns",
    when: "a star is glued to a word or stands between words: it stays in its word",
    files: ARGV,
    holds: (input) => patternsOf(input).some(hasInnerStar),
    answer: runs,
    seed: (input) => ({ expect: seedCommand(mapAt(input, "scope"), textsAt(input, "argv")) ? "allow" : "deny" }),
  },
  {
    record: "0006-argv-patterns",
    when: "an argument holds a space or is empty: arguments are never joined",
    files: ARGV,
    holds: (input) => textsAt(input, "argv").some((word) => word === "" || /\s/.test(word)),
    answer: runs,
    seed: (input) => ({ expect: seedCommand(mapAt(input, "scope"), textsAt(input, "argv")) ? "allow" : "deny" }),
  },
  {
    record: "0006-argv-patterns",
    when: "an option makes the program run another one, and no pattern names it",
    files: ARGV,
    holds: (input) => riskyWords(textsAt(input, "argv")).length > 0,
    answer: runs,
    seed: (input) => ({ expect: seedCommand(mapAt(input, "scope"), textsAt(input, "argv")) ? "allow" : "deny" }),
  },
  {
    record: "0007-programs-by-name",
    when: "a program is listed by a path that is relative or has detours",
    files: ARGV,
    holds: (input) => textsOr(mapOr(input, "scope"), "cmds", []).some((program) => !isProgram(program)),
    answer: runs,
    seed: (input) => ({ expect: seedCommand(mapAt(input, "scope"), textsAt(input, "argv")) ? "allow" : "deny" }),
  },
  {
    record: "0010-names-and-tools",
    when: "a declared name has a star for a segment: it is one segment, wherever it stands",
    files: ["ethos-secrets"],
    holds: (input) => textsAt(input, "declared").some((entry) => entry.split("/").includes("*")),
    answer: (input) => ({
      expect: textsAt(input, "declared").some((entry) => secretMatches(entry, textAt(input, "ref"))) ? "allow" : "deny",
    }),
    seed: seedSecret,
  },
];
