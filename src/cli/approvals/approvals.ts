// `ambit approvals list`, `show`, `refuse` and `reopen`: what waits for a person, the whole of it, a no, and a no taken back.

import type { Refusal } from "../../core/ports/daemon/exchange.ts";
import type { Digest } from "../../core/ports/digest.ts";
import { APPROVAL_STATES, type ApprovalState } from "../../core/ports/stores/approval-store.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { presenceOf } from "./presence.ts";
import { approvalText, summaryText } from "./text.ts";

export interface ListOptions extends JsonOption {
  readonly all: boolean;
  readonly state?: string;
  readonly count: string;
}

export interface ShowOptions extends JsonOption {
  readonly full: boolean;
}

export interface RefuseOptions extends JsonOption {
  readonly reason?: string;
}

const listedMax = 1000;
/** What a person may have to do something about. */
const OPEN_STATES: readonly ApprovalState[] = ["pending", "approved", "executing", "indeterminate"];

export async function approvalsList(ports: ControlPorts, options: ListOptions): Promise<ExitCode> {
  const states = statesOf(options);
  if (states === null)
    return fail(ports, options, EXIT.usage, `--state must be one of ${APPROVAL_STATES.join(", ")}`, null);
  const count = Number(options.count);
  if (!Number.isInteger(count) || count < 1 || count > listedMax)
    return fail(ports, options, EXIT.usage, `--count must be a number from 1 to ${listedMax}`, null);
  const answer = await askOnce(ports, "approvals.list", { states, count });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { approvals } = answer.value;
  if (options.json) ports.print(jsonLine({ approvals }));
  else if (approvals.length === 0) ports.print("no pending approvals");
  else
    for (const approval of approvals)
      ports.print(visibleText(summaryText(approval, ports.now(), ports.terminal.columns)));
  return EXIT.ok;
}

function statesOf({ all, state }: ListOptions): readonly ApprovalState[] | null {
  if (state === undefined) return all ? APPROVAL_STATES : OPEN_STATES;
  const wanted = state.split(",").map((one) => APPROVAL_STATES.find((known) => known === one) ?? null);
  return wanted.includes(null) ? null : (wanted as ApprovalState[]);
}

export async function approvalsShow(ports: ControlPorts, id: string, options: ShowOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "approvals.show", { id });
  if (!answer.ok) return tellApprovalRefusal(ports, answer, options.json);
  const { approval, ladder } = answer.value;
  if (options.json) ports.print(jsonLine({ approval, ladder }));
  else ports.print(approvalText(approval, ladder, ports.now(), ports.paint, options.full ? null : await sha256()));
  return EXIT.ok;
}

export async function approvalsRefuse(ports: ControlPorts, id: string, options: RefuseOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "approvals.refuse", { id, reason: options.reason ?? "" });
  if (!answer.ok) return tellApprovalRefusal(ports, answer, options.json);
  if (options.json) ports.print(jsonLine({ approval: answer.value.approval }));
  else ports.print(`${ports.paint.bad("refused")} ${visibleText(answer.value.approval.id)}`);
  return EXIT.ok;
}

/** Past its time has a status of its own, as everywhere. */
export function tellApprovalRefusal(ports: ControlPorts, refusal: Refusal, json: boolean): ExitCode {
  const exit = tellRefusal(ports, refusal, json);
  return refusal.code === "expired" ? EXIT.expired : exit;
}

/** Loaded when something has to be named by it. */
export async function sha256(): Promise<Digest> {
  const { createHash } = await import("node:crypto");
  return (text) => createHash("sha256").update(text, "utf8").digest("hex");
}

export interface ReopenOptions extends JsonOption {
  readonly presence?: string;
}

/** The question waits again; it is answered like any other. */
export async function approvalsReopen(ports: ControlPorts, id: string, options: ReopenOptions): Promise<ExitCode> {
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  try {
    const presence =
      options.presence === undefined ? null : await presenceOf(ports, control.value, options, options.presence);
    if (typeof presence === "number") return presence;
    const answer = await control.value.ask("approvals.reopen", { id, presence });
    if (!answer.ok) return tellApprovalRefusal(ports, answer, options.json);
    const { approval } = answer.value;
    if (options.json) ports.print(JSON.stringify({ approval }));
    else
      ports.print(
        `${ports.paint.warn("pending again")} ${visibleText(approval.id)}: ambit approve ${visibleText(approval.id)}`,
      );
    return EXIT.ok;
  } finally {
    control.value.close();
  }
}
