// Diagnostics as a good compiler shows them: the code, the place, the line with carets under it, and the fix.
import type { Span } from "../../core/authority/grant.ts";
import type { Diagnostic, Severity } from "../../core/notation/diagnostic.ts";
import { inside, lineAt, place, type Source } from "../../core/notation/source.ts";
import { cellsOf, visibleText } from "./cells.ts";
import { type Paint, PLAIN } from "./paint.ts";

/** Columns of a line that are shown; of those, as many before the span at most. */
const columnsMax = 120;
const columnsBeforeMax = 40;

/** INVARIANT: whatever text a diagnostic quotes, no control character, no reordering and no line of its own comes out. */
export function renderDiagnostic(diagnostic: Diagnostic, source: Source, paint: Paint = PLAIN): string {
  const { severity, code, message, span, suggestion, fix } = diagnostic;
  const lines = [`${painted(severity, paint)}[${code}]: ${visibleText(message)}`, ...renderSpan(span, source, paint)];
  if (suggestion !== null) lines.push(`  ${paint.dim("=")} did you mean ${paint.strong(visibleText(suggestion))}?`);
  if (fix !== null && fix !== suggestion) lines.push(...renderFix(fix, paint));
  return lines.join("\n");
}

/** A fix of several lines stands below its word, so that it can be copied. */
function renderFix(fix: string, paint: Paint): readonly string[] {
  const lead = `  ${paint.dim("=")} fix:`;
  const [first = "", ...more] = fix.split("\n").map(visibleText);
  return more.length === 0 ? [`${lead} ${first}`] : [lead, ...[first, ...more].map((line) => `      ${line}`)];
}

/** The place of a span, its line, and carets under it. Nothing for what stands in another text. */
export function renderSpan(span: Span | null, source: Source, paint: Paint = PLAIN): readonly string[] {
  if (span === null || span.source !== source.name) return [];
  const range = inside(source.text, span);
  const at = place(source, range.start);
  const line = lineAt(source, range.start);
  const start = Math.min(range.start, line.end);
  const end = Math.min(Math.max(range.end, start), line.end);
  // No column is narrower than one of a character's cells, so more text than columns is never needed.
  const before = cellsOf(source.text.slice(Math.max(line.start, start - columnsBeforeMax * 4), start));
  const marked = cellsOf(source.text.slice(start, Math.min(end, start + columnsMax * 4)));
  const after = cellsOf(source.text.slice(end, Math.min(line.end, end + columnsMax * 4)));

  const left = before.last(
    start - line.start > columnsMax / 2 || before.columns > columnsMax / 2 ? columnsBeforeMax : columnsMax,
  );
  const middle = marked.first(columnsMax - left.columns);
  const right = after.first(columnsMax - left.columns - middle.columns);
  const lead = left.length < start - line.start ? "…" : "";
  const tail = middle.length + right.length < line.end - start ? "…" : "";
  const number = String(at.line);
  const gutter = " ".repeat(number.length);
  const carets = "^".repeat(Math.max(1, middle.columns));
  return [
    `${gutter}${paint.dim("-->")} ${visibleText(source.name)}:${at.line}:${at.column}`,
    `${gutter} ${paint.dim("|")}`,
    `${paint.dim(`${number} |`)} ${lead}${left.text}${middle.text}${right.text}${tail}`,
    `${gutter} ${paint.dim("|")} ${" ".repeat(lead.length + left.columns)}${paint.strong(carets)}`,
  ];
}

function painted(severity: Severity, paint: Paint): string {
  switch (severity) {
    case "error":
      return paint.bad(severity);
    case "warning":
      return paint.warn(severity);
    case "info":
      return paint.dim(severity);
  }
}
