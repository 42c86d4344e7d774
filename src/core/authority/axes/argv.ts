// The argv axis: an argument vector matched token by token, never as text.
import { argvCharactersMax, argvTokensMax, patternCharactersMax, segmentsMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { ANY_TEXT, isPlainText } from "../patterns/reserved.ts";
import { DEEP, literal, REST, type Segment, segmentOf, segmentText } from "../patterns/segment.ts";
import type { Segments, Sequence } from "../patterns/sequence.ts";
import {
  commandRisk,
  endsOptions,
  isRiskyBundle,
  isRiskyOption,
  type Risk,
  riskOf,
  riskyCommands,
  takesDashlessOptions,
} from "../programs/risky.ts";
import { isRiskyScript } from "../programs/script-words.ts";
import { joinDeep } from "./path.ts";

export function parseArgv(argv: readonly string[]): Result<Segments> {
  const program = argv[0];
  if (program === undefined || program === "") return refuse("bad_value", "no program is named");
  if (argv.length > argvTokensMax) return refuse("too_long", `more than ${argvTokensMax} arguments`);
  let characters = 0;
  for (const token of argv) {
    characters += token.length;
    if (!isPlainText(token)) return refuse("bad_value", "an argument contains a character that is not allowed");
  }
  if (characters > argvCharactersMax)
    return refuse("too_long", `the arguments are longer than ${argvCharactersMax} characters`);
  return done(guardArgv(argv));
}

/** Options that make a program run another one, or write elsewhere, are guarded: no star matches them. */
export function guardArgv(argv: readonly string[]): Segments {
  const program = argv[0];
  const risk = program === undefined ? null : riskOf(program);
  if (program === undefined || risk === null) return { segments: argv, guarded: null };
  const risks = [risk, ...commandRisks(program, argv)];
  const end = endsOptions(program) ? argv.findIndex(isEnd) : -1;
  const guarded = argv.map((token, at) => {
    if (at === 0 || (end > 0 && at > end)) return false;
    if (at === 1 && isRiskyDashless(program, risk, token)) return true;
    return risks.some((one) => isRiskyOption(one, token)) || isRiskyScript(program, token);
  });
  return { segments: argv, guarded: guarded.includes(true) ? guarded : null };
}

/** A sub-command counts wherever it stands: options before it may take a value, which only the program knows. */
function commandRisks(program: string, argv: readonly string[]): readonly Risk[] {
  return riskyCommands(program)
    .filter((command) => argv.includes(command, 1))
    .flatMap((command) => commandRisk(program, command) ?? []);
}

function isRiskyDashless(program: string, risk: Risk, token: string): boolean {
  if (!takesDashlessOptions(program) || token.startsWith("-") || token.startsWith(ANY_TEXT)) return false;
  return isRiskyBundle({ ...risk, values: "" }, token);
}

/** `--` where it ends the options. Behind an option, or behind an unknown word, it may be that option's value. */
function isEnd(token: string, at: number, argv: readonly string[]): boolean {
  const before = argv[at - 1];
  return token === "--" && before !== undefined && !before.startsWith("-") && !before.includes(ANY_TEXT);
}

/** One entry of `cmds`: a program by the name it has on the PATH, or pinned by its path. Any arguments. */
export function parseProgram(text: string): Result<Sequence> {
  if (text === "" || text.length > patternCharactersMax || !isPlainText(text))
    return refuse("bad_value", `${JSON.stringify(text)} is not a program`);
  if (/[\s*]/.test(text))
    return refuse(
      "bad_pattern",
      `${JSON.stringify(text)} is not a single program`,
      `patterns: [${JSON.stringify(text)}]`,
    );
  if (text.includes("/") && (!text.startsWith("/") || /(^|\/)(\.{0,2})(\/|$)/.test(text.slice(1)))) {
    return refuse("bad_pattern", `${JSON.stringify(text)}: a program is a plain name or an absolute, normal path`);
  }
  return done([literal(text), REST]);
}

/**
 * One entry of `patterns`: words separated by spaces, each plain, in single quotes (as it stands) or in double
 * quotes (as a JSON string). `cmd:*` and a last ` *` are read as ` **`, a lone `*` as `**`.
 */
export function parseArgvPattern(text: string): Result<Sequence> {
  if (text.length > patternCharactersMax)
    return refuse("too_long", `the pattern is longer than ${patternCharactersMax} characters`);
  const short = /^([^\s*:"']+):\*$/.exec(text);
  const segments = short === null ? argvWords(text) : [literal(short[1] as string), DEEP];
  if (segments === null)
    return refuse(
      "bad_pattern",
      `${JSON.stringify(text)}: put the whole word in quotes, or no part of it`,
      'git commit -m "two words"',
    );
  if (segments.length === 0) return refuse("bad_pattern", "the pattern is empty");
  if (segments.length > segmentsMax) return refuse("too_long", `the pattern has more than ${segmentsMax} words`);
  if (!segments.every((segment) => isPlainText(segmentText(segment))))
    return refuse("bad_value", "the pattern contains a character that is not allowed in an argument");
  if (segments[segments.length - 1]?.kind === "one") segments[segments.length - 1] = DEEP;
  return done(joinDeep(segments));
}

function argvWords(text: string): Segment[] | null {
  const words = /\s*(?:("(?:[^"\\]|\\.)*")|'([^']*)'|([^\s"']+))(?=\s|$)/gsy;
  const segments: Segment[] = [];
  const end = text.trimEnd().length;
  while (words.lastIndex < end) {
    const word = words.exec(text);
    if (word === null) return null;
    const [, double, single, plain] = word;
    if (plain !== undefined) segments.push(segmentOf(plain));
    else if (single !== undefined) segments.push(literal(single));
    else {
      const value = unquoted(double as string);
      if (value === null) return null;
      segments.push(literal(value));
    }
  }
  return segments;
}

function unquoted(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}

export function argvPatternText(pattern: Sequence): string {
  const text = pattern.map(argvWordText).join(" ");
  // The one word `a:*` alone would be read as the program `a` with any arguments; two stars say the same and are not.
  return pattern.length === 1 && pattern[0]?.kind === "glob" && text.endsWith(":*") ? `${text}*` : text;
}

function argvWordText(segment: Segment): string {
  const text = segmentText(segment);
  return segment.kind === "literal" && (text === "" || /[\s*"'\\]/.test(text)) ? JSON.stringify(text) : text;
}

/** The program a pattern names as a whole, if that is what it does. */
export function programOf(pattern: Sequence): string | null {
  const [first, second] = pattern;
  return pattern.length === 2 && first?.kind === "literal" && second?.kind === "rest" ? first.text : null;
}
