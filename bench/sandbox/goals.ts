// The figures we set ourselves for sandboxes, and whether this run reached them. Said, never enforced.
import type { Goal } from "../decide/goals.ts";
import { figure, ratio } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import { OURS } from "./ambit.ts";
import { BARE, BUBBLEWRAP } from "./bare.ts";
import { ASYNC, SMALL_READ, SYNC } from "./file-cases.ts";
import { IDLE } from "./memory.ts";
import { CURL_DOWNLOAD } from "./network-cases.ts";
import { RUNTIME } from "./sandbox-runtime.ts";
import { COLD, COLD_ENDED, WARM } from "./starts.ts";

const coldMax = 1.4;
const warmNanosecondsMax = 1e6;
const aheadMin = 5;
const throughputMin = 2;
const readMax = 4;
const readNanosecondsMax = 60_000;
const idleBytesMax = 5 * 1_048_576;

export function goals(rows: readonly Row[]): readonly Goal[] {
  const of = (subject: string, name: string): number => measuredValue(rows, subject, name) ?? Number.NaN;
  const times = (subject: string, name: string): number => of(subject, name) / of(OURS, name);
  const overBare = of(OURS, WARM) - of(BARE, WARM);
  // "4x an in-process read + 60 µs" is one limit for each of the two ways to read in process.
  const read = (subject: string): Goal => {
    const limit = readMax * of(subject, SMALL_READ) + readNanosecondsMax;
    return {
      goal: `${SMALL_READ} at most ${readMax}x ${subject} + 60 µs`,
      measured: `${figure(of(OURS, SMALL_READ), "ns")} of ${figure(limit, "ns")}`,
      ok: of(OURS, SMALL_READ) <= limit,
    };
  };
  const all: readonly Goal[] = [
    ...[COLD, COLD_ENDED].map((name): Goal => {
      const value = of(OURS, name) / of(BUBBLEWRAP, name);
      return { goal: `${name}: at most ${coldMax}x plain bubblewrap`, measured: ratio(value), ok: value <= coldMax };
    }),
    {
      goal: `${WARM}: at most a bare spawn + 1 ms`,
      measured: `${overBare < 0 ? "-" : "+"}${figure(Math.abs(overBare), "ns")}`,
      ok: overBare <= warmNanosecondsMax,
    },
    {
      goal: `${COLD}: ahead of ${RUNTIME} by ${aheadMin}x`,
      measured: ratio(times(RUNTIME, COLD)),
      ok: times(RUNTIME, COLD) >= aheadMin,
    },
    {
      goal: `${CURL_DOWNLOAD}: ${throughputMin}x the throughput of ${RUNTIME}`,
      measured: ratio(times(RUNTIME, CURL_DOWNLOAD)),
      ok: times(RUNTIME, CURL_DOWNLOAD) >= throughputMin,
    },
    read(SYNC),
    read(ASYNC),
    { goal: `${IDLE}: under 5 MiB`, measured: figure(of(OURS, IDLE), "bytes"), ok: of(OURS, IDLE) < idleBytesMax },
  ];
  // What has no peer on this machine was not measured: neither reached nor short.
  return all.filter(({ measured }) => !measured.includes("NaN"));
}
