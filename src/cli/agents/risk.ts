// Grants for people: the consequential ones first, in the colour of their risk.

import { isNothing } from "../../core/authority/axes/scope.ts";
import { byRisk, type Risk } from "../../core/authority/catalog.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { compactText, grantWords } from "../../core/notation/printer.ts";
import { visibleText } from "../terminal/cells.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";

/** Any text in the colour of a risk. */
export function riskText(paint: Paint, risk: Risk, text: string): string {
  return paintRisk(paint, risk).replace(risk, () => text);
}

export function sortedByRisk(grants: readonly Grant[]): readonly Grant[] {
  return [...grants].sort((left, right) => byRisk(left.verb, right.verb));
}

/** Of what it really can do: a grant of nothing has no risk. */
export function highestRisk(grants: readonly Grant[]): Risk | null {
  return sortedByRisk(grants.filter((grant) => !grant.scopes.some(isNothing))).at(0)?.verb.risk ?? null;
}

export function grantLine(paint: Paint, grant: Grant, now: number): string {
  const { risk } = grant.verb;
  const implied = grant.implied === null ? "" : paint.dim(`  (${visibleText(grant.implied)})`);
  const { expires } = grant.conditions;
  const ended = expires !== null && now >= expires ? paint.warn("  (expired)") : "";
  const dot = riskText(paint, risk, grant.scopes.some(isNothing) ? "○" : "●");
  return `${dot} ${visibleText(compactText(grant))}${implied}${ended}\n    ${riskText(paint, risk, risk)}: ${visibleText(grantWords(grant))}`;
}
