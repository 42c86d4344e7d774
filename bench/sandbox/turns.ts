// The subjects of a comparison alternate, so that a busy moment of the machine affects all of them alike.
import type { Row } from "../row.ts";

export interface Contender {
  readonly subject: string;
  /** One turn: the nanoseconds of everything it measured. Throws if the result is wrong. */
  turn(): Promise<readonly number[]>;
}

const warmTurnsCount = 2;

export const LEAST = ", least";
export const P95 = ", p95";

/** The median, the minimum, and the 95th percentile of each subject. The first turns are not counted. */
export async function byTurns(
  name: string,
  turnsCount: number,
  contenders: readonly Contender[],
): Promise<readonly Row[]> {
  const taken = contenders.map((): number[] => []);
  for (let round = -warmTurnsCount; round < turnsCount; round++) {
    for (let place = 0; place < contenders.length; place++) {
      // No subject always follows the same one.
      const at = (place + round + warmTurnsCount) % contenders.length;
      const values = await (contenders[at] as Contender).turn();
      if (round >= 0) taken[at]?.push(...values);
    }
  }
  return contenders.flatMap(({ subject }, at) => rowsOf(subject, name, taken[at] ?? []));
}

export async function timeRounds(work: () => Promise<unknown>): Promise<readonly number[]> {
  const before = process.hrtime.bigint();
  await work();
  return [Number(process.hrtime.bigint() - before)];
}

/** Several at a time: the share of one in the time of all. */
export async function inFlight(lanes: number, each: number, work: (lane: number) => Promise<void>): Promise<number> {
  const [nanoseconds = 0] = await timeRounds(() =>
    Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let count = 0; count < each; count++) await work(lane);
      }),
    ),
  );
  return nanoseconds / (lanes * each);
}

function rowsOf(subject: string, name: string, values: readonly number[]): readonly Row[] {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return [
    { subject, case: name, value: at(0.5), unit: "ns" },
    { subject, case: `${name}${LEAST}`, value: at(0), unit: "ns" },
    { subject, case: `${name}${P95}`, value: at(0.95), unit: "ns" },
  ];
}
