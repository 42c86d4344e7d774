// The result of running one case: two answers to compare, or why there is nothing to compare.
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../src/core/base/json.ts";
import type { Row, VectorFile } from "./row.ts";

export type Room = "confinement" | "tools" | "served" | "agents" | "clients" | "state";

export interface Compared {
  readonly kind: "compared";
  /** What the file says; only that is compared. */
  readonly expected: JsonObject;
  readonly got: JsonObject;
  /** We allow something that the file denies. */
  readonly wider: boolean;
  /** Compares with an answer that has more than one spelling; without it, values are compared exactly. */
  readonly answers?: (answer: JsonObject) => boolean;
}

export type Outcome =
  | Compared
  | { readonly kind: "pending"; readonly room: Room }
  | { readonly kind: "not_run"; readonly why: string };

export interface Family {
  /** Columns with the expected answer. No predicate of a decision ever sees them. */
  readonly answers: readonly string[];
  readonly run: (row: Row, file: VectorFile) => Outcome | Promise<Outcome>;
}

export function pendingOutcome(room: Room): Outcome {
  return { kind: "pending", room };
}

export function notRun(why: string): Outcome {
  return { kind: "not_run", why };
}

/** A boolean column: `name` is what the file calls it, and `true` is the side that allows. */
export function yesOrNo(name: string, expected: boolean, got: boolean, more: JsonObject = {}): Compared {
  return {
    kind: "compared",
    expected: { [name]: expected, ...more },
    got: { [name]: got, ...more },
    wider: got && !expected,
  };
}

/** `allow` and `deny`, with the code where the file gives one. */
export function allowOrDeny(expected: JsonObject, got: JsonObject): Compared {
  return { kind: "compared", expected, got, wider: expected["expect"] !== "allow" && got["expect"] === "allow" };
}

export function holds({ expected, got, answers }: Compared): boolean {
  return answers === undefined ? agrees(expected, got) : answers(expected);
}

/** Whether `got` contains everything in the answer; anything else is not compared. */
export function agrees(answer: JsonObject, got: JsonObject): boolean {
  return Object.entries(answer).every(([key, value]) => Object.hasOwn(got, key) && sameJson(value, got[key] as Json));
}

export function sameJson(left: Json, right: Json): boolean {
  if (isJsonList(left)) {
    return (
      isJsonList(right) && left.length === right.length && left.every((item, at) => sameJson(item, right[at] as Json))
    );
  }
  if (isJsonObject(left)) {
    return isJsonObject(right) && Object.keys(left).length === Object.keys(right).length && agrees(left, right);
  }
  return left === right;
}

/** The codes of the seeds in our spelling. */
const CODES: Readonly<Record<string, string>> = {
  budget: "budget_exhausted",
  generation: "generation_stale",
  host_not_allowed: "scope_violation",
  private_address: "address_refused",
  NotFound: "unknown_tool",
};

export function ourCode(code: string): string {
  return Object.hasOwn(CODES, code) ? (CODES[code] as string) : code;
}
