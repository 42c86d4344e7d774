// Runs a decided script: lists in sequence, the commands of a pipeline concurrently.
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { ChangesReport } from "../../core/ports/drafts.ts";
import type { Enforcement, Strength } from "../../core/ports/enforcement.ts";
import type { Ending, RunDenial, RunRefusal } from "../../core/ports/process.ts";
import type { DecidedStage, DecidedStep } from "./decided-script.ts";
import { Pipe } from "./pipe.ts";
import { runStage, type ScriptParts, StageCancel, type StageResult } from "./run-stage.ts";

export interface CommandResult {
  readonly argv: readonly string[];
  readonly ending: Ending;
}

export interface ScriptResult {
  /** Of the last command that ran. */
  readonly ending: Ending;
  /** Those that were started, or tried; the others were skipped. */
  readonly commands: readonly CommandResult[];
  readonly denials: readonly RunDenial[];
  readonly enforcement: readonly Pick<Enforcement, "axis" | "strength">[];
  readonly outputDropped: number;
  readonly wallMicroseconds: number;
  /** Why the last one could not be run at all. */
  readonly refused: RunRefusal | null;
  /** Of each command that changed something. */
  readonly changes: readonly ChangesReport[];
  /** What to change so that it may succeed, of the last command that says so; absent where none does. */
  readonly hint?: string;
}

const NOTHING: Ending = { kind: "unstarted", reason: "there was nothing to run" };

export async function runScript(script: readonly DecidedStep[], parts: ScriptParts): Promise<ScriptResult> {
  const all: { readonly stage: DecidedStage; readonly done: StageResult }[] = [];
  let ending: Ending = NOTHING;
  for (const [at, { after, stages }] of script.entries()) {
    const isRun = at === 0 || after === ";" || (after === "&&") === isFine(ending);
    if (!isRun) continue;
    if (parts.signal.aborted) {
      ending = { kind: "ended", because: "stopped" };
      break;
    }
    const done = await runPipeline(stages, parts);
    all.push(...done.map((one, place) => ({ stage: stages[place] as DecidedStage, done: one })));
    ending = done.at(-1)?.ending ?? NOTHING;
    // After a refusal nothing more runs: later commands depend on the refused one.
    if (done.some(({ refused, denied }) => refused !== null || denied !== null)) break;
  }
  const last = all.map(({ done }) => done);
  const hint = isFine(ending) ? undefined : last.findLast(({ ran }) => ran?.hint !== undefined)?.ran?.hint;
  return {
    ending,
    commands: all.map(({ stage, done }) => ({ argv: stage.argv, ending: done.ending })),
    denials: denialsOf(last),
    enforcement: weakest(last.flatMap(({ ran }) => ran?.enforcement ?? [])),
    outputDropped: last.reduce((sum, { ran }) => sum + (ran?.outputDropped ?? 0), 0),
    wallMicroseconds: last.reduce((sum, { ran }) => sum + (ran?.usage.wallMicroseconds ?? 0), 0),
    changes: last.flatMap(({ ran }) => ran?.changes ?? []),
    refused: last.map(({ refused }) => refused).find((one) => one !== null) ?? null,
    ...(hint === undefined ? {} : { hint }),
  };
}

function isFine(ending: Ending): boolean {
  return ending.kind === "exited" && ending.status === 0;
}

async function runPipeline(stages: readonly DecidedStage[], parts: ScriptParts): Promise<readonly StageResult[]> {
  const cancels = stages.map(() => new StageCancel(parts.signal));
  const pipes = stages.slice(1).map((_, at) => new Pipe((why) => cancels[at]?.abort(why), parts.room));
  return Promise.all(
    stages.map((stage, at) =>
      runStage(stage, { input: pipes[at - 1] ?? null, output: pipes[at] ?? null }, parts, cancels[at] as StageCancel),
    ),
  );
}

function denialsOf(stages: readonly StageResult[]): readonly RunDenial[] {
  const found = new Map<string, RunDenial>();
  const add = ({ code, request, times }: RunDenial): void => {
    const key = `${code} ${request}`;
    found.set(key, { code, request, times: times + (found.get(key)?.times ?? 0) });
  };
  for (const { ran, denied } of stages) {
    for (const one of ran?.denials ?? []) add(one);
    if (denied !== null) add({ code: denied.refused.code, request: requestText(denied.file.request), times: 1 });
  }
  return [...found.values()];
}

const WEAKEST_FIRST: readonly Strength[] = ["none", "checked", "broker", "kernel"];

/** The weakest enforcement of each axis, over all commands. */
function weakest(all: readonly Enforcement[]): ScriptResult["enforcement"] {
  const found = new Map<string, Pick<Enforcement, "axis" | "strength">>();
  for (const { axis, strength } of all) {
    const known = found.get(axis);
    if (known === undefined || WEAKEST_FIRST.indexOf(strength) < WEAKEST_FIRST.indexOf(known.strength))
      found.set(axis, { axis, strength });
  }
  return [...found.values()];
}
