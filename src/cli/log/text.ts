// Entries of the log as lines of a table. INVARIANT: whatever an entry holds, it comes out as one line without control
// characters, as data too.
import type { ChainedEntry, LogEntry } from "../../core/ports/stores/log.ts";
import { cellsOf } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";
import { numberIn, requestsOf, textIn } from "./details.ts";
import { timeText } from "./time.ts";

const agentColumns = 14;
const workspaceColumns = 12;
const toolColumns = 16;
const verdictColumns = 26;
const requestColumns = 56;

export function headLine(paint: Paint): string {
  const cells = [
    padded("time", 19),
    padded("agent", agentColumns),
    padded("workspace", workspaceColumns),
    padded("tool", toolColumns),
    padded("verdict", verdictColumns),
    padded("request", requestColumns),
    "id",
  ];
  return paint.dim(cells.join("  "));
}

export function entryLine({ entry }: ChainedEntry, paint: Paint): string {
  return [
    paint.dim(padded(timeText(entry.at), 19)),
    padded(entry.agent ?? "-", agentColumns),
    padded(folderName(entry.workspace), workspaceColumns),
    padded(entry.tool ?? "-", toolColumns),
    paintVerdict(paint, entry, padded(verdictText(entry), verdictColumns)),
    padded(aboutText(entry), requestColumns),
    paint.dim(fitted(entry.id, 64)),
  ].join("  ");
}

/** The folder's own name; `ambit why` and `--json` have the whole path. */
function folderName(workspace: string | null): string {
  return workspace === null ? "-" : workspace.slice(workspace.lastIndexOf("/") + 1) || "/";
}

/** What was decided, or what became of something, in a few words. */
export function verdictText({ kind, outcome, code, more }: LogEntry): string {
  const told = code === null || code === outcome ? outcome : `${outcome} ${code}`;
  if (kind === "decision") return told;
  if (kind === "suppressed") return `${numberIn(more, "times") ?? "?"} more: ${code ?? outcome}`;
  return `${kind}: ${told}`;
}

/** The same colours for the same meaning everywhere. */
export function paintVerdict(paint: Paint, { kind, outcome, code }: LogEntry, text: string): string {
  if (kind === "alarm" || outcome === "deny" || outcome === "would_deny") return paint.bad(text);
  if (kind === "suppressed" || outcome === "ask" || outcome === "pending") return paint.warn(text);
  if (kind === "decision" || kind === "approval") return code === null ? paint.good(text) : paint.bad(text);
  return paint.dim(text);
}

/** As many columns as that, and no more. */
export function fitted(text: string, columns: number): string {
  // No character is narrower than one of its units, but for those that take no column at all.
  const cells = cellsOf(text.slice(0, columns * 8));
  const isWhole = cells.columns <= columns && text.length <= columns * 8;
  return isWhole ? cells.text : `${cells.first(columns - 1).text}…`;
}

function padded(text: string, columns: number): string {
  const cut = fitted(text, columns);
  return cut + " ".repeat(Math.max(0, columns - cellsOf(cut).columns));
}

function aboutText(entry: LogEntry): string {
  const [first, ...others] = requestsOf(entry);
  if (first !== undefined) return others.length === 0 ? first : `${first} +${others.length}`;
  return textIn(entry.more, "reason") ?? textIn(entry.more, "what") ?? (entry.of === null ? "" : `of ${entry.of}`);
}
