// The built-in tools that run programs, for the gate: the requests of one call.

import { parseArgv } from "../core/authority/axes/argv.ts";
import { type Ground, parsePath } from "../core/authority/axes/path.ts";
import { isRootWord, ROOT_WORDS, ROOT_WORDS_TEXT, type RootWord } from "../core/authority/axes/root-word.ts";
import type { Value } from "../core/authority/axes/scope.ts";
import { verbEntry } from "../core/authority/catalog.ts";
import type { Request } from "../core/authority/request.ts";
import type { Json, JsonObject } from "../core/base/json.ts";
import { done, type Result, refuse } from "../core/base/result.ts";
import type { KnownTool, ToolLookup } from "../core/gate/known-tool.ts";
import type { JsonSchema } from "../runtime/tool/json-schema.ts";
import { choiceSchema, objectSchema, textSchema, textsSchema } from "../runtime/tool/schema-parts.ts";

export type ProgramToolName = "proc_exec" | "proc_eval" | "sandbox_exec";

const NAMES: readonly string[] = ["proc_exec", "proc_eval", "sandbox_exec"] satisfies readonly ProgramToolName[];

export function isProgramTool(name: string): name is ProgramToolName {
  return NAMES.includes(name);
}

export interface ProgramToolDefinition {
  readonly name: ProgramToolName;
  readonly description: string;
  readonly input: JsonSchema;
  readonly verbs: readonly string[];
}

const ARGV = textsSchema("The program and its arguments, one string each; no shell interprets them.", 1024, 131_072);
const WHERE = {
  in: textSchema("The folder to run in; the program sees no other folder of the machine.", 1, 4096),
  root: choiceSchema(
    "ro: the folder is read-only. rw: changes are applied when the program ends. live: changes are applied while it runs, for long-running programs.",
    ROOT_WORDS,
  ),
};

/** How code of a language is run; the program is looked up like any other. */
const INTERPRETERS: ReadonlyMap<Json | undefined, readonly [string, ...string[]]> = new Map([
  ["sh", ["/bin/sh", "-c"]],
  ["bash", ["bash", "-c"]],
  ["python", ["python3", "-c"]],
  ["javascript", ["node", "-e"]],
]);
const LANGUAGES = [...INTERPRETERS.keys()].map(String);
const LANGUAGE = choiceSchema("The language of `code`; default: sh.", LANGUAGES);

export const PROGRAM_TOOL_DEFINITIONS: readonly ProgramToolDefinition[] = [
  {
    name: "proc_exec",
    description:
      "Run one program, confined to a folder. Returns its exit status, its output, and the accesses that were denied while it ran.",
    input: objectSchema({ argv: ARGV, ...WHERE }, ["argv", "in", "root"]),
    verbs: ["proc.exec"],
  },
  {
    name: "proc_eval",
    description: "Run one shell line, confined to a folder. Prefer `shell` or `proc_exec` where they suffice.",
    input: objectSchema({ line: textSchema("The shell line.", 1, 131_072), ...WHERE }, ["line", "in", "root"]),
    verbs: ["proc.eval"],
  },
  {
    name: "sandbox_exec",
    description:
      "Run one program, or code in a language, in a temporary sandbox without access to any folder of this machine.",
    input: objectSchema({
      argv: ARGV,
      code: textSchema("The code, instead of `argv`.", 1, 131_072),
      language: LANGUAGE,
    }),
    verbs: ["sandbox.exec"],
  },
];

/** The input of one call. `in` is the root: a folder, and everything below it. */
export type ProgramInput =
  | { readonly argv: readonly string[]; readonly in: string; readonly root: RootWord }
  | { readonly line: string; readonly in: string; readonly root: RootWord }
  | { readonly argv: readonly string[] }
  | { readonly code: string; readonly language?: string };

export function programTools(ground: Ground): ToolLookup {
  const tools: readonly KnownTool[] = [
    {
      name: "proc_exec",
      requirement: null,
      requests: (input) =>
        one("proc.exec", onlyKnown(input, ["argv", "in", "root"]), where(input, ground), argvOf(input)),
    },
    {
      name: "proc_eval",
      requirement: null,
      requests: (input) =>
        one("proc.eval", onlyKnown(input, ["line", "in", "root"]), where(input, ground), lineOf(input)),
    },
    {
      name: "sandbox_exec",
      requirement: null,
      requests: (input) =>
        one("sandbox.exec", onlyKnown(input, ["argv", "code", "language"]), NOWHERE, codeOrArgv(input)),
    },
  ];
  return (name) => tools.find((tool) => tool.name === name) ?? null;
}

/** The shell that runs a line. It runs in the sandbox like any program. */
export const SHELL: readonly [string, string] = ["/bin/sh", "-c"];

/** The argument vector of an input; null if it has none. */
export function argvOfInput({ line, argv, code, language }: JsonObject): readonly [string, ...string[]] | null {
  if (typeof line === "string") return [...SHELL, line];
  if (typeof code === "string") {
    const interpreter = INTERPRETERS.get(language ?? "sh");
    return interpreter === undefined ? null : [...interpreter, code];
  }
  const [program, ...rest] = isTexts(argv) ? argv : [];
  return program === undefined ? null : [program, ...rest];
}

interface WorkingRoot {
  readonly root: Value;
  readonly mode: string;
}

const NOWHERE: Result<WorkingRoot | null> = done(null);

function where(input: JsonObject, ground: Ground): Result<WorkingRoot | null> {
  const { in: folder, root } = input;
  if (typeof folder !== "string" || !isRootWord(root))
    return refuse("bad_value", `\`in\` must be a folder and \`root\` ${ROOT_WORDS_TEXT}`);
  const path = parsePath(folder, ground);
  return path.ok ? done({ root: path.value, mode: root }) : path;
}

function argvOf({ argv }: JsonObject): Result<Value> {
  return isTexts(argv) ? parseArgv(argv) : refuse("bad_value", "`argv` must be a list of texts");
}

function codeOrArgv(input: JsonObject): Result<Value> {
  const { argv, code, language } = input;
  if (code === undefined && language === undefined) return argvOf(input);
  if (typeof code !== "string" || argv !== undefined)
    return refuse("bad_value", "give either `argv` or `code` with its `language`");
  const whole = argvOfInput(input);
  return whole === null ? refuse("bad_value", `\`language\` must be one of ${LANGUAGES.join(", ")}`) : parseArgv(whole);
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function lineOf({ line }: JsonObject): Result<Value> {
  const argv = typeof line === "string" ? parseArgv([...SHELL, line]) : null;
  return argv === null ? refuse("bad_value", "`line` must be a text") : argv;
}

/** An unknown member cannot be approved, so it is refused. */
function onlyKnown(input: JsonObject, known: readonly string[]): Result<null> {
  const odd = Object.keys(input).find((key) => !known.includes(key));
  return odd === undefined ? done(null) : refuse("bad_value", `${JSON.stringify(odd.slice(0, 64))} is not an argument`);
}

/** The values in the order of the verb's axes; a value without an axis is not part of the request. */
function one(
  name: string,
  members: Result<null>,
  place: Result<WorkingRoot | null>,
  argv: Result<Value>,
): Result<readonly Request[]> {
  const verb = verbEntry(name);
  if (verb === null) return refuse("bad_value", `there is no verb ${name}`);
  if (!members.ok) return members;
  if (!place.ok) return place;
  if (!argv.ok) return argv;
  const values = verb.axes.map((axis): Value => {
    if (axis.name === "argv") return argv.value;
    return axis.name === "mode" ? place.value?.mode : place.value?.root;
  });
  return done([{ verb, values }]);
}
