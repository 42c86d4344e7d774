// `ambit approve`: the whole question, how far the yes reaches, and where it is needed the proof that a person is there.

import { needsPresence } from "../../approvals/lifecycle.ts";
import { answerMillisecondsMax, answerMillisecondsMin, answerUsesMax } from "../../approvals/limits.ts";
import type { ApprovalView, ControlMessages, LadderStep, Presence } from "../../core/ports/daemon/daemon-control.ts";
import type { MessageClient } from "../../core/ports/daemon/exchange.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { parseDuration } from "../terminal/duration.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { sha256, tellApprovalRefusal } from "./approvals.ts";
import { presenceOf } from "./presence.ts";
import { approvalCard, lengthText, usesText } from "./text.ts";
import { typedYes } from "./typed-answer.ts";

export interface ApproveOptions extends JsonOption {
  readonly step?: string;
  readonly uses?: string;
  readonly for?: string;
  readonly presence?: string;
  readonly forGood?: boolean;
  readonly yes: boolean;
}

/** How far, how often, how long. */
interface Reach {
  readonly step: string;
  readonly uses: number;
  readonly milliseconds: number;
}

const DEFAULT_MILLISECONDS = 1_800_000;

export async function approve(ports: ControlPorts, id: string, options: ApproveOptions): Promise<ExitCode> {
  const limits = limitsOf(options);
  if (typeof limits === "string") return fail(ports, options, EXIT.usage, limits, null);
  const isAsked = !options.yes;
  if (isAsked && (options.json || !ports.terminal.isInteractive))
    return fail(
      ports,
      options,
      EXIT.usage,
      "confirmation needed, and no terminal to ask at",
      `ambit approve ${id} --step exact --yes, after reading ambit approvals show ${id}`,
    );
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  try {
    return await answered(ports, control.value, id, options, limits);
  } finally {
    control.value.close();
  }
}

/** Where one question waits, it is the one that is meant. */
export async function onlyWaiting(ports: ControlPorts, options: ApproveOptions): Promise<string | ExitCode> {
  const found = await askOnce(ports, "approvals.list", { states: ["pending"], count: 2 });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const [first, second] = found.value.approvals;
  if (first !== undefined && second === undefined) return first.id;
  const message = first === undefined ? "no pending approvals" : "more than one approval is pending: name one";
  return fail(ports, options, EXIT.usage, message, "ambit approvals list");
}

async function answered(
  ports: ControlPorts,
  control: MessageClient<ControlMessages>,
  id: string,
  options: ApproveOptions,
  limits: Limits,
): Promise<ExitCode> {
  const found = await control.ask("approvals.show", { id });
  if (!found.ok) return tellApprovalRefusal(ports, found, options.json);
  const { approval, ladder } = found.value;
  if (!options.json) ports.print(approvalCard(approval, ladder, ports.now(), ports.paint, await sha256()));
  if (approval.state !== "pending")
    return fail(
      ports,
      options,
      approval.state === "expired" ? EXIT.expired : EXIT.error,
      `the approval is already ${approval.state}`,
      null,
    );
  const step = options.step === undefined ? null : stepOf(ladder, options.step);
  if (step === undefined)
    return fail(ports, options, EXIT.usage, `no step ${JSON.stringify(options.step)}`, stepNames(ladder));
  const reach = options.yes
    ? { step: step?.name ?? "exact", ...limits.chosen }
    : await chosenReach(ports, found.value, step, limits);
  if (reach === null) {
    ports.print("nothing was approved");
    return EXIT.ask;
  }
  const isPresenceWanted = needsPresence(approval) || options.presence !== undefined;
  const presence = isPresenceWanted ? await presenceOf(ports, control, options, options.presence) : null;
  if (typeof presence === "number") return presence;
  return sent(ports, control, id, options, reach, presence);
}

