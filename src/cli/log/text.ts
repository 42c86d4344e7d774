// Entries of the log as lines of a table. INVARIANT: whatever an entry holds, it comes out as one line without control
// characters, as data too.
import type { ChainedEntry, LogEntry } from "../../core/ports/stores/log.ts";
import { cellsOf } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";
import { clockText, DayHeadings, timeColumns, timeText } from "../terminal/time.ts";
import { numberIn, requestsOf, textIn } from "./details.ts";

interface Layout {
  readonly agent: number;
  readonly workspace: number;
  readonly tool: number;
  readonly verdict: number;
  readonly request: number;
  readonly id: number;
}

const WIDE: Layout = { agent: 14, workspace: 12, tool: 16, verdict: 26, request: 56, id: 64 };
/** Columns of a terminal in which the wide table has room for a request and a whole id. */
const wideColumnsMin = 160;
/** The narrow table needs this much; on a smaller terminal its lines wrap. */
const narrowColumnsMin = 60;
/** Enough of an id for `ambit why`: eight characters of time and four random ones. */
const shortId = 14;

/**
 * The log as a table. A wide terminal, a file and a pipe get every column. A narrow terminal gets the day as a heading and no column
 * that wraps: workspace and tool are left out, and ids are cut to a prefix that `ambit why` takes.
 */
export class LogTable {
  readonly #paint: Paint;
  readonly #layout: Layout;
  readonly #isNarrow: boolean;
  readonly #days = new DayHeadings();

  constructor(paint: Paint, columns: number | undefined) {
    this.#paint = paint;
    this.#isNarrow = columns !== undefined && columns < wideColumnsMin;
    this.#layout = this.#isNarrow ? narrowLayout(columns ?? narrowColumnsMin) : WIDE;
  }

  head(): string {
    return this.#paint.dim(
      this.#row("time", "agent", "workspace", "tool", this.#padded("verdict", "verdict"), "request", "id"),
    );
  }

  lines({ entry }: ChainedEntry): readonly string[] {
    const { at, agent, workspace, tool } = entry;
    const verdict = paintVerdict(this.#paint, entry, this.#padded("verdict", verdictText(entry)));
    const time = this.#isNarrow ? clockText(at) : timeText(at);
    const row = this.#row(time, agent ?? "-", folderName(workspace), tool ?? "-", verdict, aboutText(entry), entry.id);
    const day = this.#isNarrow ? this.#days.before(at) : null;
    return day === null ? [row] : [this.#paint.strong(day), row];
  }

  #row(
    time: string,
    agent: string,
    workspace: string,
    tool: string,
    verdict: string,
    request: string,
    id: string,
  ): string {
    const { dim } = this.#paint;
    return [
      dim(padded(time, this.#isNarrow ? 8 : timeColumns)),
      this.#padded("agent", agent),
      ...(this.#isNarrow ? [] : [this.#padded("workspace", workspace), this.#padded("tool", tool)]),
      verdict,
      this.#padded("request", request),
      dim(this.#isNarrow ? cellsOf(id).first(shortId).text : fitColumn(id, this.#layout.id)),
    ].join("  ");
  }

  #padded(column: keyof Layout, text: string): string {
    return padded(text, this.#layout[column]);
  }
}

function narrowLayout(columns: number): Layout {
  const [agent, verdict] = [10, 20];
  const fixed = 8 + agent + verdict + shortId + 2 * 4;
  return { ...WIDE, agent, verdict, id: shortId, request: Math.max(narrowColumnsMin, columns) - fixed };
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
export function fitColumn(text: string, columns: number): string {
  // No character is narrower than one of its units, but for those that take no column at all.
  const cells = cellsOf(text.slice(0, columns * 8));
  const isWhole = cells.columns <= columns && text.length <= columns * 8;
  return isWhole ? cells.text : `${cells.first(columns - 1).text}…`;
}

function padded(text: string, columns: number): string {
  const cut = fitColumn(text, columns);
  return cut + " ".repeat(Math.max(0, columns - cellsOf(cut).columns));
}

function aboutText(entry: LogEntry): string {
  const [first, ...others] = requestsOf(entry);
  if (first !== undefined) return others.length === 0 ? first : `${first} +${others.length}`;
  return textIn(entry.more, "reason") ?? textIn(entry.more, "what") ?? (entry.of === null ? "" : `of ${entry.of}`);
}
