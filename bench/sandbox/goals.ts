// Our target figures for sandboxes, and whether this run reached them. Reported, never enforced.
import type { Goal } from "../decide/goals.ts";
import { figure, ratio } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import { OURS } from "./ambit.ts";
import { BARE, BUBBLEWRAP } from "./bare.ts";
import { ASYNC, SMALL_READ, SYNC } from "./file-cases.ts";
import { IDLE } from "./memory.ts";
import { CONNECT, CURL_DOWNLOAD } from "./network-cases.ts";
import { RUNTIME } from "./sandbox-runtime.ts";
import { COLD, COLD_ENDED, UNMOUNTED, WARM } from "./starts.ts";
import { COLD_DRAFT, isBuild, READ_ONLY } from "./work-cases.ts";
import { NEW_FILES, NOTHING, TEN_FILES, WORKS } from "./work-projects.ts";

const coldMax = 1.4;
const warmNanosecondsMax = 1e6;
const aheadMin = 5;
const throughputMin = 2;
const readMax = 4;
const readNanosecondsMax = 60_000;
const coldNanosecondsMax = 30e6;
const unmountedNanosecondsMax = 20e6;
const warmCommandNanosecondsMax = 5e6;
const connectNanosecondsMax = 2e6;
const workMax = 1.15;
const newFilesNanosecondsMax = 5e9;
const nothingNanosecondsMax = 10e6;
const tenFilesColdNanosecondsMax = 45e6;
const tenFilesNanosecondsMax = 15e6;
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
  const atMost = (goal: string, value: number, limit: number): Goal => ({
    goal: `${goal}: at most ${figure(limit, "ns")}`,
    measured: figure(value, "ns"),
    ok: value <= limit,
  });
  const work = WORKS.filter(({ name }) => name !== NEW_FILES).map(({ name }): Goal => {
    const value = of(OURS, name) / of(BARE, name);
    return { goal: `${name}: at most ${workMax}x bare, landed`, measured: ratio(value), ok: value <= workMax };
  });
  const unmounted = WORKS.filter(isBuild).map(({ name }): Goal => {
    const value = of(UNMOUNTED, name) / of(BARE, name);
    return { goal: `${name}, no namespaces: at most ${workMax}x bare`, measured: ratio(value), ok: value <= workMax };
  });
  const all: readonly Goal[] = [
    atMost(COLD, of(OURS, COLD), coldNanosecondsMax),
    atMost(`${COLD}, no namespaces`, of(UNMOUNTED, COLD), unmountedNanosecondsMax),
    atMost(WARM, of(OURS, WARM), warmCommandNanosecondsMax),
    atMost(CONNECT, of(OURS, CONNECT), connectNanosecondsMax),
    atMost(`${CONNECT}, no namespaces`, of(UNMOUNTED, CONNECT), connectNanosecondsMax),
    ...work,
    ...unmounted,
    atMost(`${NEW_FILES}, landed`, of(OURS, NEW_FILES), newFilesNanosecondsMax),
    atMost(
      `${NOTHING}: more than with a read-only root`,
      of(OURS, NOTHING) - of(READ_ONLY, NOTHING),
      nothingNanosecondsMax,
    ),
    atMost(`${TEN_FILES}, landed, first command`, of(COLD_DRAFT, TEN_FILES), tenFilesColdNanosecondsMax),
    atMost(`${TEN_FILES}, landed`, of(OURS, TEN_FILES), tenFilesNanosecondsMax),
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
  // A case without a peer on this machine was not measured: neither reached nor missed.
  return all.filter(({ measured }) => !measured.includes("NaN"));
}
