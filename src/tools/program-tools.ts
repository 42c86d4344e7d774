// The built-in tools that run programs, as the gate knows them: what one call of each asks for.
import { parseArgv } from "../authority/argv.ts";
import { verbEntry } from "../authority/catalog.ts";
import type { JsonObject } from "../authority/json.ts";
import { type Ground, parsePath } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { done, type Result, refuse } from "../authority/result.ts";
import type { Value } from "../authority/scope.ts";
import type { KnownTool, ToolLookup } from "../tool/known-tool.ts";

export type ProgramToolName = "proc_exec" | "proc_eval" | "sandbox_exec";

const NAMES: readonly string[] = ["proc_exec", "proc_eval", "sandbox_exec"] satisfies readonly ProgramToolName[];

export function isProgramTool(name: string): name is ProgramToolName {
  return NAMES.includes(name);
}

/** What a call of one of them is about. `in` is the root: a folder, and everything below it. */
export type ProgramInput =
  | { readonly argv: readonly string[]; readonly in: string; readonly root: "ro" | "rw" }
  | { readonly line: string; readonly in: string; readonly root: "ro" | "rw" }
  | { readonly argv: readonly string[] };

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
      requests: (input) => one("sandbox.exec", onlyKnown(input, ["argv"]), NOWHERE, argvOf(input)),
    },
  ];
  return (name) => tools.find((tool) => tool.name === name) ?? null;
}

/** The shell that runs a line. It is inside the walls like any program; only its absence would be news. */
export const SHELL: readonly [string, string] = ["/bin/sh", "-c"];

export function argvOfInput(input: ProgramInput): readonly [string, ...string[]] | null {
  if ("line" in input) return [...SHELL, input.line];
  const [program, ...rest] = input.argv;
  return program === undefined ? null : [program, ...rest];
}

interface Where {
  readonly root: Value;
  readonly mode: string;
}

const NOWHERE: Result<Where | null> = done(null);

function where(input: JsonObject, ground: Ground): Result<Where | null> {
  const { in: folder, root } = input;
  if (typeof folder !== "string" || (root !== "ro" && root !== "rw"))
    return refuse("bad_value", "`in` is a folder and `root` is ro or rw");
  const path = parsePath(folder, ground);
  return path.ok ? done({ root: path.value, mode: root }) : path;
}

function argvOf({ argv }: JsonObject): Result<Value> {
  if (!Array.isArray(argv) || !argv.every((word): word is string => typeof word === "string"))
    return refuse("bad_value", "`argv` is a list of texts");
  return parseArgv(argv);
}

function lineOf({ line }: JsonObject): Result<Value> {
  const argv = typeof line === "string" ? parseArgv([...SHELL, line]) : null;
  return argv === null ? refuse("bad_value", "`line` is a text") : argv;
}

/** A member nobody knows is nobody's to approve. */
function onlyKnown(input: JsonObject, known: readonly string[]): Result<null> {
  const odd = Object.keys(input).find((key) => !known.includes(key));
  return odd === undefined ? done(null) : refuse("bad_value", `${JSON.stringify(odd.slice(0, 64))} is not an argument`);
}

/** The values in the order of the verb's axes; what a verb has no axis for is not part of the request. */
function one(
  name: string,
  members: Result<null>,
  place: Result<Where | null>,
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
