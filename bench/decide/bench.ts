// `npm run bench -- decide`: every cell three times, the engines alternating, the better figure of each.
import { type Cell, runCell } from "../cell-process.ts";
import { type Machine, machine } from "../machine.ts";
import { installPeers } from "../peers.ts";
import { bestRows, type Row } from "../row.ts";
import { allCells } from "./cells.ts";
import { report } from "./report.ts";
import { measureSize } from "./size.ts";

const roundsCount = 3;

export async function decideBench(json: boolean): Promise<void> {
  installPeers();
  const before = machine();
  const { rows, notes } = await measureAll();
  const result = { bench: "decide", machine: before, rows, notes };
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : report(result));
}

export interface DecideResult {
  readonly machine: Machine;
  readonly rows: readonly Row[];
  /** Cells without a figure, and the reason. */
  readonly notes: readonly string[];
}

async function measureAll(): Promise<Pick<DecideResult, "rows" | "notes">> {
  const rows: Row[] = [...(await measureSize())];
  const skipped = new Map<string, string>();
  const cells = allCells();
  for (let round = 1; round <= roundsCount; round++) {
    if (!process.stderr.isTTY) process.stderr.write(`bench: round ${round} of ${roundsCount}\n`);
    for (const [at, cell] of cells.entries()) {
      const name = nameOf(cell);
      if (skipped.has(name)) continue;
      progress(`round ${round} of ${roundsCount}, ${at + 1} of ${cells.length}: ${name}`);
      let result = await runCell(cell);
      // Retry: a concurrent build or install may remove files for a moment.
      if (result.kind === "failed" && result.unanswered) result = await runCell(cell);
      if (result.kind === "failed") throw new Error(`${name}: ${result.problem}`);
      if (result.kind === "skipped") skipped.set(name, result.note);
      else rows.push(...result.rows);
    }
  }
  progress("");
  return { rows: bestRows(rows), notes: [...skipped].map(([name, note]) => `${name}: ${note}`) };
}

function nameOf({ kind, subject, size }: Cell): string {
  return `${subject}, ${kind} N=${size}`;
}

/** One progress line that replaces itself on a terminal; nothing elsewhere. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
}
