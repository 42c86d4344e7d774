// `within`: a child that has every grant of its parent, each narrowed.
import type { Authority } from "../../src/core/authority/chain.ts";
import { within } from "../../src/core/authority/witness/within.ts";
import type { Cell } from "../cell-process.ts";
import { secondsOfUnits } from "../clock.ts";
import { chainOf, grantOf, PATH_SETTINGS } from "../engines/ambit.ts";
import type { Row } from "../row.ts";
import { type WrittenGrant, writtenGrants } from "../workload.ts";

export function measureContainment({ subject, size }: Cell, ready: () => void): readonly Row[] {
  const written = writtenGrants(size);
  const parent: Authority = [chainOf(written.map(grantOf))];
  const child = written.map((grant) => grantOf(narrowed(grant)));
  const wider = [...child.slice(0, -1), ...written.slice(-1).map((grant) => grantOf(widened(grant)))];
  const given = { protectedPaths: PATH_SETTINGS.protectedPaths, delegating: true };
  ready();
  if (within(child, parent, given).kind !== "within") throw new Error("within does not see that the child is narrower");
  if (within(wider, parent, given).kind !== "exceeds") throw new Error("within does not see that one grant is wider");
  const value = secondsOfUnits((units) => {
    for (let unit = 0; unit < units; unit++)
      if (within(child, parent, given).kind !== "within") throw new Error("within gave two different answers");
  }, 2);
  return [{ subject, case: `within, a grant of N=${size}`, value: value / size, unit: "ns" }];
}

function narrowed(grant: WrittenGrant): WrittenGrant {
  switch (grant.kind) {
    case "below":
      return { ...grant, value: `inner.${grant.value}` };
    case "tree":
      return { ...grant, value: `${grant.value}/src` };
    case "exact":
    case "program":
      return grant;
  }
}

function widened(grant: WrittenGrant): WrittenGrant {
  return { ...grant, value: `${grant.value}x` };
}
