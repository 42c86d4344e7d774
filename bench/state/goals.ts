// Our target figures for the state, and whether this run reached them. Reported, never enforced.
import type { Goal } from "../decide/goals.ts";
import { figure } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import { CPU, callCase, OURS, P50 } from "./calls.ts";
import { at, searchedSize, VERIFY } from "./growth.ts";
import { LOG } from "./log-filters.ts";
import { REVOKED } from "./revocation.ts";

const callsPerSecondMin = 4_000;
const aloneNanosecondsMax = 2e6;
const verifyNanosecondsMax = 10_000;
const logNanosecondsMax = 200e6;
const revokedNanosecondsMax = 100e6;

export function goals(rows: readonly Row[]): readonly Goal[] {
  const of = (subject: string, name: string): number => measuredValue(rows, subject, name) ?? Number.NaN;
  const together = 1e9 / of(OURS, callCase(128));
  const alone = of(OURS, callCase(1) + P50);
  const verify = of(OURS, at(VERIFY, searchedSize));
  const logs = rows.filter((row) => row.case.startsWith(`${LOG} by `));
  const slowest = logs.reduce((most, row) => (row.value > most.value ? row : most), logs[0] ?? NONE);
  const revoked = of(OURS, REVOKED);
  return [
    {
      goal: "128 clients: at least 4,000 decided and durable calls a second",
      measured: Math.round(together).toLocaleString("en"),
      ok: together >= callsPerSecondMin,
    },
    {
      goal: "one client: a decided and durable call takes at most 2 ms (p50)",
      measured: figure(alone, "ns"),
      ok: alone <= aloneNanosecondsMax,
    },
    {
      goal: "verify: 100,000 entries a second",
      measured: `${perSecond(verify)} (${perSecond(of(OURS, at(VERIFY + CPU, searchedSize)))} a second of CPU)`,
      ok: verify <= verifyNanosecondsMax,
    },
    {
      goal: "log over a million entries: under 200 ms",
      measured: `${figure(slowest.value, "ns")} (${slowest.case})`,
      ok: slowest.value < logNanosecondsMax,
    },
    {
      goal: "a revocation is seen by every process: within 100 ms",
      measured: figure(revoked, "ns"),
      ok: revoked < revokedNanosecondsMax,
    },
  ];
}

function perSecond(nanoseconds: number): string {
  return Math.round(1e9 / nanoseconds).toLocaleString("en");
}

const NONE: Row = { subject: OURS, case: "not measured", value: Number.NaN, unit: "ns" };
