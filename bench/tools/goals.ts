// Our target figures for tools, and whether this run reached them. Reported, never enforced.
import type { Goal } from "../decide/goals.ts";
import { figure, ratio } from "../decide/table.ts";
import { measuredValue, type Row } from "../row.ts";
import { BARE_FILES, FILE_CASES } from "./files.ts";
import { OURS } from "./fixture.ts";
import { BARE, CPU, IN_PROCESS } from "./in-process.ts";
import { MEMORY_GET, THROUGH, WHOLE, WHOLE_USING } from "./isolated.ts";
import { SHOWN, UNDICI, UNDICI_INSIDE } from "./web.ts";

const addedNanosecondsMax = 30_000;
const isolatedNanosecondsMax = 1e6;
const webMax = 1.1;
const filesMax = 4;
const filesNanosecondsMax = 100_000;

export function goals(rows: readonly Row[]): readonly Goal[] {
  const of = (subject: string, name: string): number => measuredValue(rows, subject, name) ?? Number.NaN;
  const under = (goal: string, value: number, limit: number): Goal => ({
    goal,
    measured: `${value < 0 ? "-" : ""}${figure(Math.abs(value), "ns")}`,
    ok: value <= limit,
  });
  return [
    ...IN_PROCESS.flatMap((name) =>
      ["", CPU].map((what) =>
        under(`${name}${what}: at most 30 µs more`, of(OURS, name + what) - of(BARE, name + what), addedNanosecondsMax),
      ),
    ),
    under(`${WHOLE}: under 1 ms`, of(OURS, WHOLE), isolatedNanosecondsMax),
    under(`${WHOLE_USING}: under 1 ms`, of(OURS, WHOLE_USING), isolatedNanosecondsMax),
    under(
      `${THROUGH}: under 1 ms more than memory_get`,
      of(OURS, THROUGH) - of(MEMORY_GET, THROUGH),
      isolatedNanosecondsMax,
    ),
    ...[UNDICI, UNDICI_INSIDE].map((subject): Goal => {
      const value = of(OURS, SHOWN) / of(subject, SHOWN);
      return { goal: `${SHOWN}: within 10 % of ${subject}`, measured: ratio(value), ok: value <= webMax };
    }),
    ...FILE_CASES.map((name): Goal => {
      const limit = filesMax * of(BARE_FILES, name) + filesNanosecondsMax;
      return {
        goal: `${name}: at most ${filesMax}x ${BARE_FILES} + 100 µs`,
        measured: `${figure(of(OURS, name), "ns")} of ${figure(limit, "ns")}`,
        ok: of(OURS, name) <= limit,
      };
    }),
  ];
}
