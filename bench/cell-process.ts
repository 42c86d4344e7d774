// A cell is one figure (or a few) measured in a process of its own: its own heap, its own compiled code, and a time limit for an
// engine that takes too long to get ready.
import { fork } from "node:child_process";
import { programPath } from "./place.ts";
import type { Row } from "./row.ts";

export interface Cell {
  readonly kind: string;
  readonly subject: string;
  readonly size: number;
}

/** Measures one cell; reports when everything is built and checked, and the timing begins. */
export type Measure = (cell: Cell, ready: () => void) => Promise<readonly Row[]> | readonly Row[];

export type CellResult =
  | { readonly kind: "measured"; readonly rows: readonly Row[] }
  /** `unanswered`: the process could not report what is wrong. */
  | { readonly kind: "failed"; readonly problem: string; readonly unanswered: boolean }
  | { readonly kind: "skipped"; readonly note: string };

const mark = "--ambit-bench-cell";
const buildSecondsMax = 15;
const measureSecondsMax = 120;

export function isCellProcess(): boolean {
  return process.argv[2] === mark && process.send !== undefined;
}

export async function serveCell(measure: Measure): Promise<number> {
  const cell = JSON.parse(process.argv[3] ?? "") as Cell;
  const send = (message: object): void => {
    process.send?.(message);
  };
  try {
    const rows = await measure(cell, () => send({ ready: true }));
    send({ rows });
    return 0;
  } catch (problem) {
    send({ problem: problem instanceof Error ? problem.message : String(problem) });
    return 1;
  } finally {
    process.disconnect();
  }
}

interface Message {
  readonly ready?: boolean;
  readonly rows?: readonly Row[];
  readonly problem?: string;
}

export function runCell(cell: Cell): Promise<CellResult> {
  return new Promise((resolve) => {
    const child = fork(programPath, [mark, JSON.stringify(cell)], {
      execArgv: ["--expose-gc", "--max-old-space-size=8192"],
    });
    let result: CellResult = { kind: "failed", problem: "the process ended without an answer", unanswered: true };
    const end = (note: string) => () => {
      result = { kind: "skipped", note };
      child.kill("SIGKILL");
    };
    let timer = setTimeout(end(`not ready within ${buildSecondsMax} s`), buildSecondsMax * 1000);
    child.on("message", (raw) => {
      const message = raw as Message;
      if (message.rows !== undefined) result = { kind: "measured", rows: message.rows };
      if (message.problem !== undefined) result = { kind: "failed", problem: message.problem, unanswered: false };
      if (message.ready !== true) return;
      clearTimeout(timer);
      timer = setTimeout(end(`not measured within ${measureSecondsMax} s`), measureSecondsMax * 1000);
    });
    child.on("error", (problem) => {
      result = { kind: "failed", problem: problem.message, unanswered: true };
    });
    child.on("close", () => {
      clearTimeout(timer);
      resolve(result);
    });
  });
}
