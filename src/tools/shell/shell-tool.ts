// The `shell` tool: every command of a script in a sandbox of its own grants, every redirected file through the session's file
// worker. No shell is started.
import { pathText } from "../../core/authority/axes/path.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FilePath } from "../../core/ports/files.ts";
import type { CompletedRun, RunRefusal, Sinks } from "../../core/ports/process.ts";
import { fileFailure } from "../../runtime/context/file-refusals.ts";
import { type UseDenial, type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool, CallReading } from "../../runtime/tool/builtin.ts";
import { programAnswer } from "../programs/program-output.ts";
import * as admission from "./admission.ts";
import { BufferBudget } from "./buffer-budget.ts";
import { CapturedOutput } from "./captured-output.ts";
import { type DecidedFile, type DecidedRequests, type DecidedStep, decidedScript } from "./decided-script.ts";
import { SHELL_DEFINITION } from "./definition.ts";
import { scriptSecondsUsual, searchesMax } from "./language/limits.ts";
import type { Script } from "./language/script.ts";
import { readShellInput } from "./language/shell-input.ts";
import type { ListFolder } from "./names/expand-pattern.ts";
import { PatternSearch } from "./names/pattern-search.ts";
import { runScript, type ScriptResult } from "./run-script.ts";
import type { ScriptParts } from "./run-stage.ts";
import { scriptEnvironment } from "./script-environment.ts";
import { SpentTime, scriptTimeout } from "./script-time.ts";

/** The power of this tool: programs and files as streams, which no tool in another process could use. */
export interface ScriptPowers {
  readonly script: {
    /** The session, as a key. */
    readonly session: object;
    /** The agent, as a key of limits. */
    readonly agent: string;
    isClosed(): boolean;
    readonly signal: AbortSignal;
    /** One more running program of the session, or why there can be none. */
    running(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } | Pick<RunRefusal, "code" | "message">;
    readonly look: ListFolder;
    /** The requests of the call and what each was decided by, the tool itself first. */
    readonly decided: DecidedRequests;
    /** Whether no grant lets a tool change this path. */
    isProtected(path: FilePath): boolean;
    /** Runs one command by the grants that decided, as long as they hold. */
    readonly run: ScriptParts["run"];
    readonly files: ScriptParts["files"];
    /** Takes the output as it is written; null where the result has it. */
    readonly output: Sinks | null;
    refuse(request: Request | null, code: "self_modification" | "unsupported_command", message: string): UseDenial;
    /** The outcome of the whole script, for the log. */
    ended(run: CompletedRun): void;
    taint(): void;
  };
}

type Powers = ScriptPowers["script"];

/** `userName`: in the form that sandboxes take. */
export function shellTool(userName: () => string): BuiltinTool<ScriptPowers> {
  const room = new BufferBudget();
  const searches = new Map<string, number>();
  const spent = new SpentTime();
  const settingOf = (input: JsonObject, { notation, environment }: CallReading): Result<admission.ScriptEnvironment> =>
    scriptEnvironment(input, notation, { user: userName(), environment });
  return {
    ...SHELL_DEFINITION,
    requests: (input, reading) => {
      const read = readShellInput(input);
      if (!read.ok && read.code === "unsupported_command")
        return { ok: false, code: "unsupported", message: read.message };
      if (!read.ok) return refuse("bad_value", read.message);
      const setting = settingOf(input, reading);
      if (!setting.ok) return setting;
      const { script } = read;
      return admission.patternsIn(script).length === 0
        ? admission.commandRequests(script, setting.value)
        : admission.lookingRequests(script, setting.value);
    },
    derive: async (input, reading, { script: powers }) => {
      const read = readShellInput(input);
      if (!read.ok || admission.patternsIn(read.script).length === 0) return done([]);
      const setting = settingOf(input, reading);
      if (!setting.ok) return setting;
      const { agent, session } = powers;
      const before = searches.get(agent) ?? 0;
      if (before >= searchesMax) return refuse("too_long", "too many patterns are being expanded; try again later");
      searches.set(agent, before + 1);
      const from = performance.now();
      const timed = scriptTimeout(powers.signal, millisecondsOf(input));
      try {
        const requests = await named(read.script, setting.value, powers, timed.signal);
        return timed.isOver ? refuse("too_long", NO_TIME) : requests;
      } finally {
        timed.end();
        spent.keep(session, input, performance.now() - from);
        const now = (searches.get(agent) ?? 1) - 1;
        if (now === 0) searches.delete(agent);
        else searches.set(agent, now);
      }
    },
    denied: (input, { script: { session } }) => void spent.take(session, input),
    execute: (input, { script: powers }) => {
      const left = millisecondsOf(input) - spent.take(powers.session, input);
      return execute(input, powers, room, Math.max(1, left));
    },
  };
}

