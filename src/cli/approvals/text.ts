// Approvals as text: one line for a list, and the full request for the approver.
import { answersMissing, needsPresence } from "../../approvals/lifecycle.ts";
import type { Line, Question, RequestLine } from "../../approvals/question.ts";
import { questionOf } from "../../approvals/question.ts";
import type { LadderStep } from "../../core/ports/daemon/daemon-control.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { Approval, ApprovalState, ApproverAnswer } from "../../core/ports/stores/approval-store.ts";
import { cellsOf, visibleText } from "../terminal/cells.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";
import { timeText } from "../terminal/time.ts";

/** Milliseconds as a person says them: the largest unit that is not nothing. */
export function lengthText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** Foreign text on a line of its own, never longer than the line. */
export function fitLine(text: string, columns: number): string {
  const cells = cellsOf(text);
  return cells.columns <= columns ? cells.text : `${cells.first(Math.max(0, columns - 3)).text}...`;
}

const STATE_PAINTS: Readonly<Record<ApprovalState, keyof Paint>> = {
  pending: "warn",
  approved: "good",
  refused: "bad",
  expired: "dim",
  executing: "strong",
  done: "good",
  failed: "bad",
  indeterminate: "bad",
};

export function stateText(paint: Paint, state: ApprovalState): string {
  return paint[STATE_PAINTS[state] ?? "strong"](visibleText(state));
}

/** One approval on one line, without colour. With `columns` the request is cut, so that what follows it is still seen. */
export function summaryText(approval: Approval, now: number, columns?: number): string {
  const { id, state, who, tool, asking, expires, times } = approval;
  const isOpen = state === "pending" || state === "approved";
  const people = answersMissing(approval);
  const before = [id, state, who.agent ?? "-", tool];
  const after = [
    ...(asking.length > 1 ? [`and ${asking.length - 1} more`] : []),
    ...(people > 1 || (people === 1 && approval.need > 1) ? [`${people} of ${approval.need} approvers missing`] : []),
    ...(times > 1 ? [`asked ${times} times`] : []),
    ...(isOpen ? [now < expires ? `${lengthText(expires - now)} left` : "expired"] : []),
  ];
  const request = asking[0] ?? "";
  const others = cellsOf([...before, "", ...after].join("  ")).columns;
  const cut = columns === undefined ? request : fitLine(request, Math.max(requestColumnsMin, columns - others));
  return [...before, cut, ...after].join("  ");
}

const requestColumnsMin = 12;

/** Everything there is to know before answering. */
export function approvalText(
  approval: Approval,
  ladder: readonly LadderStep[],
  now: number,
  paint: Paint,
  digest: Digest | null,
): string {
  const question = questionOf(approval, digest);
  return [
    `${paint.strong(visibleText(approval.id))}  ${stateText(paint, approval.state)}`,
    ...timeLines(approval, now),
    ...labelled(question.who, paint),
    paint.strong("call"),
    ...labelled(question.call, paint),
    paint.strong("needs"),
    ...needLines(question, paint),
    ...bindingLines(question, paint),
    ...peopleLines(approval, paint),
    ...(approval.reason === null ? [] : [`  reason  ${visibleText(approval.reason)}`]),
    ...(approval.state === "pending"
      ? [paint.strong("scopes an approval can have"), ...ladderLines(ladder, paint)]
      : []),
  ].join("\n");
}

/** Of who asks, what a person needs to answer. */
const ON_CARD: ReadonlySet<string> = new Set(["user", "agent", "workspace", "delegated by"]);

/**
 * The question for the approver, on one screen of 80 columns and 24 rows where the call is short. The call and what asks are whole;
 * `ambit approvals show` has the rest.
 */
