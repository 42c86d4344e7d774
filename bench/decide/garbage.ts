// Garbage of a decision in bytes. It may not grow with the number of grants.
import { chainLevel } from "../../src/core/authority/chain.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Cell } from "../cell-process.ts";
import { chainOf, grantOf, MOMENT, readRequest, textOf } from "../engines/ambit.ts";
import { heapBytes } from "../heap.ts";
import type { Row } from "../row.ts";
import { writtenGrants, writtenRequests } from "../workload.ts";

/** Few enough that their garbage fits into the young generation, so that nothing is collected meanwhile. */
const decisions = 20_000;
const warmings = 20;
const tries = 5;

export function measureGarbage({ subject, size }: Cell, ready: () => void): readonly Row[] {
  const grants = writtenGrants(size);
  const chain = chainOf(grants.map(grantOf));
  const requests = writtenRequests(grants)
    .filter((request) => request.allowed)
    .map((request) => readRequest(textOf(request)));
  ready();
  const decideAll = (): void => {
    for (let at = 0; at < decisions; at++)
      if (chainLevel(chain, requests[at % requests.length] as Request, MOMENT, "use") < 0) throw new Error("denied");
  };
  for (let warming = 0; warming < warmings; warming++) decideAll();
  const left = Array.from({ length: tries }, () => {
    const before = heapBytes();
    decideAll();
    return (process.memoryUsage().heapUsed - before) / decisions;
  });
  const value = Math.max(0, Math.min(...left));
  return [{ subject, case: `garbage of an allowed decision N=${size}`, value, unit: "bytes" }];
}
