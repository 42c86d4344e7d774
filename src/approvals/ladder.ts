// The ladder: how far one answer may reach, from exactly this call upwards. Each step is within the next, and is
// offered only if parsing its own text gives the intended grant.
import { compile } from "../core/authority/compiled.ts";
import type { Grant } from "../core/authority/grant.ts";
import { ALWAYS } from "../core/authority/link.ts";
import type { Request } from "../core/authority/request.ts";
import { within } from "../core/authority/witness/within.ts";
import { compactText, grantWords } from "../core/notation/printer.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { LadderStep } from "../core/ports/daemon/daemon-control.ts";
import { grantsCover, readSpecs } from "./cover.ts";
import { askingWidenedMax } from "./limits.ts";
import { type Step, stepsOf } from "./steps.ts";

export const EXACT_STEP: LadderStep = { name: "exact", words: "exactly this call, with these arguments", specs: null };

export function ladderOf(asking: readonly Request[], reading: Reading): readonly LadderStep[] {
  if (asking.length === 0 || asking.length > askingWidenedMax) return [EXACT_STEP];
  const each = asking.map((request) => proven(request, stepsOf(request), reading));
  // If a request has no step of its own, the whole call is approved exactly.
  if (each.some((steps) => steps.length === 0)) return [EXACT_STEP];
  const height = Math.max(...each.map((steps) => steps.length));
  const steps: LadderStep[] = [EXACT_STEP];
  for (let at = 0; at < height; at++) {
    const level = each.map((own) => own[Math.min(at, own.length - 1)] as Step);
    steps.push(stepOf(level));
  }
  return steps;
}

/** Several requests are widened together, each by its own next step. */
function stepOf(level: readonly Step[]): LadderStep {
  const specs = unique(level.map(({ grant }) => compactText(grant)));
  return {
    name: unique(level.map(({ name }) => name)).join("+"),
    words: unique(level.map(({ grant }) => grantWords(grant))).join(" AND "),
    specs,
  };
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/**
 * Stops at the first step whose text does not parse back to it, that does not cover the request, or that does not
 * contain the previous step.
 */
function proven(request: Request, steps: readonly Step[], reading: Reading): readonly Step[] {
  const kept: Step[] = [];
  for (const step of steps) {
    const read = readSpecs([compactText(step.grant)], reading);
    const before = kept.at(-1);
    const isProven =
      read !== null &&
      isWithin(read, step.grant, reading) &&
      grantsCover(read, request) &&
      (before === undefined || isWithin([before.grant], step.grant, reading));
    if (!isProven) break;
    // A step equal to the previous one is not a choice.
    if (before === undefined || !isWithin([step.grant], before.grant, reading)) kept.push(step);
  }
  return kept;
}

function isWithin(inner: readonly Grant[], outer: Grant, { pathSettings }: Reading): boolean {
  const link = compile({
    id: "step",
    role: "limit",
    issuer: "person",
    holder: "call",
    grants: [outer],
    validity: ALWAYS,
    calls: null,
  });
  return within(inner, [[link]], { protectedPaths: pathSettings.protectedPaths, delegating: false }).kind === "within";
}
