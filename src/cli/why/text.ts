// One entry explained: who asked, what for, what decided it and by which line, what became of it, and what would help.

import { isHelpedByGrant } from "../../core/authority/explain.ts";
import { parseAddress } from "../../core/base/address.ts";
import { isLoopback, isSpecial } from "../../core/base/special.ts";
import type { ChainedEntry, LogEntry } from "../../core/ports/stores/log.ts";
import { DENIALS, type Page } from "../explain/pages.ts";
import {
  budgetsLeft,
  decidingGrants,
  endText,
  enforcementTexts,
  numberIn,
  otherMembers,
  requestsOf,
  runDenialTexts,
  textIn,
} from "../log/details.ts";
import { fitColumn, paintVerdict, verdictText } from "../log/text.ts";
import type { Paint } from "../terminal/paint.ts";
import { timeText } from "../terminal/time.ts";

export interface Explanation {
  readonly entry: LogEntry;
  /** What tells more of it, in order. */
  readonly more: readonly ChainedEntry[];
}

const lineColumns = 400;
const linesPerRowMax = 50;
const SHOWN = ["requests", "need", "link", "suggest", "by", "left", "approval", "reason", "level", "times"] as const;

export function whyText({ entry, more }: Explanation, paint: Paint): string {
  const rows: string[] = [
    `${paintVerdict(paint, entry, fitColumn(verdictText(entry), lineColumns))}  ${fitColumn(entry.id, 128)}  ${paint.dim(timeText(entry.at))}`,
  ];
  const row = (word: string, ...lines: readonly string[]): void => {
    for (const [at, line] of limited(lines).entries())
      rows.push(`  ${paint.dim((at === 0 ? word : "").padEnd(10))}${fitColumn(line, lineColumns)}`);
  };
  row("who", whoText(entry));
  if (entry.chain.length > 0) row("chain", entry.chain.join(" > "));
  if (entry.trace !== null) row("trace", entry.trace);
  if (entry.tool !== null) row("tool", entry.tool);
  row("requests", ...requestsOf(entry));
  row("means", ...adviceOf(entry));
  row("by", ...decidingGrants(entry).map(({ grant, at, link }) => `${grant}  ${at ?? "not from a file"}  (${link})`));
  const need = textIn(entry.more, "need");
  const asked = requestsOf(entry);
  if (need !== null && (asked.length > 1 || !asked.includes(need))) row("missing", need);
  const link = textIn(entry.more, "link");
  if (link !== null) row("denied by", link);
  const reason = textIn(entry.more, "reason");
  if (reason !== null) row("reason", reason);
  row("approval", ...approvalText(entry, more));
  if (!["decision", "outcome"].includes(entry.kind)) row("more", ...otherMembers(entry, SHOWN));
  row("outcome", ...outcomeText(entry, more));
  row("budgets", ...budgetsLeft(entry));
  row(
    "repeated",
    ...more
      .filter(({ entry: { kind } }) => kind === "suppressed")
      .map(({ entry: one }) => `${numberIn(one.more, "times") ?? "?"} more times, counted until ${timeText(one.at)}`),
  );
  row("fix", ...fixText(entry));
  return rows.join("\n");
}

function whoText({ agent, user, workspace, session }: LogEntry): string {
  return [
    agent === null ? "no agent" : `agent ${agent}`,
    ...(workspace === null ? [] : [`of ${workspace}`]),
    ...(user === null ? [] : [`for ${user}`]),
    ...(session === null ? [] : [`in session ${session}`]),
  ].join(" ");
}

function meaningOf(code: string | null): readonly string[] {
  if (code === null || !Object.hasOwn(DENIALS, code)) return code === null ? [] : [code];
  const { means, doThis } = (DENIALS as Readonly<Record<string, Page>>)[code] as Page;
  return [means, doThis];
}

/** What the code means and what to do; without the advice to add a grant where none helps. */
export function adviceOf(entry: LogEntry): readonly string[] {
  const { code, outcome, verbs } = entry;
  const isUncovered = isDenial(outcome) && (code === "capability_absent" || code === "scope_violation");
  const meaning = isUncovered && proposedGrant(entry) === null ? meaningOf(code).slice(0, 1) : meaningOf(code);
  const [means, ...doThis] = meaning;
  const isWithoutTools = code === "capability_absent" && verbs.length === 1 && verbs[0] === "tool.invoke";
  return isWithoutTools && means !== undefined ? [`${means} ${TOOLS_TOO}`, ...doThis] : meaning;
}

