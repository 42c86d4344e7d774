// The results of a run, as JSON for programs and as lines for people.
import type { Json } from "../../src/core/base/json.ts";
import type { Room } from "./outcome.ts";

export interface FileReport {
  readonly file: string;
  readonly total: number;
  readonly passed: number;
  readonly decided: readonly {
    readonly case: string;
    readonly decision: string;
    readonly expected: Json;
    readonly got: Json;
    readonly wider: boolean;
  }[];
  readonly pending: { readonly count: number; readonly room: Room | null };
  readonly not_run: readonly { readonly case: string; readonly why: string }[];
  readonly failed: readonly { readonly case: string; readonly expected: Json; readonly got: Json }[];
}

export interface Report {
  readonly files: readonly FileReport[];
}

export interface Totals {
  readonly passed: number;
  readonly decided: number;
  readonly pending: number;
  readonly not_run: number;
  readonly failed: number;
}

export function totalsOf({ files }: Report): Totals {
  const sum = (count: (file: FileReport) => number): number => files.reduce((all, file) => all + count(file), 0);
  return {
    passed: sum((file) => file.passed),
    decided: sum((file) => file.decided.length),
    pending: sum((file) => file.pending.count),
    not_run: sum((file) => file.not_run.length),
    failed: sum((file) => file.failed.length),
  };
}

export function linesOf(report: Report): readonly string[] {
  const width = Math.max(...report.files.map(({ file }) => file.length));
  const { passed, failed, decided, pending, not_run } = totalsOf(report);
  const wider = report.files.flatMap((file) => file.decided).filter((one) => one.wider).length;
  return [
    ...report.files.flatMap((file) => [fileLine(file, width), ...file.failed.map(failureLine)]),
    `${decided} decided (${wider} wider than the seed), ${pending} pending, ${not_run} not run`,
    `${passed} passed, ${failed} failed`,
  ];
}

function fileLine({ file, total, passed, decided, pending, not_run, failed }: FileReport, width: number): string {
  const parts = [
    `${passed}/${total} passed`,
    decided.length === 0 ? "" : `${decided.length} decided`,
    pending.count === 0 ? "" : `${pending.count} pending (${pending.room})`,
    not_run.length === 0 ? "" : `${not_run.length} not run`,
    failed.length === 0 ? "" : `${failed.length} FAILED`,
  ];
  return `${file.padEnd(width)}  ${parts.filter((part) => part !== "").join(", ")}`;
}

function failureLine({ case: name, expected, got }: FileReport["failed"][number]): string {
  return `  FAILED ${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
}
