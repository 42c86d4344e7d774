// The tests a record brings: requests with the verdict its author expects.
import type { Moment } from "../authority/compiled.ts";
import type { Grant } from "../authority/grant.ts";
import type { Ground } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { type Caller, decide } from "../gate/decide.ts";
import type { Reading } from "../notation/reading.ts";
import type { RecordTest } from "../notation/record-tests.ts";
import { readRequestText } from "../notation/request.ts";

export interface TestResult {
  readonly test: RecordTest;
  readonly passed: boolean;
  /** What came instead, in words: an outcome with its code, or why the request could not be read. */
  readonly got: string;
  /** Granted, and denied all the same: no tool changes a protected name. */
  readonly isKept: boolean;
}

/**
 * Whether whoever carries a request out refuses it, although these grants cover it: a protected name, which no tool
 * changes. Which names those are is not known here.
 */
export type IsHeld = (
  agent: { readonly grants: readonly Grant[] },
  request: Request,
  ground: Pick<Ground, "home">,
) => boolean;

export function runTests(
  tests: readonly RecordTest[],
  caller: Caller,
  reading: Reading,
  moment: Moment,
  isHeld: (request: Request) => boolean,
): readonly TestResult[] {
  return tests.map((test) => {
    const asked = readRequestText(test.request, reading);
    if (!asked.ok) return { test, passed: false, got: `no request (${asked.message})`, isKept: false };
    const { decision } = decide(caller, asked.value, moment, reading.ground.protectedPaths);
    // What the gate denies is told as that; what it allows is a promise only if a tool would do it.
    const isKept = decision.outcome !== "deny" && isHeld(asked.value);
    const code = decision.outcome === "deny" ? decision.code : isKept ? "self_modification" : null;
    const outcome = code === null ? decision.outcome : "deny";
    const passed = outcome === test.outcome && (test.code === null || test.code === code);
    return { test, passed, got: code === null ? outcome : `${outcome} (${code})`, isKept };
  });
}