const TOOLS_TOO =
  "Each call of a tool needs `tool.invoke`, besides the grants for what the tool does; a delegation, too.";

function approvalText(entry: LogEntry, more: readonly ChainedEntry[]): readonly string[] {
  const id = textIn(entry.more, "approval");
  const steps = more
    .filter(({ entry: { kind } }) => kind === "approval")
    .map(({ entry: one }) => `${timeText(one.at)}  ${one.outcome}${wordsOf(one)}`);
  return id === null ? steps : [id, ...steps];
}

function wordsOf(entry: LogEntry): string {
  const by = textIn(entry.more, "by");
  const reason = textIn(entry.more, "reason");
  return `${by === null ? "" : ` by ${by}`}${reason === null ? "" : `: ${reason}`}`;
}

/** Only what was allowed can have become something. */
export function outcomeText(entry: LogEntry, more: readonly ChainedEntry[]): readonly string[] {
  const outcomes =
    entry.kind === "outcome" ? [entry] : more.map((one) => one.entry).filter(({ kind }) => kind === "outcome");
  if (outcomes.length === 0) return isCarriedOut(entry) ? ["unknown: no outcome was logged"] : [];
  return outcomes.flatMap((one) => [
    endText(one),
    ...runDenialTexts(one),
    ...enforcementTexts(one).map((line) => `enforced by: ${line}`),
  ]);
}

export function isCarriedOut({ kind, outcome }: LogEntry): boolean {
  return kind === "decision" && outcome === "allow";
}

function fixText(entry: LogEntry): readonly string[] {
  const suggest = proposedGrant(entry);
  if (suggest === null) return isDenial(entry.outcome) ? noGrantHelps(entry) : [];
  return [`smallest grant that would allow it: ${suggest}`, `ambit agents grant --from ${entry.id}`];
}

/** What helps instead, where no grant does; nothing where the code's own page says it. */
export function noGrantHelps({ code, more }: LogEntry): readonly string[] {
  const link = textIn(more, "link");
  if (isProtectedName(textIn(more, "need")))
    return ["no grant allows this: tools never change .ambit; edit the file yourself"];
  if (link === null && namesSpecialAddress(textIn(more, "need"))) return [NO_SPECIAL_GRANT];
  if (code === "self_modification") return ["no grant allows this: the name is protected from tools; edit it yourself"];
  if (link === null || !/^the (?:ceiling|pledge|policy|record of the user) ?/.test(link)) return [];
  const denies = link.startsWith("the policy") ? "denies" : "does not cover";
  return [`no grant to the agent allows this: ${link} ${denies} it`];
}

export const NO_SPECIAL_GRANT =
  "this address is not public, so no grant is proposed; if you mean it, write the grant yourself: ambit explain address_refused";

/** As `explain` judges it: neither public nor loopback. */
function namesSpecialAddress(need: string | null): boolean {
  const host = /^(?:net|provider)\.\w+ (?:[a-z]+:\/\/)?(?:\[([^\]]+)\]|([^/: ]+))/u.exec(need ?? "");
  const address = parseAddress(host?.[1] ?? host?.[2] ?? "");
  return address !== null && isSpecial(address) && !isLoopback(address);
}

function isProtectedName(need: string | null): boolean {
  return need !== null && /^fs\.(?:write|delete) .*\/\.ambit(?:\/|$)/.test(need);
}

/** Null as well where an entry of an earlier version proposes to take a safeguard away. */
export function proposedGrant({ outcome, code, more }: LogEntry): string | null {
  const suggest = textIn(more, "suggest");
  const isHelped = code !== null && Object.hasOwn(DENIALS, code) && isHelpedByGrant(code as keyof typeof DENIALS);
  return isDenial(outcome) && isHelped ? suggest : null;
}

function limited(lines: readonly string[]): readonly string[] {
  const more = lines.length - linesPerRowMax;
  return more > 0 ? [...lines.slice(0, linesPerRowMax), `and ${more} more`] : lines;
}

/** In shadow mode the call was left to its client. */
function isDenial(outcome: string): boolean {
  return outcome === "deny" || outcome === "would_deny";
}
