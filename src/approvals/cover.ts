// Parses the grants of an answer from their stored text, and checks whether they cover a request.
import { compile, type Moment } from "../core/authority/compiled.ts";
import type { Grant, Span } from "../core/authority/grant.ts";
import { ALWAYS } from "../core/authority/link.ts";
import type { Request } from "../core/authority/request.ts";
import { readCompact } from "../core/notation/compact/compact.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { SpecsCover } from "./serving.ts";

/** Null if one of them has a diagnostic: then none of them counts. */
export function readSpecs(specs: readonly string[], reading: Reading): readonly Grant[] | null {
  const grants: Grant[] = [];
  for (const text of specs) {
    const span: Span = { source: "approval", start: 0, end: text.length };
    const diagnostics = new Diagnostics();
    // The chain enforces the ceiling: an answer adds no coverage, so it needs no ceiling of its own.
    const grant = readCompact(text, { reading: { ...reading, ceiling: null }, diagnostics, span, root: null });
    if (grant === null || diagnostics.list.some(({ severity }) => severity === "error")) return null;
    grants.push(grant);
  }
  return grants;
}

/** The approval has its own time limits, and requests covered by an answer do not require approval again. */
const AT_ANY_TIME: Moment = { now: 0, clean: false, generation: 0, revoked: null, exhausted: null };

export function grantsCover(grants: readonly Grant[], request: Request): boolean {
  const link = compile({
    id: "approval",
    role: "limit",
    issuer: "person",
    holder: "call",
    grants,
    validity: ALWAYS,
    calls: null,
  });
  return link.covers(request, AT_ANY_TIME, null) >= 0;
}

export function specsCover(reading: Reading): SpecsCover {
  return (specs, request) => {
    const grants = readSpecs(specs, reading);
    return grants !== null && grantsCover(grants, request);
  };
}
