// Runs a folder of vector files: each case once, each difference checked against the table of decisions.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonList, isJsonObject, type Json } from "../../src/core/base/json.ts";
import { decisionFor, inputOf } from "./decisions.ts";
import { FAMILIES } from "./families.ts";
import { type Compared, type Family, holds, type Outcome, type Room } from "./outcome.ts";
import type { FileReport, Report } from "./report.ts";
import { BadRow, type Row, type VectorFile } from "./row.ts";

/** A folder that cannot be run as a whole: an unknown file, or one that is not a vector file. */
export class BadFolder extends Error {}

export async function runFolder(folder: string): Promise<Report> {
  const files = readFolder(folder);
  const reports: FileReport[] = [];
  for (const file of files) reports.push(await runFile(file));
  return { files: reports };
}

export function readFolder(folder: string): readonly VectorFile[] {
  const names = listed(folder)
    .filter((name) => /\.json$/i.test(name))
    .sort();
  if (names.length === 0) throw new BadFolder(`there are no vector files in ${folder}`);
  const unknown = names.filter((name) => !FAMILIES.has(name.replace(/\.json$/, "")));
  if (unknown.length > 0) throw new BadFolder(`no runner for ${unknown.join(", ")}`);
  return names.map((name) => readVectors(name.replace(/\.json$/, ""), readFileSync(join(folder, name), "utf8")));
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (problem) {
    throw new BadFolder(`${folder} cannot be read: ${(problem as Error).message}`);
  }
}

function readVectors(name: string, text: string): VectorFile {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (problem) {
    throw new BadFolder(`${name}.json is not JSON: ${(problem as Error).message}`);
  }
  if (!isJsonObject(value) || !isJsonList(value["vectors"]))
    throw new BadFolder(`${name}.json has no list of \`vectors\``);
  const { vectors, ...header } = value;
  const rows = (vectors as readonly Json[]).map((row, index): Row => {
    if (!isJsonObject(row)) throw new BadFolder(`${name}#${index} is not a map`);
    return row;
  });
  return { name, header, rows };
}

export async function runFile(file: VectorFile): Promise<FileReport> {
  const family = FAMILIES.get(file.name);
  if (family === undefined) throw new BadFolder(`no runner for ${file.name}`);
  let passed = 0;
  let waiting = 0;
  let room: Room | null = null;
  const decided: FileReport["decided"][number][] = [];
  const notRun: FileReport["not_run"][number][] = [];
  const failed: FileReport["failed"][number][] = [];
  for (const [index, row] of file.rows.entries()) {
    const name = `${file.name}#${index}`;
    const result = await runCase(row, file, family);
    if (result.kind === "passed") passed++;
    else if (result.kind === "decided") decided.push({ case: name, ...result.answer });
    else if (result.kind === "failed") failed.push({ case: name, expected: result.expected, got: result.got });
    else if (result.kind === "not_run") notRun.push({ case: name, why: result.why });
    else {
      waiting++;
      room = result.room;
    }
  }
  return {
    file: file.name,
    total: file.rows.length,
    passed,
    decided,
    pending: { count: waiting, room },
    not_run: notRun,
    failed,
  };
}

type CaseResult =
  | Exclude<Outcome, Compared>
  | { readonly kind: "passed" }
  | { readonly kind: "decided"; readonly answer: Omit<FileReport["decided"][number], "case"> }
  | { readonly kind: "failed"; readonly expected: Json; readonly got: Json };

/** A case that cannot be run is a failure with a reason; no decision excuses it, and it never stops the others. */
async function runCase(row: Row, file: VectorFile, family: Family): Promise<CaseResult> {
  try {
    const outcome = await family.run(row, file);
    if (outcome.kind !== "compared") return outcome;
    if (holds(outcome)) return { kind: "passed" };
    const { expected, got, wider } = outcome;
    const decision = decisionFor(file, inputOf(row, family), outcome);
    if (decision === null) return { kind: "failed", expected, got };
    return { kind: "decided", answer: { decision: decision.record, expected, got, wider } };
  } catch (problem) {
    const what = problem instanceof BadRow ? "the row" : "the run";
    return { kind: "failed", expected: { ran: true }, got: { ran: `${what}: ${(problem as Error).message}` } };
  }
}
