// `ambit log`: what was decided and what became of it, filtered, as a table, a transcript, or lines of JSON.
import { CATALOG, verbEntry } from "../../core/authority/catalog.ts";
import { isJsonList, isJsonObject, type Json } from "../../core/base/json.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { MessageClient, Refusal } from "../../core/ports/daemon/exchange.ts";
import { type ChainedEntry, ENTRY_KINDS, type EntryKind, type LogQuery } from "../../core/ports/stores/log.ts";
import { type ControlPorts, tellRefusal } from "../control-ports.ts";
import { DENIALS } from "../explain/pages.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";
import { parseMoment } from "../terminal/time.ts";
import { type RefusedRequest, refusedRequests, refusedText } from "./refused.ts";
import { LogTable } from "./text.ts";
import { Transcript } from "./transcript.ts";

export interface LogOptions {
  readonly user?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly workspace?: string;
  readonly verb?: string;
  readonly code?: string;
  readonly kind?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly until?: string;
  readonly text?: string;
  readonly count?: string;
  readonly wouldDeny?: boolean;
  readonly refused?: boolean;
  readonly follow: boolean;
  readonly json: boolean;
}

type Filter = Omit<LogQuery, "count" | "after" | "before">;
type Control = MessageClient<ControlMessages>;

export const entriesShownMax = 1_000_000;
const pageEntries = 500;
const entriesWanted = 50;
const entriesBeforeFollowing = 10;

export async function log(ports: ControlPorts, options: LogOptions): Promise<ExitCode> {
  const workspace = options.workspace === undefined ? undefined : (ports.workspaceAt?.(options.workspace) ?? null);
  if (workspace === null) return fail(ports, options, EXIT.usage, noWorkspace(options.workspace ?? "."), null);
  const filter = filterOf({ ...options, ...(workspace === undefined ? {} : { workspace }) }, ports.now());
  if (typeof filter === "string") return fail(ports, options, EXIT.usage, filter, "ambit log --help");
  const isTranscript = options.session !== undefined && !options.follow && options.refused !== true;
  const usual =
    isTranscript || options.refused === true
      ? entriesShownMax
      : options.follow
        ? entriesBeforeFollowing
        : entriesWanted;
  const count = countOf(options.count, usual);
  if (count === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      `--count must be a number from 1 to ${entriesShownMax}`,
      "ambit log --help",
    );
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  try {
    if (isTranscript) return await transcript(ports, control.value, filter, count, options);
    const newest = await newestEntries(control.value, filter, count);
    if (!newest.ok) return tellRefusal(ports, newest, options.json);
    const entries = newest.value;
    if (options.refused === true) return tellRefused(ports, refusedRequests(entries), options.json);
    const table = new LogTable(ports.paint, ports.terminal.columns);
    const show = shower(ports, options, table);
    if (!options.json && (entries.length > 0 || options.follow)) ports.print(table.head());
    for (const entry of entries) show(entry);
    if (options.follow) return await follow(ports, control.value, filter, entries.at(-1)?.place ?? 0, options, show);
    if (!options.json && entries.length === 0) ports.print("no matching entries");
    return EXIT.ok;
  } finally {
    control.value.close();
  }
}

function tellRefused(ports: ControlPorts, refused: readonly RefusedRequest[], isJson: boolean): ExitCode {
  for (const one of refused) ports.print(isJson ? jsonLine(one) : refusedText(one, ports.terminal.columns));
  if (refused.length === 0 && !isJson) ports.print("nothing was refused");
  return EXIT.ok;
}

export function noWorkspace(folder: string): string {
  return `${JSON.stringify(folder.slice(0, 200))} is in no workspace: neither it nor a parent has an .ambit folder`;
}

