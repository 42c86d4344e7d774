// The tests in a record: requests with the verdict its author expects.
import type { Moment } from "../../core/authority/compiled.ts";
import { type Caller, decide } from "../../core/gate/decide.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { RecordTest } from "../../core/notation/record/record-tests.ts";
import { readRequestText } from "../../core/notation/request/request.ts";

export interface TestResult {
  readonly test: RecordTest;
  readonly passed: boolean;
  /** The actual result: an outcome with its code, or why the request could not be parsed. */
  readonly got: string;
}

export function runTests(
  tests: readonly RecordTest[],
  caller: Caller,
  reading: Reading,
  moment: Moment,
): readonly TestResult[] {
  return tests.map((test) => {
    const asked = readRequestText(test.request, reading);
    if (!asked.ok) return { test, passed: false, got: `no request (${asked.message})` };
    const { decision } = decide(caller, asked.value, moment, reading.pathSettings.protectedPaths);
    const code = decision.outcome === "deny" ? decision.code : null;
    const passed = decision.outcome === test.outcome && (test.code === null || test.code === code);
    return { test, passed, got: code === null ? decision.outcome : `${decision.outcome} (${code})` };
  });
}
