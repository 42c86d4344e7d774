// One engine at one number of grants: first checked, then timed.
import type { Cell } from "../cell-process.ts";
import { cpuNanoseconds, secondsOfUnits } from "../clock.ts";
import { engines } from "../engines/all.ts";
import type { Engine } from "../engines/engine.ts";
import type { Row } from "../row.ts";
import { type WrittenRequest, writtenGrants, writtenRequests } from "../workload.ts";

const checkNanosecondsMax = 3e9;
/** This many are checked however slow the engine is; the slowest engines are also timed on them. */
const checkedMin = 20;

export async function measureDecisions({ subject, size }: Cell, ready: () => void): Promise<readonly Row[]> {
  const build = engines[subject];
  if (build === undefined) throw new Error(`no engine ${subject}`);
  const grants = writtenGrants(size);
  const requests = writtenRequests(grants);
  const engine = await build(grants, requests);
  ready();
  checkAnswers(subject, engine, requests);
  const value = secondsOfUnits((units) => ask(engine, requests.length, units));
  return [{ subject, case: `decide N=${size}`, value, unit: "ns" }];
}

/** The requests in their order, starting again after the last. */
export function ask(engine: Engine, requests: number, units: number): number {
  let allowed = 0;
  let left = units;
  for (; left > requests; left -= requests) allowed += engine.count(0, requests);
  return allowed + engine.count(0, left);
}

/** A wrong answer ends the bench. Slow engines are checked for three seconds of CPU, and at least on 20 requests. */
export function checkAnswers(
  subject: string,
  engine: Engine,
  requests: readonly Pick<WrittenRequest, "allowed">[],
): void {
  const start = cpuNanoseconds();
  for (const [at, { allowed }] of requests.entries()) {
    if (at >= checkedMin && cpuNanoseconds() - start > checkNanosecondsMax) return;
    if ((engine.count(at, at + 1) === 1) === allowed) continue;
    throw new Error(`${subject} answers request ${at} wrongly: ${JSON.stringify(requests[at])}`);
  }
}
