// Our target figures, and whether this run reached them. Reported, never enforced: a busy machine is not a defect.
import { OURS, PLAIN_LOOP, peers } from "../engines/all.ts";
import { measuredValue, type Row } from "../row.ts";
import { sizes } from "../workload.ts";
import { figure, ratio } from "./table.ts";

export interface Goal {
  readonly goal: string;
  readonly measured: string;
  readonly ok: boolean;
}

const aheadMin = 20;
const growthMax = 2;
const loopMax = 3;
const containmentNanosecondsMax = 5_000;
const compileNanosecondsMax = 1_500;
const indexBytesMax = 100;
const gzipBytesMax = 20_000;
/** A byte more or less is measurement noise. */
const garbageBytesSlack = 1;

export function goals(rows: readonly Row[]): readonly Goal[] {
  const ours = (name: string): number => measuredValue(rows, OURS, name) ?? Number.NaN;
  const decided = (subject: string, size: number): number =>
    measuredValue(rows, subject, `decide N=${size}`) ?? Number.NaN;
  const most = (text: string, value: number, limit: number, show: (value: number) => string): Goal => ({
    goal: text,
    measured: show(value),
    ok: value <= limit,
  });
  const nanoseconds = (value: number): string => figure(value, "ns");
  const bytes = (value: number): string => figure(value, "bytes");
  const worst = (prefix: string): number =>
    Math.max(...rows.filter((row) => row.case.startsWith(prefix)).map((row) => row.value));
  const large = sizes.filter((size) => size >= 1_000);
  const [few, many] = [100, 100_000].map((size) => ours(`garbage of an allowed decision N=${size}`)) as [
    number,
    number,
  ];
  return [
    ...large.map((size): Goal => {
      const nearest = nearestPeer(rows, size);
      const ahead = nearest === null ? Number.NaN : nearest.value / decided(OURS, size);
      const measured = nearest === null ? "no peer measured" : `${ratio(ahead)} (${nearest.subject})`;
      return { goal: `ahead of every peer by ${aheadMin}x at ${size} grants`, measured, ok: ahead >= aheadMin };
    }),
    most(
      `cost at 100000 grants at most ${growthMax}x the cost at 100`,
      decided(OURS, 100_000) / decided(OURS, 100),
      growthMax,
      ratio,
    ),
    ...[1, 10].map((size) =>
      most(
        `at most ${loopMax}x the string loop at ${size} grants`,
        decided(OURS, size) / decided(PLAIN_LOOP, size),
        loopMax,
        ratio,
      ),
    ),
    {
      goal: "garbage of an allowed decision does not grow with the grants",
      measured: `${bytes(few)} at 100, ${bytes(many)} at 100000`,
      ok: many <= few + garbageBytesSlack,
    },
    most(
      `within at most ${nanoseconds(containmentNanosecondsMax)} a grant`,
      worst("within"),
      containmentNanosecondsMax,
      nanoseconds,
    ),
    most(
      `compile at most ${nanoseconds(compileNanosecondsMax)} a grant`,
      worst("compile"),
      compileNanosecondsMax,
      nanoseconds,
    ),
    most(`index at most ${bytes(indexBytesMax)} a grant`, worst("index"), indexBytesMax, bytes),
    most(
      `authority and gate under ${bytes(gzipBytesMax)} compressed`,
      ours("authority and gate, gzip"),
      gzipBytesMax,
      bytes,
    ),
  ];
}

function nearestPeer(rows: readonly Row[], size: number): Row | null {
  const found = rows.filter((row) => row.case === `decide N=${size}` && peers.includes(row.subject));
  return found.reduce<Row | null>((best, row) => (best === null || row.value < best.value ? row : best), null);
}