async function sent(
  ports: ControlPorts,
  control: MessageClient<ControlMessages>,
  id: string,
  options: ApproveOptions,
  reach: Reach,
  presence: Presence | null,
): Promise<ExitCode> {
  const answer = await control.ask("approvals.approve", { id, ...reach, presence });
  if (!answer.ok) {
    // The user's own configuration may ask for presence where the agent's grant does not.
    if (answer.code !== "presence_required" || presence !== null || options.json || !ports.terminal.isInteractive)
      return tellApprovalRefusal(ports, answer, options.json);
    const typed = await presenceOf(ports, control, options, undefined);
    return typeof typed === "number" ? typed : sent(ports, control, id, options, reach, typed);
  }
  const { approval, missing } = answer.value;
  if (options.json) ports.print(jsonLine({ approval, missing }));
  else if (missing > 0)
    ports.print(
      `${ports.paint.warn("agreed")}: ${missing === 1 ? "one more person" : `${missing} more people`} must approve`,
    );
  else
    ports.print(
      `${ports.paint.good("approved")} ${visibleText(approval.id)}: ${usesText(approval.usesLeft)}, ${lengthText(approval.expires - ports.now())}`,
    );
  return missing > 0 ? EXIT.ask : EXIT.ok;
}

interface Limits {
  readonly chosen: Pick<Reach, "uses" | "milliseconds">;
  /** Confirmed by an option, so there is no prompt. */
  readonly isSaid: boolean;
}

/** What is wrong with them, as text. */
function limitsOf(options: ApproveOptions): Limits | string {
  const uses = options.uses === undefined ? 1 : /^\d{1,6}$/.test(options.uses) ? Number(options.uses) : 0;
  if (uses < 1 || uses > answerUsesMax) return `--uses must be a number from 1 to ${answerUsesMax}`;
  const milliseconds = options.for === undefined ? DEFAULT_MILLISECONDS : parseDuration(options.for);
  if (milliseconds === null || milliseconds < answerMillisecondsMin || milliseconds > answerMillisecondsMax)
    return `--for must be a duration such as 30m, at most ${lengthText(answerMillisecondsMax)}; for longer, add a grant: ambit agents grant`;
  return { chosen: { uses, milliseconds }, isSaid: options.uses !== undefined || options.for !== undefined };
}

/** By its name or its number. Undefined where there is none. */
function stepOf(ladder: readonly LadderStep[], text: string): LadderStep | undefined {
  return ladder.find(({ name }) => name === text) ?? (/^\d{1,3}$/.test(text) ? ladder[Number(text) - 1] : undefined);
}

function stepNames(ladder: readonly LadderStep[]): string {
  return `--step ${ladder.map(({ name }) => name).join(" | ")}`;
}

/** Both questions are answered by typing what is shown: a key, a line meant for a shell or type-ahead approves nothing. */
async function chosenReach(
  { terminal }: ControlPorts,
  { ladder }: ApprovalView,
  step: LadderStep | null,
  { chosen, isSaid }: Limits,
): Promise<Reach | null> {
  const typed = step === null ? await terminal.typed(WHICH) : "";
  const reach = step === null ? readReach(typed, ladder, isSaid ? chosen : null) : { step: step.name, ...chosen };
  if (reach === null) return null;
  const what = `approve ${visibleText(reach.step)}, ${usesText(reach.uses)}, ${lengthText(reach.milliseconds)}`;
  return (await typedYes(terminal, what)) ? reach : null;
}

const WHICH = "Which step? Its number or name; with x10 for 10 uses; else: no approval";
const REACH = /^(\S{1,256})(?: +x([1-9]\d{0,5}))?$/;

/** `exact`, `2` or `2 x10`. `said`: limits of the command line, which a typed count does not change. */
function readReach(text: string | null, ladder: readonly LadderStep[], said: Limits["chosen"] | null): Reach | null {
  const [, name, count] = REACH.exec((text ?? "").trim()) ?? [];
  const step = name === undefined ? undefined : stepOf(ladder, name);
  if (step === undefined || (said !== null && count !== undefined)) return null;
  const uses = count === undefined ? 1 : Number(count);
  if (uses > answerUsesMax) return null;
  return { step: step.name, ...(said ?? { uses, milliseconds: DEFAULT_MILLISECONDS }) };
}
