// proc_exec, proc_eval and sandbox_exec as calls with one result: the program's output is captured, within a limit.
import type { JsonObject } from "../../core/base/json.ts";
import { done, refuse } from "../../core/base/result.ts";
import type { CompletedRun } from "../../core/ports/process.ts";
import { outcomeOfRun } from "../../sandbox/plan/run-outcome.ts";
import { changesAnswer } from "../../tools/changes-answer.ts";
import { exitCode, fitOutput } from "../../tools/fit-output.ts";
import { argvOfInput, PROGRAM_TOOL_DEFINITIONS, programTools } from "../../tools/program-tools.ts";
import type { Programs } from "../parts.ts";
import { CapturedOutput } from "../programs/captured-output.ts";
import type { ExecutionResult, OwnerTool, ToolExecution } from "./owner-tool.ts";

export function programOwnerTools(programs: Pick<Programs, "run">): readonly OwnerTool[] {
  return PROGRAM_TOOL_DEFINITIONS.map((definition) => ({
    ...definition,
    requests: (input, reading) => {
      const known = programTools(reading.ground)(definition.name);
      if (known === null) return refuse("bad_value", "there is no such tool");
      const requests = known.requests(input);
      return requests.ok ? done(requests.value) : requests;
    },
    execute: (call) => carry(programs, call),
  }));
}

async function carry(programs: Pick<Programs, "run">, call: ToolExecution): Promise<ExecutionResult> {
  const { input, session, warrant, ground } = call;
  const argv = argvOfInput(input);
  // The first request is the tool itself; the program follows it.
  const [request, by] = [warrant.requests[1], warrant.basis[1]];
  if (argv === null || request === undefined || by === undefined)
    return { ok: false, code: "invalid_input", message: "not a program that can be run" };
  const gathered = new CapturedOutput();
  const ring = session.ringing(call.stop);
  if (ring === null)
    return { ok: false, code: "not_available", message: "this session runs too many programs at once" };
  try {
    const { sinks } = gathered;
    const asked = { argv, request, by, input: null, sinks, milliseconds: null, stop: ring.stop };
    const result = await programs.run(ground, asked);
    if (!result.ok) return { ok: false, ...result.refused };
    const met = outcomeOfRun(result.ran);
    return { ok: true, value: shown(result.ran, gathered), isUntrusted: true, met };
  } finally {
    ring.end();
  }
}

const deniedMax = 64;

/** As a model reads it: how it ended first. */
function shown(ran: CompletedRun, gathered: CapturedOutput): JsonObject {
  const { ending, denials, enforcement, outputDropped, hint } = ran;
  const { stdout, stderr, dropped } = fitOutput(gathered);
  return {
    ending: { ...ending },
    exit_code: exitCode(ending),
    ...(hint === undefined ? {} : { hint }),
    stdout,
    stderr,
    dropped: outputDropped + dropped,
    denials: denials.slice(0, deniedMax).map((one) => ({ ...one })),
    enforcement: enforcement.map(({ axis, strength }) => ({ axis, strength })),
    ...changesAnswer(ran.changes ?? null),
  };
}
