// `ambit tools lint`: whether tools take authority by themselves instead of asking their context for it.

import { place } from "../../core/notation/source.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { renderSpan } from "../terminal/render.ts";
import type { ToolFile, ToolFiles } from "./files.ts";
import { type AmbientUse, ambientUses } from "./scan.ts";

export interface ToolsPorts {
  readonly paint: Paint;
  readonly toolFiles: ToolFiles;
  print(text: string): void;
  printError(text: string): void;
}

interface LintResult {
  readonly file: ToolFile;
  readonly uses: readonly AmbientUse[];
  /** Why it was not looked through; null where it was. */
  readonly problem: string | null;
}

const findingsMax = 1000;

/** Exits with 1 if there are findings or unreadable files: an unread file is not clean. */
export function toolsLint(ports: ToolsPorts, paths: readonly string[], { json }: JsonOption): ExitCode {
  const looked = ports.toolFiles.read(paths).map(look);
  const count = looked.reduce((sum, { uses }) => sum + uses.length, 0);
  const unread = looked.filter(({ problem }) => problem !== null);
  if (json) ports.print(jsonLine(dataOf(looked)));
  else {
    print(ports, looked);
    for (const { file, problem } of unread)
      ports.printError(`${ports.paint.bad("error")}: ${visibleText(file.path)}: ${visibleText(problem ?? "")}`);
    if (looked.length === 0 || looked.length > unread.length)
      ports.print(summary(ports, looked.length - unread.length, count));
  }
  return count > 0 || unread.length > 0 ? EXIT.error : EXIT.ok;
}

function look(file: ToolFile): LintResult {
  if (file.text === null) return { file, uses: [], problem: file.problem ?? "could not be read" };
  const uses = ambientUses(file.text);
  return uses === null ? { file, uses: [], problem: "too large to check" } : { file, uses, problem: null };
}

function print(ports: ToolsPorts, looked: readonly LintResult[]): void {
  const { paint } = ports;
  let left = findingsMax;
  for (const { file, uses } of looked) {
    const source = { name: file.path, text: file.text ?? "" };
    for (const { name, why, use, start, end } of uses) {
      if (left-- <= 0) return;
      ports.print(`${paint.bad("error")}[ambient_authority]: ${visibleText(name)} reaches ${why}`);
      for (const line of renderSpan({ source: file.path, start, end }, source, paint)) ports.print(line);
      ports.print(`  ${paint.dim("=")} fix: use ${use}\n`);
    }
  }
}

function summary({ paint }: ToolsPorts, files: number, count: number): string {
  const seen = `${files} ${files === 1 ? "file" : "files"}`;
  if (files === 0) return paint.dim("no tools; add them to .ambit/tools");
  return count === 0
    ? `${paint.good("clean")}  ${seen}`
    : `${paint.bad(`${count} ${count === 1 ? "finding" : "findings"}`)} in ${seen}`;
}

function dataOf(looked: readonly LintResult[]): object {
  return {
    files: looked.filter(({ problem }) => problem === null).length,
    findings: looked
      .flatMap(({ file, uses }) =>
        uses.map(({ name, why, use, start }) => ({
          file: file.path,
          ...place({ name: file.path, text: file.text ?? "" }, start),
          name,
          why,
          use,
        })),
      )
      .slice(0, findingsMax),
    problems: looked.flatMap(({ file, problem }) => (problem === null ? [] : [{ file: file.path, message: problem }])),
  };
}
