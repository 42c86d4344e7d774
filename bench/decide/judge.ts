// The full answer: which grant of each link, or the code and the position of the denial. What the gate calls.
import type { Authority } from "../../src/core/authority/chain.ts";
import { judge } from "../../src/core/authority/judge.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Cell } from "../cell-process.ts";
import { secondsOfUnits } from "../clock.ts";
import { chainOf, grantOf, MOMENT, readRequest, textOf } from "../engines/ambit.ts";
import type { Row } from "../row.ts";
import { writtenGrants, writtenRequests } from "../workload.ts";

export function measureJudge({ subject, size }: Cell, ready: () => void): readonly Row[] {
  const grants = writtenGrants(size);
  const written = writtenRequests(grants);
  const authority: Authority = [chainOf(grants.map(grantOf))];
  ready();
  return [true, false].map((allowed): Row => {
    const requests = written.filter((request) => request.allowed === allowed).map((one) => readRequest(textOf(one)));
    const value = secondsOfUnits((units) => {
      for (let at = 0; at < units; at++) {
        const { outcome } = judge(authority, requests[at % requests.length] as Request, MOMENT);
        if ((outcome === "allow") !== allowed) throw new Error(`judge answers request ${at} wrongly`);
      }
    });
    return { subject, case: `judge, ${allowed ? "allowed" : "denied"} N=${size}`, value, unit: "ns" };
  });
}
