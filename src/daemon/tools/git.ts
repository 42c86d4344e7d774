// The `git` tool in the daemon: one git process in a sandbox, by the grants that cover its arguments.
import { parseArgv } from "../../core/authority/axes/argv.ts";
import { parsePath } from "../../core/authority/axes/path.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Refusal, type Result } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { RunResult } from "../../core/ports/process.ts";
import { outcomeOfRun } from "../../sandbox/plan/run-outcome.ts";
import { changesAnswer } from "../../tools/changes-answer.ts";
import { gitAnswer } from "../../tools/git/answer.ts";
import { type GitInput, gitLine } from "../../tools/git/command-line.ts";
import { GIT_DEFINITION } from "../../tools/git/definition.ts";
import { addressesLine, noRemote, noRemoteStatus, remoteRefusal } from "../../tools/git/remote-host.ts";
import { scriptAnswer } from "../../tools/shell/answer.ts";
import { request } from "../../tools/shell/tool-requests.ts";
import { workingGround } from "../../tools/shell/working-ground.ts";
import type { Programs } from "../parts.ts";
import { CapturedOutput } from "../programs/captured-output.ts";
import type { ExecutionResult, OwnerTool, ToolExecution } from "./owner-tool.ts";

export function gitOwnerTool(programs: Pick<Programs, "run">): OwnerTool {
  return { ...GIT_DEFINITION, requests, execute: (call) => carry(programs, call) };
}

function requests(input: JsonObject, reading: Reading): Result<readonly Request[]> {
  const line = gitLine(input);
  if (!line.ok) return line;
  const { argv, root: mode } = line.value;
  const folder = typeof input["in"] === "string" ? input["in"] : ".";
  const root = parsePath(folder, workingGround(reading));
  const one = request("proc.exec", { root, argv: parseArgv(argv), mode: done(mode) });
  return one.ok ? done([one.value]) : one;
}

async function carry(programs: Pick<Programs, "run">, call: ToolExecution): Promise<ExecutionResult> {
  const { input, session, warrant, ground } = call;
  // The first request is the tool itself. INVARIANT: the arguments that run are those that were decided on.
  const [asked, by] = [warrant.requests[1], warrant.basis[1]];
  const words = asked?.values[asked.verb.axes.findIndex(({ name }) => name === "argv")];
  const [program, ...rest] = words !== undefined && isSegments(words) ? words.segments : [];
  if (asked === undefined || by === undefined || program === undefined || warrant.requests.length !== 2)
    return { ok: false, code: "invalid_input", message: "not a git command that can be run" };
  const ring = session.ringing(call.stop);
  if (ring === null)
    return { ok: false, code: "not_available", message: "this session runs too many programs at once" };
  const run = async (argv: Words): Promise<GitRan> => {
    const gathered = new CapturedOutput();
    const { sinks } = gathered;
    const asks = { argv, request: asked, by, input: null, sinks, milliseconds: null, stop: ring.stop };
    return { argv, gathered, result: await programs.run(ground, asks) };
  };
  try {
    const given = input as unknown as GitInput;
    const addresses = addressesLine(input);
    // In the same sandbox, and by the same grants.
    const asking = addresses === null ? null : await run(addresses);
    const fault = asking === null ? null : remoteFault(given, asking);
    if (fault !== null) return { ok: false, code: "invalid_input", message: fault.message };
    const { argv, gathered, result } = asking === null || isFine(asking) ? await run([program, ...rest]) : asking;
    if (!result.ok) return { ok: false, ...result.refused };
    const { ran } = result;
    const met = outcomeOfRun(ran);
    const { output, errors, dropped } = gathered;
    const { ending, denials } = ran;
    const isDone = ending.kind === "exited" && ending.status === 0;
    const value = isDone
      ? gitAnswer(given, { output, errors, dropped }, ran.outputDropped + dropped > 0)
      : scriptAnswer(
          {
            ...ran,
            commands: [{ argv, ending }],
            wallMicroseconds: 0,
            refused: null,
            changes: ran.changes ? [ran.changes] : [],
          },
          { output, errors, dropped },
        );
    const more = isDone && denials.length > 0 ? { denials: denials.map((one) => ({ ...one })) } : {};
    const changed = isDone ? changesAnswer(ran.changes ?? null) : {};
    return { ok: true, value: { ...value, ...more, ...changed }, isUntrusted: true, met };
  } finally {
    ring.end();
  }
}

type Words = readonly [string, ...string[]];

interface GitRan {
  readonly argv: Words;
  readonly gathered: CapturedOutput;
  readonly result: RunResult;
}

/** Why a fetch or push fails here; a git that failed for another reason reports that itself. */
function remoteFault(given: GitInput, ran: GitRan): Refusal | null {
  const { result, gathered } = ran;
  if (isFine(ran)) return remoteRefusal(given, gathered.output);
  const ending = result.ok ? result.ran.ending : null;
  return ending?.kind === "exited" && ending.status === noRemoteStatus ? noRemote(given) : null;
}

function isFine({ result }: GitRan): boolean {
  return result.ok && result.ran.ending.kind === "exited" && result.ran.ending.status === 0;
}
