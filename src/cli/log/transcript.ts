// What happened in one session, in order: calls with their verdicts, what became of them, and what held them.
import type { ChainedEntry, LogEntry } from "../../core/ports/stores/log.ts";
import { visibleText } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";
import { clockText, DayHeadings } from "../terminal/time.ts";
import {
  decidingGrants,
  endText,
  enforcementTexts,
  otherMembers,
  requestsOf,
  runDenialTexts,
  textIn,
} from "./details.ts";
import { fitColumn, paintVerdict, verdictText } from "./text.ts";

const linesPerListMax = 20;
const lineColumns = 200;
/** Calls that are waited for; of more than that nothing is said at the end. */
const waitingMax = 10_000;

export class Transcript {
  readonly #paint: Paint;
  /** Calls that were allowed and have no outcome yet, with their tool. */
  readonly #open = new Map<string, string>();
  #calls = 0;
  #denied = 0;
  #hasHead = false;
  readonly #days = new DayHeadings();

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  lines({ entry }: ChainedEntry): readonly string[] {
    const head = this.#hasHead ? [] : this.#headOf(entry);
    this.#hasHead = true;
    this.#count(entry);
    const day = this.#days.before(entry.at);
    return [
      ...head,
      ...(day === null ? [] : [this.#paint.strong(day)]),
      this.#first(entry),
      ...detailsOf(entry).map((line) => `${" ".repeat(10)}${fitColumn(line, lineColumns)}`),
    ];
  }

  end(): readonly string[] {
    const open = [...this.#open].map(([id, tool]) => `${fitColumn(tool, 40)} ${fitColumn(id, 64)}`);
    const counts = `${this.#calls} ${this.#calls === 1 ? "call" : "calls"}, ${this.#denied} denied`;
    return [this.#paint.dim(counts), ...limited(open).map((one) => this.#paint.warn(`no outcome logged for ${one}`))];
  }

  #headOf({ session, agent, user, workspace }: LogEntry): readonly string[] {
    const words = [`agent ${agent ?? "-"}`, `user ${user ?? "-"}`, `workspace ${workspace ?? "-"}`];
    return [`${this.#paint.strong(`session ${fitColumn(session ?? "-", 64)}`)}  ${visibleText(words.join("  "))}`, ""];
  }

  #first(entry: LogEntry): string {
    const { kind, at, tool, id, of } = entry;
    const what = kind === "decision" ? "call" : kind;
    const verdict = kind === "outcome" ? endText(entry) : verdictText(entry).replace(`${kind}: `, "");
    const told = paintVerdict(this.#paint, entry, fitColumn(verdict, lineColumns));
    const number = this.#paint.dim(fitColumn(kind === "outcome" && of !== null ? `of ${of}` : id, 67));
    const name = tool === null ? "" : `${fitColumn(tool, 40)}  `;
    return `${this.#paint.dim(clockText(at).padEnd(8))}  ${fitColumn(what, 11).padEnd(11)} ${name}${told}  ${number}`;
  }

  #count({ kind, outcome, id, of, tool }: LogEntry): void {
    if (kind === "outcome" && of !== null) this.#open.delete(of);
    if (kind !== "decision") return;
    this.#calls++;
    if (outcome !== "allow") this.#denied++;
    else if (this.#open.size < waitingMax) this.#open.set(id, tool ?? "-");
  }
}

function detailsOf(entry: LogEntry): readonly string[] {
  const reason = textIn(entry.more, "reason");
  const because = reason === null ? [] : [`reason: ${reason}`];
  if (entry.kind === "decision") {
    const approval = textIn(entry.more, "approval");
    return [
      ...limited(requestsOf(entry)),
      ...limited(decidingGrants(entry).map(({ grant, at }) => `by ${grant}${at === null ? "" : `  ${at}`}`)),
      ...(approval === null ? [] : [`approval ${approval}`]),
      ...because,
    ];
  }
  if (entry.kind === "outcome") {
    const held = enforcementTexts(entry);
    return [...limited(runDenialTexts(entry)), ...(held.length === 0 ? [] : [`enforced by: ${held.join(", ")}`])];
  }
  return limited([...requestsOf(entry), ...because, ...otherMembers(entry, ["requests", "need", "reason", "times"])]);
}

function limited(lines: readonly string[]): readonly string[] {
  const more = lines.length - linesPerListMax;
  return more > 0 ? [...lines.slice(0, linesPerListMax), `and ${more} more`] : lines;
}
