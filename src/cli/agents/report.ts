// What an edit of an agent's authority does, for people and for programs.

import type { EditResult } from "../../agents/edit/edit.ts";
import { type AuthorityEdit, more } from "../../agents/edit/edit-check.ts";
import type { Risk, VerbEntry } from "../../core/authority/catalog.ts";
import { compactText, grantWords } from "../../core/notation/printer.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { type ChangedLine, changedLines } from "../diff/text-change.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { riskText } from "./risk.ts";

type EditedRecord = Extract<EditResult, { kind: "edited" }>;

export interface EditReport {
  readonly agent: string;
  readonly file: string;
  readonly action: AuthorityEdit["kind"];
  readonly spec: string;
  readonly risk: Risk;
  readonly effect: string;
  readonly changed: true;
  /** Shorthands that are spelled out by it. */
  readonly dissolved: readonly string[];
  /** Grants, as specs. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly lines: readonly ChangedLine[];
}

export function reportOf(agent: string, file: string, before: string, edited: EditedRecord): EditReport {
  const { edit } = edited;
  return {
    agent,
    file,
    action: edit.kind,
    spec: specOf(edit),
    risk: verbOf(edit).risk,
    effect: edit.kind === "grant" ? grantWords(edit.grant) : revokeWords(edit),
    changed: true,
    dissolved: edited.dissolved,
    before: edited.before.map(compactText),
    after: edited.after.map(compactText),
    lines: changedLines(before, edited.text),
  };
}

export function showReport(ports: CliPorts, report: EditReport, edited: EditedRecord): void {
  const { paint } = ports;
  const { protectedPaths } = ports.reading.pathSettings;
  const isGrant = report.action === "grant";
  const examples = isGrant
    ? more(edited.before, edited.after, protectedPaths)
    : more(edited.after, edited.before, protectedPaths);
  const row = (word: string, text: string): void => ports.print(`${word.padEnd(9)}${text}`);
  row("agent", `${paint.strong(visibleText(report.agent))}  ${paint.dim(visibleText(report.file))}`);
  row(report.action, paint.strong(visibleText(report.spec)));
  row("risk", riskText(paint, report.risk, report.risk.toUpperCase()));
  row("effect", visibleText(report.effect));
  const example = examples.find((one) => one.example !== null)?.example ?? null;
  if (example !== null) row("example", visibleText(requestText(example)));
  for (const one of besides(edited)) row(isGrant ? "with" : "without", visibleText(one));
  if (report.dissolved.length > 0) row("spelled", `out in the record from now on: ${report.dissolved.join(", ")}`);
  ports.print("");
  printLines(ports, report.lines);
  ports.print("");
}

/** The built-in tools come with an agent's first grant and go with its last; that is said, not left to be found. */
function besides({ before, after, edit }: EditedRecord): readonly string[] {
  const [from, to] = edit.kind === "grant" ? [before, after] : [after, before];
  if (from.length > 0) return [];
  return to.filter((grant) => grant.implied === "default" && grant.verb !== verbOf(edit)).map(compactText);
}

export function printLines({ paint, print }: CliPorts, lines: readonly ChangedLine[]): void {
  for (const { sign, text } of lines)
    print(`  ${sign === "+" ? paint.good(`+ ${visibleText(text)}`) : paint.bad(`- ${visibleText(text)}`)}`);
}

export function specOf(edit: AuthorityEdit): string {
  if (edit.kind === "grant") return compactText(edit.grant);
  return edit.part === null ? edit.verb.verb : compactText(edit.part.grant);
}

function verbOf(edit: AuthorityEdit): VerbEntry {
  return edit.kind === "grant" ? edit.grant.verb : edit.verb;
}

function revokeWords(edit: Extract<AuthorityEdit, { kind: "revoke" }>): string {
  const words = edit.part === null ? `${edit.verb.effect}: every grant of it` : grantWords(edit.part.grant);
  return `no longer ${words}`;
}