export function approvalCard(
  approval: Approval,
  ladder: readonly LadderStep[],
  now: number,
  paint: Paint,
  digest: Digest | null,
): string {
  const { id, state, who, times, expires, need, of } = approval;
  const { requests, binding, ...question } = questionOf(approval, digest);
  const isOpen = state === "pending" || state === "approved";
  const left = !isOpen ? "" : now < expires ? `  expires in ${lengthText(expires - now)}` : "  expired";
  const isPlain = need === 1 && of === null && !needsPresence(approval) && approval.answers.length === 0;
  const granted = requests.filter(({ isAsking, notes }) => !isAsking && notes.length === 0).length;
  const asking = requests.filter(({ isAsking, notes }) => isAsking || notes.length > 0);
  const lines = question.who.filter(({ label }) => ON_CARD.has(label) && (label !== "user" || who.user !== null));
  return [
    `${paint.strong(visibleText(id))}  ${stateText(paint, state)}${left}${times > 1 ? `, asked ${times} times` : ""}`,
    ...labelled([...lines, ...question.call], paint),
    paint.strong(granted === 0 ? "needs" : `needs, besides ${granted} that ${granted === 1 ? "is" : "are"} granted`),
    ...needLines({ ...question, requests: asking, binding }, paint),
    ...bindingLines({ ...question, requests, binding }, paint),
    ...(isPlain ? [] : peopleLines(approval, paint)),
    ...(state === "pending" ? [paint.strong("scopes an approval can have"), ...stepLines(ladder, paint)] : []),
    paint.dim(`more: ambit approvals show ${visibleText(id)}`),
  ].join("\n");
}

/** Words alone, unless they leave something out. */
function stepLines(ladder: readonly LadderStep[], paint: Paint): string[] {
  return ladderLines(
    ladder.map((step) => (/ and \d+ more\b/.test(step.words) ? step : { ...step, specs: null })),
    paint,
  );
}

function timeLines({ asked, expires, times, state }: Approval, now: number): string[] {
  const left = now < expires ? `in ${lengthText(expires - now)}` : "expired";
  const isOpen = state === "pending" || state === "approved";
  return [
    `  asked    ${timeText(asked)}${times > 1 ? `, ${times} times` : ""}`,
    ...(isOpen ? [`  expires  ${timeText(expires)}, ${left}`] : []),
  ];
}

const labelColumns = 12;

function labelled(lines: readonly Line[], paint: Paint): string[] {
  return lines.flatMap(({ label, text, notes }) => [
    `  ${label.padEnd(labelColumns)}  ${text}`,
    ...notes.map((note) => `  ${" ".repeat(labelColumns)}  ${paint.warn(`^ ${note}`)}`),
  ]);
}

function needLines({ requests }: Question, paint: Paint): string[] {
  return requests.flatMap((request) => [
    `  ${paintRisk(paint, request.risk)}${" ".repeat(7 - request.risk.length)} ${request.text}  ${paint.dim(asWords(request))}`,
    ...request.notes.map((note) => `          ${paint.warn(`^ ${note}`)}`),
  ]);
}

function bindingLines({ binding }: Question, paint: Paint): string[] {
  if (binding.length === 0) return [];
  return [paint.strong("an approval is valid only while the bound content is unchanged"), ...labelled(binding, paint)];
}

function asWords({ effect, isAsking }: RequestLine): string {
  return [effect, ...(isAsking ? ["asks"] : ["granted"])].filter((text) => text !== "").join(", ");
}

function peopleLines(approval: Approval, paint: Paint): string[] {
  const { need, of, answers, usesLeft, state } = approval;
  const who = of === null ? "" : ` of ${of.map(visibleText).join(", ")}`;
  return [
    paint.strong("people"),
    `  ${need === 1 ? "one person" : `${need} different people`}${who}${needsPresence(approval) ? ", each with their passphrase" : ""}`,
    ...answers.map((answer) => `  ${paint.good("agreed")}  ${answerText(answer)}`),
    ...(state === "approved" ? [`  ${usesText(usesLeft)} left`] : []),
  ];
}

export function usesText(uses: number): string {
  return uses === 1 ? "1 use" : `${uses} uses`;
}

function answerText({ by, at, level, terminal, step, uses, milliseconds }: ApproverAnswer): string {
  const how = level === 2 ? "with passphrase" : terminal ? "at a terminal" : "not at a terminal";
  return `${visibleText(by)}, ${how}, ${timeText(at)}: ${visibleText(step)}, ${usesText(uses)}, ${lengthText(milliseconds)}`;
}

export function ladderLines(ladder: readonly LadderStep[], paint: Paint): string[] {
  const width = Math.max(0, ...ladder.map(({ name }) => name.length));
  return ladder.flatMap(({ name, words, specs }, at) => [
    `  ${at + 1}  ${paint.strong(visibleText(name).padEnd(width))}  ${visibleText(words)}`,
    ...(specs ?? []).map((spec) => `     ${" ".repeat(width)}  ${paint.dim(visibleText(spec))}`),
  ]);
}
