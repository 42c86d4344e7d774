// Findings for people and for programs: grouped by what they are about, with the line, what it means, and the fix.

import { compactText } from "../../core/notation/printer.ts";
import { place, type Source } from "../../core/notation/source.ts";
import type { Section } from "../../doctor/examine.ts";
import { type Finding, kindOf } from "../../doctor/finding.ts";
import { DIAGNOSTICS, type Page } from "../explain/pages.ts";
import { visibleText } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";
import { renderSpan } from "../terminal/render.ts";
import { FINDINGS } from "./pages.ts";

type Sources = ReadonlyMap<string, Source>;

export function sectionText(section: Section, sources: Sources, paint: Paint): string {
  const { title, file, findings, leftOut, accepted, passed } = section;
  const beside = file === null ? "" : `  ${paint.dim(visibleText(file))}`;
  return [
    `${paint.strong(visibleText(title))}${beside}`,
    ...passed.map((text) => `  ${paint.good("✓")} ${visibleText(text)}`),
    ...findings.flatMap((finding) => findingLines(finding, sources, paint)),
    ...accepted.map(({ code, reason }) => paint.dim(`  · ${code} is accepted: ${visibleText(reason)}`)),
    ...(leftOut === 0 ? [] : [paint.dim(`  · and ${leftOut} more`)]),
  ].join("\n");
}

function findingLines(finding: Finding, sources: Sources, paint: Paint): readonly string[] {
  const { code, message, span, suggestion, fix } = finding;
  const source = span === null ? undefined : sources.get(span.source);
  const lead = `    ${paint.dim("=")}`;
  return [
    `  ${mark(finding, paint)} ${paint.strong(code)}: ${visibleText(message)}`,
    ...(source === undefined ? [] : renderSpan(span, source, paint).map((line) => `    ${line}`)),
    `${lead} ${visibleText(meaningOf(finding))}`,
    ...(suggestion === null ? [] : [`${lead} did you mean ${paint.strong(visibleText(suggestion))}?`]),
    ...(fix === null || fix === suggestion ? [] : fixLines(fix, lead)),
  ];
}

/** A fix of several lines stands below its word, so that it can be copied. */
function fixLines(fix: string, lead: string): readonly string[] {
  const lines = fix.split("\n").map(visibleText);
  return lines.length === 1
    ? [`${lead} fix: ${lines[0]}`]
    : [`${lead} fix:`, ...lines.map((line) => `        ${line}`)];
}

function mark({ severity }: Finding, paint: Paint): string {
  switch (severity) {
    case "error":
      return paint.bad("✗");
    case "warning":
      return paint.warn("⚠");
    case "info":
      return paint.dim("·");
  }
}

/** What it means here, or what the page of its code says. */
function meaningOf({ code, meaning }: Finding): string {
  const pages: Readonly<Record<string, Page>> = { ...DIAGNOSTICS, ...FINDINGS };
  return meaning ?? pages[code]?.means ?? "";
}

export function showSection(section: Section, sources: Sources): object {
  const { about, title, file, findings, leftOut, accepted, passed, failed, warnings } = section;
  return {
    about,
    title,
    file,
    passed,
    failed,
    warnings,
    findings: findings.map((finding) => showFinding(finding, sources)),
    accepted: accepted.map(({ code, reason }) => ({ code, reason })),
    leftOut,
  };
}

function showFinding(finding: Finding, sources: Sources): object {
  const { code, severity, agent, file, span, message, suggestion, fix, grants } = finding;
  const source = span === null ? undefined : sources.get(span.source);
  const at = span === null || source === undefined ? { line: null, column: null } : place(source, span.start);
  return {
    code,
    kind: kindOf(code),
    severity,
    agent,
    // What is told about an agent may stand in a configuration: a line is one of the text it is counted in.
    file: source?.name ?? file,
    ...at,
    message,
    meaning: meaningOf(finding),
    suggestion,
    fix,
    grants: grants.map(compactText),
  };
}
