// What an agent holds now, as the running daemon tells it: from the same code that decides its calls. Without a daemon the
// files alone are known, and what is left out is said.

import type { Risk } from "../../core/authority/catalog.ts";
import type { Refusal } from "../../core/ports/daemon/exchange.ts";
import type { DecisionView, HeldChainView, HoldingRequest, HoldingView } from "../../core/ports/daemon/holding-view.ts";
import type { ControlPorts } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { riskText } from "./risk.ts";

export interface HoldingPorts extends Pick<ControlPorts, "serving" | "paint"> {
  readonly cwd?: string;
}

/** Null where no daemon runs. */
type HoldingAnswer<T> = { readonly ok: true; readonly value: T } | Refusal | null;

export const LEFT_OUT =
  "no daemon is running: delegations, agents created by agents, used budgets and a freeze are not included";

export function holdingNow(
  ports: HoldingPorts,
  asked: Omit<HoldingRequest, "cwd">,
): Promise<HoldingAnswer<HoldingView>> {
  return ask(ports, (control, cwd) => control.ask("agent.holding", { cwd, ...asked }));
}

export function decisionNow(
  ports: HoldingPorts,
  asked: Omit<HoldingRequest, "cwd">,
  request: readonly string[],
): Promise<HoldingAnswer<DecisionView>> {
  return ask(ports, (control, cwd) => control.ask("agent.decide", { cwd, ...asked, request }));
}

type Control = NonNullable<Awaited<ReturnType<NonNullable<ControlPorts["serving"]>>>>;

async function ask<T>(
  ports: HoldingPorts,
  question: (control: Control, cwd: string) => Promise<{ readonly ok: true; readonly value: T } | Refusal>,
): Promise<HoldingAnswer<T>> {
  const control = (await ports.serving?.()) ?? null;
  if (control === null || ports.cwd === undefined) return null;
  try {
    return await question(control, ports.cwd);
  } finally {
    control.close();
  }
}

/** What was delegated to it; its own record is shown from the file. */
export function delegatedLines({ chains }: HoldingView, now: number, paint: ControlPorts["paint"]): readonly string[] {
  const lines = chains.flatMap((chain) => (chain.link === null ? [] : chainLines(chain, now, paint)));
  const hasTools = chains.some(({ fault, grants }) => fault === null && grants.some(isAboutTools));
  return lines.length === 0 || hasTools ? lines : [...lines, `${paint.warn("note")}: ${NO_TOOLS}`];
}

const NO_TOOLS =
  "it has no `tool.invoke`, so it cannot call a tool with this grant; fix: delegate tool.invoke{tools=[builtin:**]} too";

function isAboutTools({ shown, isExpired }: HeldChainView["grants"][number]): boolean {
  return !isExpired && /^tool\.invoke(?:\{|$)/.test(shown);
}

export function chainLines(chain: HeldChainView, now: number, paint: ControlPorts["paint"]): readonly string[] {
  const { link, from, grants, fault, expires, isComplete } = chain;
  const marks = [
    ...(fault === null ? [] : [fault]),
    ...(expires === null || now >= expires ? [] : [`${Math.ceil((expires - now) / 60_000)} min left`]),
    ...(isComplete ? [] : ["it has more grants than can be listed"]),
  ];
  const head =
    link === null
      ? []
      : [
          `delegated by ${visibleText(from ?? "")}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}  ${paint.dim(link)}`,
        ];
  return [
    ...head,
    ...byConsequence(grants).map(({ shown: grant, risk, effect, isExpired }) => {
      const mark = isExpired ? paint.warn("  (expired)") : "";
      return `${riskText(paint, risk, "●")} ${visibleText(grant)}${mark}\n    ${riskText(paint, risk, risk)}: ${visibleText(effect)}`;
    }),
  ];
}

const RISKS: readonly Risk[] = ["high", "medium", "low"];

/** Consequential grants first. */
function byConsequence(grants: HeldChainView["grants"]): HeldChainView["grants"] {
  return RISKS.flatMap((risk) => grants.filter((grant) => grant.risk === risk));
}

export function blockedLine({ blocked }: HoldingView): string | null {
  return blocked === null ? null : `${blocked.code}: ${blocked.reason}`;
}
