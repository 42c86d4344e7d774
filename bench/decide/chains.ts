// Delegation: longer chains, and many of them.
import { type Authority, type Chain, chainLevel, coverage } from "../../src/core/authority/chain.ts";
import type { CompiledLink } from "../../src/core/authority/compiled.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Cell } from "../cell-process.ts";
import { secondsOfUnits } from "../clock.ts";
import { chainOf, grantOf, MOMENT, readRequest, textOf } from "../engines/ambit.ts";
import type { Row } from "../row.ts";
import { type WrittenGrant, writtenGrants, writtenRequests } from "../workload.ts";

const lengths: readonly number[] = [1, 4, 16];
const chainsCount = 100;

export function measureChains({ subject, size }: Cell, ready: () => void): readonly Row[] {
  ready();
  const grants = writtenGrants(size);
  const requests = writtenRequests(grants)
    .filter((request) => request.allowed)
    .map((request) => readRequest(textOf(request)));
  const rows = lengths.map((length): Row => {
    const chain = chainOf(...Array.from({ length }, () => grants.map(grantOf)));
    const value = secondsOfUnits((units) => {
      for (let at = 0; at < units; at++)
        if (chainLevel(chain, requests[at % requests.length] as Request, MOMENT, "use") < 0) throw new Error("denied");
    });
    return { subject, case: `chain of ${length}, ${size} grants a link`, value, unit: "ns" };
  });
  return [...rows, manyChains(subject, grants, requests)];
}

/** One granter's link, then a hundred delegations of which only the last covers the request. */
function manyChains(subject: string, grants: readonly WrittenGrant[], requests: readonly Request[]): Row {
  const granter = chainOf(grants.map(grantOf))[0];
  const authority: Authority = Array.from({ length: chainsCount }, (_, at): Chain => {
    const value = (grant: WrittenGrant): string => (at === chainsCount - 1 ? grant.value : `${grant.value}x${at}`);
    const link: CompiledLink = chainOf(grants.map((grant) => grantOf({ ...grant, value: value(grant) })))[0];
    return [granter, link];
  });
  const value = secondsOfUnits((units) => {
    for (let at = 0; at < units; at++)
      if (coverage(authority, requests[at % requests.length] as Request, MOMENT)?.by.chain !== chainsCount - 1)
        throw new Error("not covered by the last chain");
  });
  return { subject, case: `${chainsCount} chains of 2, the last covers`, value, unit: "ns" };
}
