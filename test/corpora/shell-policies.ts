// The requirements of each kind of policy: the answer of our rules against the one the case expects.

import { parseScript } from "../../src/tools/shell/language/parse.ts";
import { argvText } from "../../src/tools/shell/language/print.ts";
import type { ShellRefusal } from "../../src/tools/shell/language/refusal.ts";
import { requestsOf } from "../../src/tools/shell/needs.ts";
import { type Data, list, text, texts } from "./data.ts";
import type { ShellCase } from "./shell.ts";
import { reasonToAllow } from "./shell-differences.ts";
import { type Answer, answerFor, authorityOf, commandsOf, prefixPattern, preset } from "./shell-fixture.ts";
import { compareAnswers, HELD, type Outcome } from "./tally.ts";

const lists = "we have lists of what is allowed only";

/** Reading files in the project is what these commands do; writing one is more. */
const looking = authorityOf([...preset("ambit:read-only-commands"), "fs.read"]);
const coder = authorityOf(preset("ambit:coder"));

export function readOnly(given: ShellCase): Outcome {
  const { commands, expect } = given;
  const ours = "ok" in commands ? "deny" : answerFor(looking, commands);
  if (expect !== "allow" && ours === "allow" && !("ok" in commands)) {
    const reason = reasonToAllow(commands.map(({ argv }) => argv));
    if (reason !== null) return { kind: "decided", reason };
  }
  return against(given, ours);
}

/** Only the language is tested: whatever it reduces to argument vectors is allowed. */
export function plainWords(given: ShellCase): Outcome {
  if (given.line === null) return { kind: "skipped", reason: "not a line" };
  const parsed = parseScript(given.line, "words");
  const needs = parsed.ok ? requestsOf(parsed.script) : parsed;
  return against({ ...given, commands: needs.ok ? needs.commands : needs }, needs.ok ? "allow" : "deny");
}

/** Rules of allowed prefixes. What is refused or needs approval there is not granted here. */
export function prefixes(given: ShellCase): Outcome {
  const { policy, commands } = given;
  const rules = list(policy, "rules");
  if (text(policy, "default") === "allow") return { kind: "skipped", reason: lists };
  const prefixed = (decides: (decision: string | null) => boolean): readonly Data[] =>
    rules.filter((rule) => decides(text(rule, "decision")));
  const allowed = prefixed((decision) => decision === "allow");
  const others = prefixed((decision) => decision !== "allow").map((rule) => text(rule, "prefix") ?? "");
  if (others.some((other) => allowed.some((rule) => other.startsWith(text(rule, "prefix") ?? ""))))
    return { kind: "skipped", reason: lists };
  if ("ok" in commands) return against(given, "deny");
  const writing = allowed.filter((rule) => rule["allow_redirection"] === true);
  const answers = commands.map((command) =>
    command.writes.length === 0
      ? answerFor(authorityOf(prefixSpecs(allowed)), [command])
      : answerFor(authorityOf([...prefixSpecs(writing), "fs.write{in=/}"]), [command]),
  );
  return against(given, answers.every((answer) => answer === "allow") ? "allow" : "deny");
}

function prefixSpecs(rules: readonly Data[]): readonly string[] {
  const patterns = rules.map((rule) => prefixPattern(text(rule, "prefix") ?? "")).filter((each) => each !== null);
  return patterns.length === 0 ? [] : [patternsSpec(patterns)];
}

/** A list of programs. What our patterns allow is then confined by the sandbox, which is not tested here. */
export function programs(given: ShellCase): Outcome {
  const { policy, commands, expect } = given;
  const named = ["allowed_cmds", "bins", "bin", "allow", "allowed", "cmds"].flatMap((key) => texts(policy[key]) ?? []);
  const patterns = named.map(prefixPattern).filter((each) => each !== null);
  if (patterns.length === 0) return { kind: "skipped", reason: "no program is named" };
  const ours = "ok" in commands ? "deny" : answerFor(authorityOf([patternsSpec(patterns)]), commands);
  if (expect !== "allow" && ours === "allow") return { kind: "skipped", reason: "left to the sandbox, not tried here" };
  return against(given, ours);
}

/** Destructive commands are never run without approval; prose that makes them harmless is not evaluated. */
export function destructive(given: ShellCase): Outcome {
  if (given.expect === "allow") return { kind: "skipped", reason: "depends on what the person meant" };
  return against(given, "ok" in given.commands ? "deny" : answerFor(coder, given.commands));
}

/** As a vector, one program with its literal arguments; the same text as a line, never another program. */
export function asLiteral({ argv, policy }: ShellCase): Outcome {
  if (argv === null) return { kind: "skipped", reason: "not a vector" };
  const again = commandsOf(argvText(argv));
  const isSame = !("ok" in again) && again.length === 1 && JSON.stringify(again[0]?.argv) === JSON.stringify(argv);
  if (!isSame) return { kind: "missed", note: "the vector as a quoted line is another vector" };
  const line = commandsOf(argv.join(" "));
  if ("ok" in line) return HELD;
  const allowed = texts(policy["allowed_cmds"]) ?? [argv[0] as string];
  const authority = authorityOf([`proc.exec{cmds=[${allowed.map((each) => JSON.stringify(each)).join(",")}]}`]);
  const isOther = line.some((command) => !allowed.includes(command.argv[0]) || command.writes.length > 0);
  return isOther && answerFor(authority, line) === "allow" ? { kind: "missed", note: "a second program" } : HELD;
}

function patternsSpec(patterns: readonly string[]): string {
  return `proc.exec{patterns=[${patterns.map((each) => JSON.stringify(each)).join(",")}]}`;
}

/** Asking and refusing both count as not allowing. */
function against({ expect, commands, argv }: ShellCase, ours: Answer): Outcome {
  if (expect !== "allow" || ours === "allow") return compareAnswers(expect === "allow", ours === "allow", ours);
  if ("ok" in commands && isInexpressible(commands)) return { kind: "inexpressible", reason: commands.construct };
  const wrapped = "ok" in commands ? argv : commands.map((command) => command.argv).find(isWrapped);
  if (wrapped !== null && wrapped !== undefined && isWrapped(wrapped))
    return { kind: "inexpressible", reason: "a shell inside" };
  return { kind: "refused", note: "ok" in commands ? commands.construct : "not covered" };
}

/** What the language deliberately omits. It has variables and patterns; here their values are unknown. */
function isInexpressible({ class: kind, construct }: ShellRefusal): boolean {
  return kind === "dynamic" || kind === "unsupported" || construct === "shell_word" || construct === "assignment";
}

function isWrapped([program, option]: readonly string[]): boolean {
  return /^(?:.*\/)?(?:ba|da|z|k)?sh$/.test(program ?? "") && /^-[a-z]*c[a-z]*$/.test(option ?? "");
}
