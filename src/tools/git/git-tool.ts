// The `git` tool: one git process in a sandbox, by the grants that cover its arguments.
import type { Refusal } from "../../core/base/result.ts";
import type { ProcessInstrument, ProgramOptions, ProgramResult } from "../../runtime/context/programs.ts";
import { invalid, type UseResult, useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, requestsFor } from "../../runtime/tool/builtin.ts";
import { changesAnswer, outputOf, programAnswer } from "../programs/program-output.ts";
import { gitAnswer } from "./answer.ts";
import { type GitInput, gitLine } from "./command-line.ts";
import { GIT_DEFINITION } from "./definition.ts";
import { addressesLine, noRemote, noRemoteStatus, remoteRefusal } from "./remote-host.ts";

export const GIT_TOOL: BuiltinTool = {
  ...GIT_DEFINITION,
  requests: (input, reading) => {
    const line = gitLine(input);
    if (!line.ok) return line;
    const { in: folder = "." } = input as unknown as GitInput;
    return requestsFor(reading, { verb: "proc.exec", ...line.value, in: folder });
  },
  execute: async (input, { process }) => {
    const line = gitLine(input);
    if (!line.ok) return invalid("proc.exec", line.message);
    const given = input as unknown as GitInput;
    const { argv, root } = line.value;
    const options: ProgramOptions = { in: given.in ?? ".", root, millisecondsMax: null, truncate: true };
    const addresses = addressesLine(input);
    const remote = addresses === null ? null : await remoteOf(process, argv, { ...options, instead: addresses }, given);
    if (remote?.ok === false) return remote;
    const isRemoteKnown = remote === null || isDone(remote.value);
    const ran = isRemoteKnown ? await process.run(argv, options) : remote;
    if (!ran.ok) return ran;
    if (!isDone(ran.value)) {
      const commands = [{ argv: isRemoteKnown ? argv : (addresses ?? argv), ending: ran.value.ending }];
      return useResult(programAnswer({ ...ran.value, commands, changes: [ran.value.changes] }, outputOf(ran.value)));
    }
    const { denials, changes, dropped } = ran.value;
    return useResult({
      ...gitAnswer(given, outputOf(ran.value), dropped > 0),
      ...(denials.length > 0 ? { denials: denials.map((one) => ({ ...one })) } : {}),
      ...changesAnswer(changes),
    });
  },
};

/** Where a fetch or push leads, read in the same sandbox and by the same grants; why it is refused, where it is. */
async function remoteOf(
  process: ProcessInstrument,
  argv: readonly string[],
  options: ProgramOptions,
  given: GitInput,
): Promise<UseResult<ProgramResult>> {
  const ran = await process.run(argv, options);
  if (!ran.ok) return ran;
  const fault = remoteFault(given, ran.value);
  return fault === null ? ran : invalid("proc.exec", fault.message);
}

/** A git that failed for another reason reports that itself. */
function remoteFault(given: GitInput, ran: ProgramResult): Refusal | null {
  if (isDone(ran)) return remoteRefusal(given, outputOf(ran).output);
  const { ending } = ran;
  return ending.kind === "exited" && ending.status === noRemoteStatus ? noRemote(given) : null;
}

function isDone({ ending }: ProgramResult): boolean {
  return ending.kind === "exited" && ending.status === 0;
}
