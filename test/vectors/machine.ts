// The machine the vectors are evaluated on: home /home/u, working directory /w, nothing configured, a fixed clock.

import { type PathSettings, parseRoot } from "../../src/core/authority/axes/path.ts";
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import { type CompiledLink, compile, type Moment, WHOLE_LINK } from "../../src/core/authority/compiled.ts";
import type { Decision } from "../../src/core/authority/decision.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { ALWAYS, type Link, type LinkRole } from "../../src/core/authority/link.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { within } from "../../src/core/authority/witness/within.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import { compactText } from "../../src/core/notation/printer.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";

export const HOME = "/home/u";
export const WORK = "/w";

export const PATH_SETTINGS: PathSettings = pathSettingsOf({ home: HOME, cwd: WORK });
export const READING: Reading = { pathSettings: PATH_SETTINGS, toAscii, ceiling: null };
export const NO_SPAN = { source: "vector", start: 0, end: 0 } as const;

/** A folder's segments; one the core refuses is a mistake in the row. */
export function rootOf(text: string): readonly string[] {
  const root = parseRoot(text, PATH_SETTINGS);
  if (!root.ok) throw new Error(`${JSON.stringify(text)} is not a folder: ${root.message}`);
  return root.value;
}

export function linkOf(grants: readonly Grant[], more: Partial<Link> = {}, role: LinkRole = "own"): CompiledLink {
  return compile({
    id: "own",
    role,
    issuer: "person",
    holder: "agent",
    grants,
    validity: ALWAYS,
    calls: null,
    ...more,
  });
}

export function authorityOf(grants: readonly Grant[]): Authority {
  return [[linkOf(grants)]];
}

/** Accounts are full, so only one that never held anything is empty. */
export function momentOf(chain: Chain, generation = 0): Moment {
  const empty = (id: string, grant: number): boolean =>
    chain.some(
      ({ link }) => link.id === id && (grant === WHOLE_LINK ? link.calls : link.grants[grant]?.conditions.calls) === 0,
    );
  return { now: 0, clean: true, generation, revoked: null, exhausted: empty };
}

export function decisionOf(grants: readonly Grant[], request: Request): Decision {
  const chain: Chain = [linkOf(grants)];
  return judge([chain], request, momentOf(chain));
}

/** A decision in the notation of the files. */
export function answerOf(decision: Decision): JsonObject {
  return decision.outcome === "deny" ? { expect: "deny", code: decision.code } : { expect: decision.outcome };
}

export function isWithin(child: readonly Grant[], parent: readonly Grant[]): boolean {
  return (
    within(child, authorityOf(parent), { protectedPaths: PATH_SETTINGS.protectedPaths, delegating: false }).kind ===
    "within"
  );
}

/** As authority: order, merging and spelling do not count. */
export function sameAuthority(left: readonly Grant[], right: readonly Grant[]): boolean {
  return isWithin(left, right) && isWithin(right, left);
}

export function grantTexts(grants: readonly Grant[]): readonly string[] {
  return grants.map(compactText);
}
