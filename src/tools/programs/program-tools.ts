// proc_exec, proc_eval and sandbox_exec: one program in a sandbox, with one result.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import { ROOT_WORDS, type RootWord } from "../../core/authority/axes/root-word.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { ProgramOptions } from "../../runtime/context/programs.ts";
import { requestOf, SHELL, type ToolRequest } from "../../runtime/context/tool-request.ts";
import { invalid, useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, requestsFor } from "../../runtime/tool/builtin.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { choiceSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import { outputOf, programAnswer } from "./program-output.ts";

export type ProgramToolName = "proc_exec" | "proc_eval" | "sandbox_exec";

const NAMES: readonly string[] = ["proc_exec", "proc_eval", "sandbox_exec"] satisfies readonly ProgramToolName[];

export function isProgramTool(name: string): name is ProgramToolName {
  return NAMES.includes(name);
}

interface ProgramToolDefinition {
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

const PROGRAM_TOOL_DEFINITIONS: readonly ProgramToolDefinition[] = [
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

export const PROGRAM_TOOLS: readonly BuiltinTool[] = PROGRAM_TOOL_DEFINITIONS.map((definition) => ({
  ...definition,
  requests: (input, reading) => {
    const asked = programCall(definition.name, input);
    return asked.ok ? requestsFor(reading, asked.value) : asked;
  },
  execute: async (input, { process }) => {
    const argv = argvOfInput(input);
    if (argv === null) return invalid(null, "not a program that can be run");
    const { line, in: folder, root } = input as ProgramWords;
    const options: ProgramOptions = { in: folder, root, millisecondsMax: null, truncate: true };
    const ran =
      definition.name === "sandbox_exec"
        ? await process.isolated(argv, { millisecondsMax: null, truncate: true })
        : await (line === undefined ? process.run(argv, options) : process.evaluate(line, options));
    if (!ran.ok) return ran;
    return useResult(programAnswer({ ...ran.value, changes: [ran.value.changes] }, outputOf(ran.value)));
  },
}));

interface ProgramWords {
  readonly argv?: readonly string[];
  readonly line?: string;
  readonly in?: string;
  readonly root?: RootWord;
}

/** INVARIANT: the input passed the tool's own schema, or is a `ProgramInput`. */
function programCall(name: ProgramToolName, input: JsonObject): Result<ToolRequest> {
  const { argv = [], line = "", in: folder, root } = input as ProgramWords;
  switch (name) {
    case "proc_exec":
      return done({ verb: "proc.exec", argv, in: folder, root });
    case "proc_eval":
      return done({ verb: "proc.eval", line, in: folder, root });
    case "sandbox_exec": {
      const { code, language } = input;
      if (code === undefined && language === undefined) return done({ verb: "sandbox.exec", argv });
      if (typeof code !== "string" || input["argv"] !== undefined)
        return refuse("bad_value", "give either `argv` or `code` with its `language`");
      const whole = argvOfInput(input);
      return whole === null
        ? refuse("bad_value", `\`language\` must be one of ${LANGUAGES.join(", ")}`)
        : done({ verb: "sandbox.exec", argv: whole });
    }
    default:
      return name satisfies never;
  }
}

/** The request of one call, for a client that shows or judges it beforehand. */
export function programRequest(name: ProgramToolName, input: ProgramInput, pathSettings: PathSettings): Request | null {
  const asked = programCall(name, { ...input });
  const request = asked.ok ? requestOf(asked.value, { pathSettings, toAscii: (host) => host, tool: name }) : asked;
  return request.ok ? request.value : null;
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
