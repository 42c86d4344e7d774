// The list of cells, and the function that measures each.
import type { Cell, Measure } from "../cell-process.ts";
import { engines, OURS } from "../engines/all.ts";
import type { Row } from "../row.ts";
import { sizes } from "../workload.ts";
import { measureAxes } from "./axes.ts";
import { measureBuild } from "./build.ts";
import { measureChains } from "./chains.ts";
import { measureContainment } from "./containment.ts";
import { measureDecisions } from "./decisions.ts";
import { measureGarbage } from "./garbage.ts";
import { measureHostile } from "./hostile.ts";
import { measureJudge } from "./judge.ts";

interface Kind {
  readonly measure: Measure;
  readonly subjects: readonly string[];
  readonly sizes: readonly number[];
}

const several: readonly number[] = [100, 1_000, 10_000, 100_000];

const kinds: Readonly<Record<string, Kind>> = {
  decide: { measure: measureDecisions, subjects: Object.keys(engines), sizes },
  axes: { measure: measureAxes, subjects: [OURS], sizes: several },
  judge: { measure: measureJudge, subjects: [OURS], sizes: several },
  within: { measure: measureContainment, subjects: [OURS], sizes },
  build: { measure: measureBuild, subjects: [OURS], sizes: several },
  chains: { measure: measureChains, subjects: [OURS], sizes: [1_000] },
  hostile: { measure: measureHostile, subjects: [OURS], sizes: [10_000] },
  garbage: { measure: measureGarbage, subjects: [OURS], sizes: [100, 100_000] },
};

/** Sizes outside, engines inside: a slow phase of the machine slows every engine of a size. */
export function allCells(): readonly Cell[] {
  return Object.entries(kinds).flatMap(([kind, { subjects, sizes: counts }]) =>
    counts.flatMap((size) => subjects.map((subject) => ({ kind, subject, size }))),
  );
}

export function measureCell(cell: Cell, ready: () => void): Promise<readonly Row[]> | readonly Row[] {
  const kind = kinds[cell.kind];
  if (kind === undefined) throw new Error(`no cell ${cell.kind}`);
  return kind.measure(cell, ready);
}
