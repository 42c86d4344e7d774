// Patterns written to be slow: many deep stars on a deep path that almost matches, and many globs side by side.

import { parsePath, parsePathPatterns } from "../../src/core/authority/axes/path.ts";
import { type Chain, chainLevel } from "../../src/core/authority/chain.ts";
import { compile } from "../../src/core/authority/compiled.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Cell } from "../cell-process.ts";
import { secondsOfUnits } from "../clock.ts";
import { chainOf, entry, grant, linkOf, MOMENT, PATH_SETTINGS, read } from "../engines/ambit.ts";
import type { Row } from "../row.ts";

const runs: readonly number[] = [2, 4, 6, 8, 10];
const depth = 24;
/** Enough of one verb that the link builds its index. */
const indexed = 32;

export function measureHostile({ subject, size }: Cell, ready: () => void): readonly Row[] {
  ready();
  const request = asked("/a".repeat(depth));
  const deep = runs.flatMap((count): Row[] => {
    const pattern = `/**/${"a/**/".repeat(count - 1)}b`;
    const alone = chainOf([reading(pattern)]);
    const among = chainOf([reading(pattern), ...Array.from({ length: indexed }, (_, at) => reading(`/srv/${at}/**`))]);
    return [
      { subject, case: `hostile, ${count} deep stars alone`, value: denied(alone, request), unit: "ns" },
      { subject, case: `hostile, ${count} deep stars in an index`, value: denied(among, request), unit: "ns" },
    ];
  });
  return [
    ...deep,
    ...crowd(subject, `${size} globs at one node, each its own beginning`, size, (at) => `/srv/f${at}-*.txt`),
    ...crowd(subject, `${size} globs at one node, no beginning`, size, (at) => `/srv/*-f${at}.txt`),
  ];
}

function crowd(subject: string, name: string, size: number, pattern: (at: number) => string): readonly Row[] {
  const link = linkOf(Array.from({ length: size }, (_, at) => reading(pattern(at))));
  const chain: Chain = [compile(link)];
  const value = denied(chain, asked(`/srv/f${size - 1}-report-f${size - 1}.text`));
  const compiling = secondsOfUnits((units) => {
    for (let unit = 0; unit < units; unit++) compile(link);
  }, 2);
  return [
    { subject, case: `hostile, ${name}`, value, unit: "ns" },
    { subject, case: `hostile, ${name}, compile a grant`, value: compiling / size, unit: "ns" },
  ];
}

function denied(chain: Chain, request: Request): number {
  return secondsOfUnits((units) => {
    for (let at = 0; at < units; at++)
      if (chainLevel(chain, request, MOMENT, "use") >= 0) throw new Error("a hostile pattern matched");
  });
}

function reading(pattern: string): Grant {
  return grant("fs.read", [{ kind: "sequences", of: read(parsePathPatterns(pattern, [], PATH_SETTINGS)) }]);
}

function asked(path: string): Request {
  return { verb: entry("fs.read"), values: [read(parsePath(path, PATH_SETTINGS))] };
}
