// Parses the input of the `shell` tool to a script that could be run, or to the reason why not. Nothing is looked up
// here: the same input is always the same script.

import type { Json, JsonObject } from "../../../core/base/json.ts";
import type { CodedFailure } from "../../../core/base/result.ts";
import { requestsOf } from "../needs.ts";
import { stagesMax } from "./limits.ts";
import { parseScript } from "./parse.ts";
import { refusal, type ShellRefusal } from "./refusal.ts";
import { refusalText } from "./refusal-text.ts";
import { isPattern, type Part, type Script, type Word } from "./script.ts";
import { isKnownIn } from "./variables.ts";

export type ShellInput =
  | { readonly ok: true; readonly script: Script }
  /** `unsupported_command`: a shell may accept it, this tool does not. */
  | CodedFailure<"invalid_input" | "unsupported_command">;

export function readShellInput({ script, argv, root }: JsonObject): ShellInput {
  if ((script === undefined) === (argv === undefined)) return invalid("give either `script` or `argv`");
  if (isTexts(argv)) return argvScript(argv);
  if (typeof script !== "string") return invalid("`script` is a text, and `argv` is a list of texts");
  const parsed = parseScript(script);
  if (!parsed.ok) return refused(parsed, script);
  const problem = longPipeline(parsed.script) ?? unreadable(parsed.script) ?? latePattern(parsed.script, root === "rw");
  return problem === null ? { ok: true, script: parsed.script } : refused(problem, script);
}

/** Literal words: not even a pattern has a meaning in them. */
function argvScript(argv: readonly string[]): ShellInput {
  if (argv[0] === undefined || argv[0] === "") return invalid("`argv` must start with the name of a program");
  const range = { start: 0, end: 0 };
  const words = argv.map((text): Word => ({ parts: [{ kind: "quoted", text }], range }));
  return { ok: true, script: [{ after: ";", stages: [{ words, redirections: [], range }] }] };
}

/** What is refused whatever the values of variables and patterns. */
function unreadable(script: Script): ShellRefusal | null {
  const shape = script.map(({ after, stages }) => ({
    after,
    stages: stages.map(({ words, redirections, range }) => ({
      words: words.map((word, at) => (at === 0 ? word : shapeOf(word, "argument"))),
      redirections: redirections.map((one) =>
        one.kind === "join" ? one : { ...one, target: shapeOf(one.target, "target") },
      ),
      range,
    })),
  }));
  const needs = requestsOf(shape);
  return needs.ok ? null : needs;
}

/** Known variables and patterns as if they were literal text. */
function shapeOf(word: Word, as: "argument" | "target"): Word {
  const isChosen = as === "argument" && isPattern(word);
  const parts = word.parts.map((part): Part => {
    if (part.kind === "variable" && isKnownIn(part.name, as)) return { kind: "quoted", text: "x" };
    return isChosen && part.kind === "plain" ? { kind: "plain", text: part.text.replace(/[*?[]/g, "x") } : part;
  });
  return { parts, range: word.range };
}

/**
 * A pattern after a command that may have changed what it matches: patterns are expanded before anything runs, and a
 * shell would see the change. Commands of one pipeline are a race in a shell too.
 */
function latePattern(script: Script, isWritable: boolean): ShellRefusal | null {
  let isChanged = false;
  for (const { stages } of script) {
    for (const { words, redirections } of stages) {
      const late = isChanged ? words.slice(1).find(isPattern) : undefined;
      if (late !== undefined) return refusal("late_pattern", late.range);
      // A command's words are expanded before its own files are opened.
      if (redirections.some(({ kind }) => kind === "write")) isChanged = true;
    }
    if (isWritable) isChanged = true;
  }
  return null;
}

function longPipeline(script: Script): ShellRefusal | null {
  const stage = script.map(({ stages }) => stages[stagesMax]).find((one) => one !== undefined);
  return stage === undefined ? null : refusal("too_many_stages", stage.range);
}

function refused(problem: ShellRefusal, script: string): ShellInput {
  const isOurs = problem.class === "malformed" || problem.class === "too_long";
  return {
    ok: false,
    code: isOurs ? "invalid_input" : "unsupported_command",
    message: refusalText(problem, script),
  };
}

function invalid(message: string): ShellInput {
  return { ok: false, code: "invalid_input", message };
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
