// `ambit approve --for-good`: the capability that a parked task waits for becomes `allow` in the org file, with the difference shown
// first. The person's yes is also the trust in that edit.
import { allowInOrg } from "../../org/org-edit.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import type { OrgPorts } from "../org/ports.ts";
import { NO_ORG, NO_ORG_FIX, shownRulings } from "../org/show.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail, type JsonOption } from "../terminal/problems.ts";
import { type AdmitPorts, notAdmitted } from "../trust/admit.ts";

export interface ForGoodPorts extends OrgPorts, AdmitPorts {}

export interface ForGoodOptions extends JsonOption {
  readonly yes: boolean;
}

/** The approval that re-opens the task is for its next run: from there on the org file allows it. */
const REOPENING = { step: "exact", uses: 1, milliseconds: 1_800_000, presence: null } as const;

export async function approveForGood(ports: ForGoodPorts, id: string, options: ForGoodOptions): Promise<ExitCode> {
  const refuse = (message: string, fix: string | null = null): ExitCode =>
    fail(ports, options, EXIT.error, message, fix);
  const workspace = ports.workspaceAt?.() ?? null;
  const whole = ports.orgs.whole();
  if (workspace === null || whole === null) return refuse(NO_ORG, NO_ORG_FIX);
  const waiting = await askOnce(ports, "tasks.waiting", { approval: id });
  if (!waiting.ok && waiting.code !== "unknown_task") return tellRefusal(ports, waiting, options.json);
  const task = waiting.ok && waiting.value.task.workspace === workspace ? waiting.value.task : null;
  const capabilities = task?.waitsFor?.capabilities ?? [];
  if (task === null || capabilities.length === 0)
    return refuse(`no task of this workspace waits for ${id}`, "ambit tasks list --state parked");
  const file = ports.orgs.file();
  const member = whole.org.agents.find((agent) => agent.id === task.agent);
  if (file === null || member === undefined || member.span.source !== file.source.name)
    return refuse(`${task.agent} is not defined in the org file`, `ambit approve ${id}, for this task`);
  const outer = shownRulings(ports, whole, member).find(
    ({ capability, from }) => capabilities.includes(capability) && from === "config",
  );
  if (outer !== undefined)
    return refuse(`${outer.capability} is decided by ${outer.line ?? "a configuration"}, not by the org file`);
  const edited = allowInOrg(file.source, ports.orgs.parse, task.agent, capabilities);
  if (!edited.ok) return refuse(edited.message);
  const difference = changedLines(file.source.text, edited.value);
  const report = { file: file.path, agent: task.agent, capabilities, difference };
  if (!options.json) {
    ports.print(
      `${visibleText(task.agent)} may use ${capabilities.map(visibleText).join(", ")} in every task from now on:`,
    );
    ports.print(ports.paint.dim(`--- ${visibleText(file.path)}`));
    for (const line of difference)
      ports.print(line.startsWith("+") ? ports.paint.good(visibleText(line)) : ports.paint.bad(visibleText(line)));
  }
  const again = `ambit approve ${id} --for-good --yes`;
  const unconfirmed = await confirmation(ports, options, "Write this, and trust it?", again);
  if (unconfirmed !== null) return unconfirmed;
  const what = `${task.agent} ${capabilities.join(" ")}`;
  const refused = await notAdmitted(ports, "approve --for-good", what, options);
  if (refused !== null) return refused;
  const written = ports.orgs.edit(file, edited.value);
  if (!written.ok) return refuse(written.message, again);
  return reopened(ports, id, task.id, report, options);
}

/** The task waits for the approval: it is answered for its next run. */
async function reopened(
  ports: ForGoodPorts,
  id: string,
  task: string,
  report: { readonly file: string; readonly agent: string; readonly capabilities: readonly string[] },
  options: ForGoodOptions,
): Promise<ExitCode> {
  const loaded = ports.fresh().loadAgent(report.agent);
  const isTrusted = loaded.ok && !["untrusted", "waiting"].includes(loaded.value.trust?.status.kind ?? "own");
  const answer = isTrusted ? await askOnce(ports, "approvals.approve", { id, ...REOPENING }) : null;
  if (options.json) ports.print(jsonLine({ ...report, written: true, isTrusted, task, isOpen: answer?.ok === true }));
  else ports.print(`${ports.paint.good("written")} to ${visibleText(report.file)}`);
  if (!isTrusted) {
    const message = "the org file was not trusted before, so the edit has no effect yet either";
    return fail(ports, options, EXIT.error, message, `ambit trust, then ambit tasks retry ${task}`);
  }
  if (answer?.ok !== true && !options.json)
    ports.print(`the request was no longer pending: ambit tasks retry ${visibleText(task)}`);
  return EXIT.ok;
}

/** The lines that differ, without those that both texts begin and end with. */
function changedLines(before: string, after: string): readonly string[] {
  const [left, right] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  let end = 0;
  while (end < Math.min(left.length, right.length) - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  return [
    ...left.slice(start, left.length - end).map((line) => `-${line}`),
    ...right.slice(start, right.length - end).map((line) => `+${line}`),
  ];
}
