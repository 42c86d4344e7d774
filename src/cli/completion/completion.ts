// `ambit __complete -- words...`: what the last word could be. Quick, and never a failure: a shell asks at every Tab.

import { SCHEMA_NAMES } from "../../agents/schema/schema.ts";
import { CATALOG, scopeKeys, verbEntry } from "../../core/authority/catalog.ts";
import { newestPreset, PRESETS } from "../../core/notation/record/presets.ts";
import { conditionKeys } from "../../core/notation/scope/conditions.ts";
import { DENIALS, DIAGNOSTICS } from "../explain/pages.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { SHELLS } from "./scripts.ts";

/** As much of the command line's own description as is needed here; commander's commands have this shape. */
export interface CommandShape {
  readonly commands: readonly CommandShape[];
  readonly options: readonly OptionShape[];
  readonly registeredArguments: readonly ArgumentShape[];
  name(): string;
  description(): string;
}

interface ArgumentShape {
  readonly variadic: boolean;
  readonly argChoices?: readonly string[] | undefined;
  name(): string;
}

interface OptionShape {
  readonly long?: string | null | undefined;
  readonly short?: string | null | undefined;
  readonly description: string;
  readonly hidden: boolean;
  /** Takes a value, or may take one. */
  readonly required: boolean;
  readonly optional: boolean;
  readonly argChoices?: readonly string[] | undefined;
}

export interface CompletionPorts {
  /** Ids of the agents of the workspace. */
  agentIds(): readonly string[];
  print(text: string): void;
}

interface Candidate {
  readonly text: string;
  readonly about: string;
}

const candidatesMax = 1000;
const wordsMax = 1000;
/** The line that tells the shell's script to offer names of files too. */
const FILES = ":files";

/** One candidate a line, what it means behind a tab. A name that a shell could read as more than a name is left out. */
export function complete(ports: CompletionPorts, program: CommandShape, words: readonly string[]): ExitCode {
  try {
    const { candidates, files } = answer(ports, program, words.slice(0, wordsMax));
    const typed = words.at(-1) ?? "";
    const fitting = candidates.filter(
      ({ text }) => text.startsWith(typed) && PLAIN.test(text.slice(quoteOf(typed).length)),
    );
    const lines = fitting.slice(0, candidatesMax).map(({ text, about }) => `${text}\t${about.replace(/\s+/g, " ")}`);
    if (files) lines.push(FILES);
    if (lines.length > 0) ports.print(lines.join("\n"));
  } catch {
    // No completion is a valid result; an error message in the middle of a command line is not.
  }
  return EXIT.ok;
}

const PLAIN = /^[\p{L}\p{N}_./@+:={,[\]-]+$/u;

interface Answer {
  readonly candidates: readonly Candidate[];
  readonly files: boolean;
}

const NOTHING: Answer = { candidates: [], files: false };

function answer(ports: CompletionPorts, program: CommandShape, words: readonly string[]): Answer {
  const typed = words.at(-1) ?? "";
  let command = program;
  const given: string[] = [];
  let waiting: OptionShape | null = null;
  for (const word of words.slice(0, -1)) {
    if (waiting !== null) waiting = null;
    else if (word === "--") return NOTHING;
    else if (word.startsWith("-")) waiting = takesValue(optionOf(command, word), word);
    else {
      const inner = given.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (inner === undefined) given.push(word);
      else command = inner;
    }
  }
  if (waiting !== null) return valuesOf(waiting.long?.replace(/^--/, "") ?? "", waiting.argChoices, [], typed, ports);
  if (typed.startsWith("-")) return { candidates: optionsOf(command), files: false };
  if (given.length === 0 && command.commands.length > 0) return { candidates: commandsOf(command), files: false };
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[given.length] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) return NOTHING;
  const before = given.slice(command.registeredArguments.indexOf(argument));
  return valuesOf(kindOf(command, argument), argument.argChoices, before, typed, ports);
}

function optionOf(command: CommandShape, word: string): OptionShape | undefined {
  return command.options.find(({ long, short }) => long === word || short === word);
}

function takesValue(option: OptionShape | undefined, word: string): OptionShape | null {
  return option?.required === true && !word.includes("=") ? option : null;
}

