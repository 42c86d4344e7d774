// Checks a tool's requirement against the policy, entry by entry, so that an error names the entry that exceeds it.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { type Containment, withinEach } from "../../core/authority/witness/within.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";

/** A parsed declaration: the notation's own shape, by its parts. */
export interface Requirement {
  readonly grants: readonly Grant[];
  readonly parts: readonly string[];
  /** Parts that take everything the policy allows: there is nothing to check. */
  readonly inherited: readonly string[];
}

export interface RequirementReading {
  /** Null: invalid. */
  readonly requirement: Requirement | null;
  readonly diagnostics: readonly { readonly severity: string; readonly message: string }[];
}

/** `readDeclarationValue` of the notation, with the paths and names of this machine. */
export type ReadRequirement = (declaration: JsonObject) => RequirementReading;

export interface Policy {
  /** The upper limit of a tool's requirement. */
  readonly authority: Authority;
  /** What it is called in messages. */
  readonly name: string;
  /** The parts it limits; null is every part. Other parts are limited only by the agent's grants. */
  readonly holds: readonly string[] | null;
  readonly protectedPaths: PathSettings["protectedPaths"];
}

/** Why a tool was not registered. */
export interface RegistrationError {
  readonly tool: string;
  /** A part of the declaration (`network`, `fs_reach.read` and so on), or `name`, `input` and other parts of the definition. */
  readonly capability: string;
  /** The entry: a host, path or program; null for the whole part. */
  readonly entry: string | null;
  readonly code: "exceeds_policy" | "not_understood" | "bad_definition" | "duplicate" | "unknown_agent";
  readonly message: string;
  /** A request that the entry would cover and the policy does not, as `ambit can` reads it. */
  readonly counterexample: string | null;
}

interface DeclaredEntry {
  readonly capability: string;
  readonly entry: string | null;
  /** A declaration with only this entry. */
  readonly alone: JsonObject;
}

const entriesMax = 1024;

/** Empty: all of it is valid and within the policy. */
export function requirementErrors(
  tool: string,
  declaration: JsonObject,
  read: ReadRequirement,
  policy: Policy,
): readonly RegistrationError[] {
  const entries = entriesOf(declaration);
  const error = (
    { capability, entry }: Pick<DeclaredEntry, "capability" | "entry">,
    code: RegistrationError["code"],
    message: string,
    counterexample: string | null = null,
  ): RegistrationError => ({ tool, capability, entry, code, message, counterexample });
  if (entries.length > entriesMax)
    return [
      error({ capability: "capabilities", entry: null }, "not_understood", `it has more than ${entriesMax} entries`),
    ];
  const errors: RegistrationError[] = [];
  const asked: { readonly entry: DeclaredEntry; readonly grant: Grant }[] = [];
  for (const entry of entries) {
    const { requirement, diagnostics } = read(entry.alone);
    const fault = diagnostics.find(({ severity }) => severity === "error");
    if (requirement === null || fault !== undefined)
      errors.push(error(entry, "not_understood", fault?.message ?? "it cannot be parsed"));
    else if (isHeld(entry.capability, requirement, policy))
      asked.push(...requirement.grants.map((grant) => ({ entry, grant })));
  }
  // Each entry may be valid and the whole still not be: too many of them, or a part that is not a list.
  const whole = read(declaration);
  if (whole.requirement === null && errors.length === 0)
    errors.push(error({ capability: "capabilities", entry: null }, "not_understood", firstError(whole)));
  const containments = withinEach(
    asked.map(({ grant }) => grant),
    policy.authority,
    { protectedPaths: policy.protectedPaths, delegating: false },
  );
  for (const [at, containment] of containments.entries()) {
    const entry = asked[at]?.entry;
    if (entry === undefined || containment.kind === "within" || errors.some((one) => isFor(one, entry))) continue;
    const example = containment.kind === "exceeds" ? requestText(containment.request) : null;
    errors.push(error(entry, "exceeds_policy", exceeding(containment, policy.name, example), example));
  }
  return errors;
}

function isHeld(capability: string, { inherited }: Requirement, { holds }: Policy): boolean {
  return !inherited.includes(capability) && (holds === null || holds.includes(capability));
}

function isFor(error: RegistrationError, { capability, entry }: DeclaredEntry): boolean {
  return error.capability === capability && error.entry === entry;
}

function firstError({ diagnostics }: RequirementReading): string {
  return diagnostics.find(({ severity }) => severity === "error")?.message ?? "it cannot be parsed";
}

function exceeding(
  containment: Exclude<Containment, { kind: "within" }>,
  policy: string,
  example: string | null,
): string {
  if (containment.kind === "unknown") return `it cannot be proved to be within ${policy}`;
  const such = example === null ? "" : `, such as ${example}`;
  return containment.because === "request"
    ? `${policy} does not allow it${such}`
    : `${policy} allows it only under conditions${such}`;
}

/** One per list element, or one for any other value. */
function entriesOf(declaration: JsonObject): readonly DeclaredEntry[] {
  return Object.entries(declaration).flatMap(([part, value]): readonly DeclaredEntry[] => {
    if (isJsonList(value))
      return listed(part, value, (one) => ({ [part]: one }), {
        capability: part,
        entry: null,
        alone: { [part]: value },
      });
    if (part !== "storage" && isJsonObject(value)) {
      const inner = Object.entries(value).flatMap(([key, list]) => {
        const capability = part === "fs_reach" ? `${part}.${key}` : part;
        const whole = { capability, entry: textOf(list), alone: { [part]: { [key]: list } } };
        return isJsonList(list) ? listed(capability, list, (one) => ({ [part]: { [key]: one } }), whole) : [whole];
      });
      if (inner.length > 0) return inner;
    }
    return [{ capability: part, entry: textOf(value), alone: { [part]: value } }];
  });
}

function listed(
  capability: string,
  list: readonly Json[],
  alone: (list: readonly Json[]) => JsonObject,
  whole: DeclaredEntry,
): readonly DeclaredEntry[] {
  if (list.length === 0) return [whole];
  return list.map((one) => ({ capability, entry: textOf(one), alone: alone([one]) }));
}

function textOf(value: Json): string | null {
  if (typeof value === "string") return value;
  if (isJsonObject(value) && typeof value["scope"] === "string") return value["scope"];
  return value === null || typeof value === "object" ? null : String(value);
}
