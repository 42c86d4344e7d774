// `ambit agents grant` and `revoke`: shows what would change, in words and as lines, asks, and changes that.

import { editRecord, type RecordEdit } from "../../agents/edit/edit.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { parseDuration } from "../terminal/duration.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { notAdmitted } from "../trust/admit.ts";
import { noGrantHelps, proposedGrant } from "../why/text.ts";
import { pickGrant } from "./picker.ts";
import type { AgentsPorts, RefusedEdit } from "./ports.ts";
import { reportOf, showReport, specOf } from "./report.ts";

export interface EditOptions {
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

export interface GrantOptions extends EditOptions {
  readonly for?: string;
  readonly uses?: string;
  readonly from?: string;
  /** Written and not trusted. */
  readonly write?: boolean;
}

export async function agentsGrant(
  ports: AgentsPorts,
  name: string,
  spec: string | undefined,
  options: GrantOptions,
): Promise<ExitCode> {
  const length = options.for === undefined ? null : parseDuration(options.for);
  const calls = options.uses === undefined ? null : Number(options.uses);
  if (options.for !== undefined && length === null)
    return fail(ports, options, EXIT.usage, "`--for` must be a duration", "--for 30m");
  if (calls !== null && !/^[1-9]\d{0,8}$/.test(options.uses ?? ""))
    return fail(ports, options, EXIT.usage, "`--uses` must be a whole number above 0", "--uses 5");
  const found = ports.files.read(name);
  if (!found.ok) return notFound(ports, name, found.message, options);
  if (spec === undefined && (!ports.terminal.isInteractive || options.json))
    return fail(ports, options, EXIT.usage, "no grant named, and no terminal to ask at", grantExample(name));
  const wanted = spec ?? (await pickGrant(ports));
  if (wanted === null) return declined(ports, options);
  // Whole seconds: the moment is written into the record for people to read.
  const expires = length === null ? null : Math.ceil((ports.moment.now + length) / 1000) * 1000;
  const again = ["agents", "grant", name, wanted, ...limitWords(options)];
  return change(ports, name, { kind: "grant", spec: wanted, limits: { expires, calls } }, again, options);
}

/** The denial knows who was denied what, and the smallest grant that covers it. */
export async function agentsGrantFrom(
  ports: AgentsPorts,
  name: string | undefined,
  id: string,
  options: GrantOptions,
): Promise<ExitCode> {
  const found = await askOnce(ports, "log.entry", { id });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const { entry } = found.value.entry;
  const suggest = proposedGrant(entry);
  if (entry.kind !== "decision" || entry.outcome !== "deny" || entry.agent === null)
    return fail(ports, options, EXIT.usage, `${id} is not a denial`, "ambit log --code scope_violation");
  if (entry.code === "untrusted_policy")
    return fail(ports, options, EXIT.error, "no grant would allow this: the project is not trusted", "ambit trust");
  const safeguard = SAFEGUARDS.get(entry.code ?? "");
  if (safeguard !== undefined)
    return fail(ports, options, EXIT.error, `no grant is proposed: ${safeguard}`, `ambit why ${id}`);
  if (suggest === null) {
    const [why = "no grant would allow this"] = noGrantHelps(entry);
    return fail(ports, options, EXIT.error, why, `ambit why ${id}`);
  }
  if (name !== undefined && name !== entry.agent)
    return fail(ports, options, EXIT.usage, `the denied agent was ${entry.agent}, not ${name}`, null);
  return agentsGrant(ports, entry.agent, suggest, options);
}

/** Denials by a condition of a grant that is held. What lifts it is a person's own edit, never a proposal. */
const SAFEGUARDS: ReadonlyMap<string, string> = new Map([
  ["budget_exhausted", "a grant covers this, but its budget is used up; raise the budget in the record"],
  ["expired", "a grant covers this, but has expired; change `expires` in the record"],
  ["untrusted_content", "a grant covers this for sessions that have read nothing untrusted; open a new session"],
]);

export async function agentsRevoke(
  ports: AgentsPorts,
  name: string,
  spec: string,
  options: EditOptions,
): Promise<ExitCode> {
  return change(ports, name, { kind: "revoke", spec }, ["agents", "revoke", name, spec], options);
}

async function change(
  ports: AgentsPorts,
  name: string,
  edit: RecordEdit,
  again: readonly string[],
  options: GrantOptions,
): Promise<ExitCode> {
  const isWaiting = options.write === true && ports.openProject()?.review.state !== "own";
  const found = ports.files.read(name);
  if (!found.ok) return notFound(ports, name, found.message, options);
  const context = ports.editContext(name);
  const preview = editRecord(found.value, edit, context);
  if (preview.kind !== "edited") return notEdited(ports, name, preview, options);
  const report = reportOf(name, found.value.name, found.value.text, preview);
  if (!options.json) showReport(ports, report, preview);
  if (options.dryRun) {
    if (options.json) ports.print(jsonLine({ ...report, written: false }));
    else ports.print(ports.paint.dim("not written: --dry-run"));
    return EXIT.ok;
  }
  const question = edit.kind === "grant" ? "Grant this?" : "Revoke this?";
  const unconfirmed = await confirmation(ports, options, question, commandText([...again, "--yes"]));
  if (unconfirmed !== null) return unconfirmed;
  if (edit.kind === "grant") {
    const refused = await notAdmitted(ports, "agents grant", `${name} ${report.spec}`, options);
    if (refused !== null) return refused;
  }
  // Between the question and the answer the file may have changed: the edit is made, and proved, on what is there now.
  const done = (isWaiting ? ports.untrustedFiles : ports.files).edit<RefusedEdit>(name, (source) => {
    const now = editRecord(source, edit, context);
    return now.kind === "edited" ? { kind: "write", text: now.text } : { kind: "refuse", refusal: now };
  });
  if (done.kind === "refused") return notEdited(ports, name, done.refusal, options);
  if (done.kind === "failed") return fail(ports, options, EXIT.error, done.message, null);
  if (options.json) ports.print(jsonLine({ ...report, written: true, waits: isWaiting }));
  else {
    const verb = edit.kind === "grant" ? "granted" : "revoked";
    ports.print(
      `${ports.paint.good(verb)} ${visibleText(report.spec)} ${edit.kind === "grant" ? "to" : "from"} ${visibleText(name)}`,
    );
    if (done.others > 0)
      ports.print(`the file has ${done.others} more hard link${done.others > 1 ? "s" : ""}, which keep the old text`);
    if (isWaiting) ports.print(`${ports.paint.warn("no effect until you trust it")}: ambit trust`);
    ports.print(ports.paint.dim(`  ${commandText(["agents", "undo", name])}`));
  }
  return EXIT.ok;
}

function notEdited(ports: AgentsPorts, name: string, result: RefusedEdit, options: EditOptions): ExitCode {
  if (result.kind === "unchanged") {
    const { edit } = result;
    const message = edit.kind === "grant" ? `${name} already has this grant` : `${name} does not have this grant`;
    if (options.json)
      ports.print(jsonLine({ agent: name, action: edit.kind, spec: specOf(edit), changed: false, written: false }));
    else ports.print(`no change: ${visibleText(message)}`);
    return EXIT.ok;
  }
  const exit = { spec: EXIT.usage, record: EXIT.invalidPolicy, edit: EXIT.error }[result.about];
  if (!options.json)
    for (const one of result.diagnostics) ports.printError(renderDiagnostic(one, result.source, ports.paint));
  const example = result.example === null ? "" : ` (${requestText(result.example)})`;
  return fail(ports, options, exit, `${result.message}${example}`, null);
}

/** An unknown id is reported as by other commands, with the known ids. */
export function notFound(ports: AgentsPorts, name: string, message: string, options: EditOptions): ExitCode {
  const loaded = ports.loadAgent(name);
  return loaded.ok
    ? fail(ports, options, EXIT.error, message, null)
    : fail(ports, options, EXIT.error, loaded.message, loaded.fix);
}

function declined(ports: AgentsPorts, options: EditOptions): ExitCode {
  return fail(ports, options, EXIT.error, "nothing was changed", null);
}

function limitWords(options: GrantOptions): readonly string[] {
  return [
    ...(options.for === undefined ? [] : ["--for", options.for]),
    ...(options.uses === undefined ? [] : ["--uses", options.uses]),
    ...(options.write === true ? ["--write"] : []),
  ];
}

function grantExample(name: string): string {
  return commandText(["agents", "grant", name, "net.get{hosts=[api.example.com]}", "--yes"]);
}