function optionsOf(command: CommandShape): readonly Candidate[] {
  const own = command.options.flatMap(({ long, hidden, description }) =>
    hidden || typeof long !== "string" ? [] : [{ text: long, about: description }],
  );
  return [...own, { text: "--help", about: "show help with examples" }];
}

/** Names that begin with two underscores are for programs. */
function commandsOf(command: CommandShape): readonly Candidate[] {
  return command.commands
    .filter((one) => !one.name().startsWith("__"))
    .map((one) => ({ text: one.name(), about: one.description() }));
}

/** Arguments are known by their names, and those that are only called a name by their command. */
function kindOf(command: CommandShape, argument: ArgumentShape): string {
  return argument.name() === "name" ? command.name() : argument.name();
}

function valuesOf(
  kind: string,
  choices: readonly string[] | undefined,
  before: readonly string[],
  typed: string,
  ports: CompletionPorts,
): Answer {
  if (choices !== undefined) return only(choices.map((text) => ({ text, about: "" })));
  switch (kind) {
    case "agent":
    case "agents":
      return { candidates: agentsOf(ports), files: /[./]/.test(typed) };
    case "request":
      return before.length === 0 ? only(VERBS) : requestValues(before[0] as string, ports);
    case "spec":
    case "specs":
    case "can":
      return only(specsOf(typed));
    case "verb":
      return only(VERBS);
    case "explain":
      return only([...CODES, ...VERBS]);
    case "schema":
      return only(SCHEMA_NAMES.map((text) => ({ text, about: "" })));
    case "shell":
      return only(SHELLS.map((text) => ({ text, about: "" })));
    case "preset":
      return only(presetWords());
    case "before":
    case "after":
    case "file":
    case "files":
    case "path":
    case "from":
      return { candidates: [], files: true };
    default:
      return NOTHING;
  }
}

function only(candidates: readonly Candidate[]): Answer {
  return { candidates, files: false };
}

function requestValues(verb: string, ports: CompletionPorts): Answer {
  if (verb.startsWith("agent.")) return only(agentsOf(ports));
  return verb.startsWith("fs.") ? { candidates: [], files: true } : NOTHING;
}

function agentsOf(ports: CompletionPorts): readonly Candidate[] {
  return ports.agentIds().flatMap((text) => (text.startsWith("-") ? [] : [{ text, about: "agent" }]));
}

const VERBS: readonly Candidate[] = CATALOG.map(({ verb, effect, risk }) => ({
  text: verb,
  about: `${effect} (${risk} risk)`,
}));

const CODES: readonly Candidate[] = [
  ...Object.keys(DENIALS).map((text) => ({ text, about: "denial" })),
  ...Object.keys(DIAGNOSTICS).map((text) => ({ text, about: "diagnostic" })),
];

/** A spec's keys are offered inside quotes only: without them a shell has its own meaning for braces. */
function specsOf(typed: string): readonly Candidate[] {
  const quote = quoteOf(typed);
  const inside = /^(.*?([\w.]+)\{(?:[^{}]*,)?)(\w*)$/.exec(typed);
  const verb = inside === null ? null : verbEntry((inside[2] as string).replace(/^["']/, ""));
  if (quote === "") return VERBS;
  if (inside === null) return VERBS.map(({ text, about }) => ({ text: `${quote}${text}`, about }));
  if (verb === null || /\[[^\]]*$/.test(inside[1] as string)) return [];
  const keys = [...scopeKeys(verb).map((key) => `${key}=`), ...conditionKeys(verb)];
  return keys.map((key) => ({ text: `${inside[1]}${key}`, about: `of ${verb.verb}` }));
}

function quoteOf(typed: string): string {
  return /^["']/.exec(typed)?.[0] ?? "";
}

/** Each preset once, by its name; it stands for the newest version. */
function presetWords(): readonly { readonly text: string; readonly about: string }[] {
  const names = new Set([...PRESETS.keys()].map((key) => key.replace(/^ambit:|@\d+$/g, "")));
  return [...names].map((text) => ({ text, about: newestPreset(text) ?? "" }));
}