/** A sentence about what is wrong, or what is asked for. */
function filterOf(options: LogOptions, now: number): Filter | string {
  const { user, agent, session, workspace, verb, code, kind, text } = options;
  if (options.wouldDeny && options.outcome !== undefined) return "--would-deny is an outcome: leave out --outcome";
  if (options.refused && (options.wouldDeny || options.outcome !== undefined || kind !== undefined || options.follow))
    return "--refused lists denied decisions: leave out --outcome, --kind, --would-deny and --follow";
  const outcome = options.refused ? "deny" : options.wouldDeny ? "would_deny" : options.outcome;
  const [since, until] = [options.since, options.until].map((each) =>
    each === undefined ? undefined : parseMoment(each, now),
  );
  if (since === null)
    return `--since ${JSON.stringify(options.since)} is not a time: 2h, 2026-11-15, 2026-11-15T10:00Z`;
  if (until === null)
    return `--until ${JSON.stringify(options.until)} is not a time: 2h, 2026-11-15, 2026-11-15T10:00Z`;
  if (kind !== undefined && !isKind(kind))
    return `no kind ${JSON.stringify(kind)}; use one of ${ENTRY_KINDS.join(", ")}`;
  if (verb !== undefined && verbEntry(verb) === null) {
    const nearest = nearestName(
      verb,
      CATALOG.map((entry) => entry.verb),
    );
    return `no verb ${JSON.stringify(verb)}${nearest === null ? "" : `; did you mean ${nearest}?`}`;
  }
  if (code !== undefined && !Object.hasOwn(DENIALS, code)) {
    const nearest = nearestName(code, Object.keys(DENIALS));
    if (nearest !== null) return `no code ${JSON.stringify(code)}; did you mean ${nearest}?`;
  }
  const given = { user, agent, session, workspace, verb, code, outcome, since, until, text };
  const kinds = options.refused ? { kind: "decision" } : { kind };
  return Object.fromEntries(Object.entries({ ...given, ...kinds }).filter(([, each]) => each !== undefined)) as Filter;
}

function countOf(text: string | undefined, usual: number): number | null {
  if (text === undefined) return usual;
  const count = /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= entriesShownMax ? count : null;
}

function shower(ports: ControlPorts, { json }: LogOptions, table: LogTable): (entry: ChainedEntry) => void {
  return (entry) => {
    for (const line of json ? [jsonLine(entry)] : table.lines(entry)) ports.print(line);
  };
}

/** The newest that fit, page by page, oldest first. */
async function newestEntries(
  control: Control,
  filter: Filter,
  count: number,
): Promise<{ readonly ok: true; readonly value: readonly ChainedEntry[] } | Refusal> {
  const found: ChainedEntry[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  while (found.length < count) {
    const asked = Math.min(pageEntries, count - found.length);
    const page = await control.ask("log.query", { ...filter, before, count: asked });
    if (!page.ok) return page;
    const last = page.value.entries.at(-1);
    // Each page must lead further back, or this would never end.
    if (last === undefined || last.place >= before) break;
    found.push(...page.value.entries);
    before = last.place;
  }
  return { ok: true, value: found.reverse() };
}

/** Oldest first, shown as it comes: a session may be long. */
async function transcript(
  ports: ControlPorts,
  control: Control,
  filter: Filter,
  count: number,
  options: LogOptions,
): Promise<ExitCode> {
  const words = new Transcript(ports.paint);
  let after = 0;
  let told = 0;
  while (told < count) {
    const page = await control.ask("log.query", { ...filter, after, count: Math.min(pageEntries, count - told) });
    if (!page.ok) return tellRefusal(ports, page, options.json);
    const last = page.value.entries.at(-1);
    if (last === undefined || last.place <= after) break;
    for (const entry of page.value.entries)
      if (options.json) ports.print(jsonLine(entry));
      else for (const line of words.lines(entry)) ports.print(line);
    told += page.value.entries.length;
    after = last.place;
  }
  if (!options.json && told === 0) ports.print("no entries of that session");
  else if (!options.json) for (const line of words.end()) ports.print(line);
  return EXIT.ok;
}

async function follow(
  ports: ControlPorts,
  control: Control,
  filter: Filter,
  after: number,
  options: LogOptions,
  show: (entry: ChainedEntry) => void,
): Promise<ExitCode> {
  const onEvent = (event: Json): void => {
    const entries = isJsonObject(event) ? event["entries"] : undefined;
    for (const entry of isJsonList(entries) ? entries : []) show(entry as unknown as ChainedEntry);
  };
  const answer = await control.ask("log.follow", { ...filter, after, count: pageEntries }, { onEvent });
  return answer.ok ? EXIT.ok : tellRefusal(ports, answer, options.json);
}

function isKind(text: string): text is EntryKind {
  return ENTRY_KINDS.some((kind) => kind === text);
}
