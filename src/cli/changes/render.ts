// Drafts as a person reads them: one line each, and the whole difference of one.
import type {
  ChangesReport,
  DraftDifference,
  DraftSummary,
  DraftView,
  UnlandedChange,
} from "../../core/ports/drafts.ts";
import { changedLines } from "../diff/text-change.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import type { Paint } from "../terminal/paint.ts";

export function summaryLine(draft: DraftSummary, now: number, paint: Paint): string {
  const { agent, command, landed } = draft;
  const kept = draft.kept.length + draft.keptMore;
  const parts = [
    ...(kept === 0 ? [] : [`${countText(kept, "change", "changes")} not landed`]),
    ...(landed === 0 ? [] : [`${landed} landed`]),
  ];
  const state = draft.state === "kept" ? paint.warn(draft.state) : draft.state;
  return `${visibleText(draft.draft)}  ${state}  ${visibleText(agent)}  ${ageText(now - draft.at)} ago  ${parts.join(", ")}  ${visibleText(command.join(" ").slice(0, 60))}`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

function ageText(milliseconds: number): string {
  for (const [unit, length] of UNITS) if (milliseconds >= length) return `${Math.floor(milliseconds / length)} ${unit}`;
  return `${Math.max(0, Math.floor(milliseconds / 1000))} s`;
}

export function unlandedLine({ path, kind, code, reason }: UnlandedChange, paint: Paint): string {
  return `  ${VERBS[kind]} ${visibleText(path)}  ${paint.warn(code)}: ${visibleText(reason)}`;
}

const VERBS: Readonly<Record<UnlandedChange["kind"], string>> = {
  write: "write",
  delete: "delete",
  link: "link",
  folder: "new folder",
  git: "git",
};

const linesMax = 400;

/** Control characters are shown as what they are; nothing of the draft reaches the terminal raw. */
export function draftText({ summary, differences, more, digest }: DraftView, now: number, paint: Paint): string {
  const { root, call, workspace, kept, keptMore } = summary;
  return [
    summaryLine(summary, now, paint),
    `  root ${visibleText(root)}${workspace === null || workspace === root ? "" : `, workspace ${visibleText(workspace)}`}; call ${visibleText(call)}`,
    ...(kept.length === 0 ? [] : ["not in the project:"]),
    ...kept.map((one) => unlandedLine(one, paint)),
    ...(keptMore === 0 ? [] : [`  and ${keptMore} more`]),
    ...differences.flatMap((one) => differenceLines(one, paint)),
    ...(more === 0 ? [] : [`${more} more ${more === 1 ? "file is" : "files are"} not shown`]),
    paint.dim(`digest ${digest}`),
  ].join("\n");
}

function differenceLines({ path, kind, before, after, note }: DraftDifference, paint: Paint): string[] {
  const title = `waits: ${VERBS[kind]} ${visibleText(path)}${note === null ? "" : `  (${visibleText(note)})`}`;
  if (before === null && after === null) return ["", title];
  const lines = changedLines(before ?? "", after ?? "").map(({ sign, line, text }) => {
    const row = `${sign}${String(line).padStart(5)} ${visibleText(text)}`;
    return sign === "+" ? paint.good(row) : paint.bad(row);
  });
  const cut = lines.length > linesMax ? [`  ${lines.length - linesMax} more lines`] : [];
  return ["", title, ...lines.slice(0, linesMax), ...cut];
}

const keptShownMax = 10;

/** Behind a command: what it wrote and is not in the project. Nothing where everything landed. */
export function changesLines(report: ChangesReport | null, paint: Paint): readonly string[] {
  if (report === null || report.kept.length === 0) return [];
  const count = report.kept.length + report.keptMore;
  const more = count - Math.min(report.kept.length, keptShownMax);
  return [
    `${paint.warn("ambit")}: ${countText(count, "change was", "changes were")} not applied to the project:`,
    ...report.kept.slice(0, keptShownMax).map((one) => unlandedLine(one, paint)),
    ...(more === 0 ? [] : [`  and ${more} more`]),
    ...(report.draft === null ? [] : [`  see: ambit changes show ${visibleText(report.draft)}`]),
  ];
}
