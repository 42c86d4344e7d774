// A line of a record under its name, with the words it was found by marked in it.
import type { Snippet } from "../../agents/records/search-snippet.ts";
import { cellsOf, visibleText } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";

/** Without its number. What hides is spelled out, and so can be longer than it was. */
const columnsMax = 160;

/** INVARIANT: one line, and no control character of the record's in it. */
export function snippetLine({ line, text, marks, cutBefore, cutAfter }: Snippet, paint: Paint): string {
  const whole = cellsOf(text);
  const fitting = whole.first(columnsMax).length;
  let from = 0;
  let marked = "";
  for (const { start, end } of marks) {
    if (start >= fitting) break;
    const stop = Math.min(end, fitting);
    marked += visibleText(text.slice(from, start)) + markOf(visibleText(text.slice(start, stop)), paint);
    from = stop;
  }
  marked += visibleText(text.slice(from, fitting));
  const tail = cutAfter || fitting < whole.length ? "…" : "";
  return `  ${paint.dim(`${line}:`)} ${cutBefore ? "…" : ""}${marked}${tail}`;
}

/** Where there is no colour the mark is written. */
function markOf(text: string, paint: Paint): string {
  const painted = paint.strong(paint.warn(text));
  return painted === text ? `«${text}»` : painted;
}