/** The requests of its commands, with expanded glob patterns. */
async function named(
  script: Script,
  setting: admission.ScriptEnvironment,
  { look, isClosed }: Powers,
  signal: AbortSignal,
): Promise<Result<readonly Request[]>> {
  const search = new PatternSearch({
    rest: () => new Promise((next) => setImmediate(next)),
    isStopped: () => isClosed() || signal.aborted,
  });
  const chosen = await admission.withNames(script, setting, look, search);
  if (chosen.ok) return admission.commandRequests(chosen.value, setting);
  // Without its commands the call is refused at execution, with the reason.
  return chosen.code === "too_long" ? chosen : done([]);
}

const NO_TIME = "expanding its patterns took longer than the script's `seconds`";

function millisecondsOf({ seconds }: JsonObject): number {
  return (typeof seconds === "number" ? seconds : scriptSecondsUsual) * 1000;
}

/** `milliseconds`: the rest of its time. */
async function execute(
  input: JsonObject,
  powers: Powers,
  room: BufferBudget,
  milliseconds: number,
): Promise<UseResult<JsonObject>> {
  const read = readShellInput(input);
  if (!read.ok) return useDenial(read.code, null, read.message);
  const from = 1 + admission.patternsIn(read.script).length;
  const { requests, basis } = powers.decided;
  const script = decidedScript(read.script, { requests: requests.slice(from), basis: basis.slice(from) });
  if (script === null)
    return from === 1
      ? useDenial("invalid_input", null, "the script differs from the decided one; call again")
      : powers.refuse(null, "unsupported_command", NOT_CHOSEN);
  const kept = writtenIn(script).find(({ path }) => powers.isProtected(path));
  if (kept !== undefined) {
    const { message } = fileFailure("fs.write", { ok: false, code: "self_modification", reason: "" });
    return powers.refuse(kept.request, "self_modification", message);
  }
  const work = powers.running(powers.signal);
  if ("code" in work) return useDenial(work.code, null, work.message);
  const timed = scriptTimeout(work.signal, milliseconds);
  try {
    const captured = new CapturedOutput();
    // The output of its programs is unknown: the session is untrusted from here on.
    powers.taint();
    const ran = await runScript(script, {
      run: powers.run,
      room,
      files: powers.files,
      sinks: powers.output ?? captured.sinks,
      signal: timed.signal,
      told: ({ path }, refused) => `${pathText(path)}: ${fileFailure("fs.write", refused).message}`,
    });
    if (ran.refused !== null && ran.commands.length === 1)
      return useDenial(ran.refused.code, null, ran.refused.message, ran.refused.fix);
    return answered(timed.isOver ? outOfTime(ran) : ran, captured, powers);
  } finally {
    timed.end();
    work.end();
  }
}

function answered(
  ran: ScriptResult,
  { output, errors, dropped }: CapturedOutput,
  powers: Powers,
): UseResult<JsonObject> {
  const nothing = { userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };
  powers.ended({
    ...ran,
    changes: null,
    usage: { ...nothing, wallMicroseconds: ran.wallMicroseconds },
    enforcement: ran.enforcement.map((each) => ({ ...each, note: null })),
    draft: null,
  });
  return useResult(programAnswer(ran, { output, errors, dropped: dropped + ran.outputDropped }));
}

/** Stopped only by the timeout. */
function outOfTime(ran: ScriptResult): ScriptResult {
  const timed = (ending: ScriptResult["ending"]): ScriptResult["ending"] =>
    ending.kind === "ended" && ending.because === "stopped" ? { kind: "ended", because: "time" } : ending;
  return {
    ...ran,
    ending: timed(ran.ending),
    commands: ran.commands.map((one) => ({ ...one, ending: timed(one.ending) })),
  };
}

function writtenIn(script: readonly DecidedStep[]): readonly DecidedFile[] {
  return script.flatMap(({ stages }) =>
    stages.flatMap(({ redirections }) => redirections.flatMap((one) => (one.kind === "write" ? [one] : []))),
  );
}

const NOT_CHOSEN =
  "the pattern could not be expanded: its folder cannot be listed, it matches too many names, or a name begins with " +
  "a dash (write `./*`)";
