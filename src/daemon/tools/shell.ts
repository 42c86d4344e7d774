// The `shell` tool in the daemon: every command of a script in a sandbox of its own grants, every redirected file through the
// session's file worker. No shell is started.

import { pathText } from "../../core/authority/axes/path.ts";
import { judge } from "../../core/authority/judge.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { CompletedRun, RunResult } from "../../core/ports/process.ts";
import { fileFailure } from "../../runtime/context/file-refusals.ts";
import { outcomeOfRun } from "../../sandbox/plan/run-outcome.ts";
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import * as admission from "../../tools/shell/admission.ts";
import { scriptAnswer } from "../../tools/shell/answer.ts";
import { BufferBudget } from "../../tools/shell/buffer-budget.ts";
import {
  type DecidedFile,
  type DecidedStage,
  type DecidedStep,
  decidedScript,
} from "../../tools/shell/decided-script.ts";
import { SHELL_DEFINITION } from "../../tools/shell/definition.ts";
import { scriptSecondsUsual, searchesMax } from "../../tools/shell/language/limits.ts";
import type { Script } from "../../tools/shell/language/script.ts";
import { readShellInput } from "../../tools/shell/language/shell-input.ts";
import type { ListFolder } from "../../tools/shell/names/expand-pattern.ts";
import { PatternSearch } from "../../tools/shell/names/pattern-search.ts";
import type { RedirectionFiles } from "../../tools/shell/redirection-files.ts";
import { runScript, type ScriptResult } from "../../tools/shell/run-script.ts";
import { scriptEnvironment } from "../../tools/shell/script-environment.ts";
import { agentScope } from "../calls/generations.ts";
import type { CallFiles } from "../contexts/files.ts";
import type { ProgramRun, Programs } from "../parts.ts";
import { CapturedOutput } from "../programs/captured-output.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool, ToolExecution } from "./owner-tool.ts";
import { SpentTime, timedStop } from "./shell-time.ts";

export interface DaemonShellOptions {
  readonly programs: Pick<Programs, "run">;
  readonly files: CallFiles;
  /** In the form that sandboxes take. */
  userName(): string;
}

export function shellOwnerTool(asked: DaemonShellOptions): OwnerTool {
  const room = new BufferBudget();
  const searches = new Map<string, number>();
  const spent = new SpentTime();
  const settingOf = (input: JsonObject, reading: Reading, session: Session): Result<admission.ScriptEnvironment> =>
    scriptEnvironment(input, reading, { user: asked.userName(), environment: session.facts.environment });
  return {
    ...SHELL_DEFINITION,
    requests: (input, reading, session) => {
      const read = readShellInput(input);
      if (!read.ok && read.code === "unsupported_command")
        return { ok: false, code: "unsupported", message: read.message };
      if (!read.ok) return refuse("bad_value", read.message);
      const setting = settingOf(input, reading, session);
      if (!setting.ok) return setting;
      const { script } = read;
      return admission.patternsIn(script).length === 0
        ? admission.commandRequests(script, setting.value)
        : admission.lookingRequests(script, setting.value);
    },
    derive: async (input, session, reading, stop) => {
      const read = readShellInput(input);
      if (!read.ok || admission.patternsIn(read.script).length === 0) return done([]);
      const setting = settingOf(input, reading, session);
      if (!setting.ok) return setting;
      const agent = agentScope(session.facts.name);
      const before = searches.get(agent) ?? 0;
      if (before >= searchesMax) return refuse("too_long", "too many patterns are being looked up; ask again later");
      searches.set(agent, before + 1);
      const from = performance.now();
      const timed = timedStop(stop ?? NEVER, millisecondsOf(input));
      try {
        const naming = { script: read.script, setting: setting.value, session, stop: timed.stop };
        const requests = await named(asked.files, naming);
        return timed.isOver ? refuse("too_long", NO_TIME) : requests;
      } finally {
        timed.end();
        spent.keep(session, input, performance.now() - from);
        const now = (searches.get(agent) ?? 1) - 1;
        if (now === 0) searches.delete(agent);
        else searches.set(agent, now);
      }
    },
    denied: (input, session) => void spent.take(session, input),
    execute: (call) => {
      const left = millisecondsOf(call.input) - spent.take(call.session, call.input);
      return carry(asked, room, call, Math.max(1, left));
    },
  };
}

/** The requests of its commands, with expanded glob patterns. */
async function named(
  files: CallFiles,
  { script, setting, session, stop }: Naming,
): ReturnType<NonNullable<OwnerTool["derive"]>> {
  const search = new PatternSearch({
    rest: () => new Promise((done) => setImmediate(done)),
    isStopped: () => session.isClosed || stop.stopped,
  });
  const look: ListFolder = (folder, entriesMax) =>
    files.use(session, [], { path: folder, isChanging: false }, (worker) => worker.list(folder, entriesMax));
  const chosen = await admission.withNames(script, setting, look, search);
  if (chosen.ok) return admission.commandRequests(chosen.value, setting);
  // Without its commands the call is refused at execution, with the reason.
  return chosen.code === "too_long" ? chosen : done([]);
}

interface Naming {
  readonly script: Script;
  readonly setting: admission.ScriptEnvironment;
  readonly session: Session;
  readonly stop: CancelSignal;
}

const NEVER: CancelSignal = { stopped: false, onStop: () => undefined };
const NO_TIME = "looking up its patterns took all of the script's `seconds`";

function millisecondsOf({ seconds }: JsonObject): number {
  return (typeof seconds === "number" ? seconds : scriptSecondsUsual) * 1000;
}

/** `milliseconds`: the rest of its time. */
async function carry(
  asked: DaemonShellOptions,
  room: BufferBudget,
  call: ToolExecution,
  milliseconds: number,
): Promise<ExecutionResult> {
  const { input, session, warrant } = call;
  const read = readShellInput(input);
  if (!read.ok) return { ...read, denied: { code: read.code, request: null } };
  const from = 1 + admission.patternsIn(read.script).length;
  const { requests, basis } = warrant;
  const script = decidedScript(read.script, { requests: requests.slice(from), basis: basis.slice(from) });
  if (script === null) return from === 1 ? ODD : NOT_CHOSEN;
  const kept = writtenIn(script).find(({ path }) => asked.files.classOf(session, path) === "never");
  if (kept !== undefined) {
    const { request } = kept;
    const { message } = fileFailure("fs.write", { ok: false, code: "self_modification", reason: "" });
    return { ok: false, code: "self_modification", message, denied: { code: "self_modification", request } };
  }
  const ring = session.ringing(call.stop);
  if (ring === null) return { ok: false, code: "not_available", message: TOO_MUCH };
  const timed = timedStop(ring.stop, milliseconds);
  try {
    const gathered = new CapturedOutput();
    const ran = await runScript(script, {
      run: (stage, given, sinks, stop) => runOne(asked.programs, call, stage, { input: given, sinks, stop }),
      room,
      files: redirectionFiles(asked.files, call),
      sinks: gathered.sinks,
      stop: timed.stop,
      told: ({ path }, refused) => `${pathText(path)}: ${fileFailure("fs.write", refused).message}`,
    });
    if (ran.refused !== null && ran.commands.length === 1) return { ok: false, ...ran.refused };
    return answered(timed.isOver ? outOfTime(ran) : ran, gathered);
  } finally {
    timed.end();
    ring.end();
  }
}

/** Each command counts towards the session's concurrent programs. */
async function runOne(
  programs: Pick<Programs, "run">,
  { session, ground }: ToolExecution,
  { argv, request, by }: DecidedStage,
  given: Pick<ProgramRun, "input" | "sinks"> & { readonly stop: CancelSignal },
): Promise<RunResult> {
  // A script takes time: its grants may have been revoked since the decision.
  const now = judge(ground.holds(), request, { ...ground.moment(), exhausted: null });
  if (now.outcome === "deny")
    return { ok: false, refused: { code: now.code, message: "what covered this command was taken back", fix: null } };
  const ring = session.ringing(given.stop);
  if (ring === null) return { ok: false, refused: { code: "not_available", message: TOO_MUCH, fix: null } };
  try {
    return await programs.run(ground, { argv, request, by, ...given, milliseconds: null, stop: ring.stop });
  } finally {
    ring.end();
  }
}

const TOO_MUCH = "this session runs too many programs at once";

function answered(ran: ScriptResult, gathered: CapturedOutput): ExecutionResult {
  const { output, errors, dropped } = gathered;
  const nothing = { userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };
  const one: CompletedRun = {
    ...ran,
    changes: null,
    usage: { ...nothing, wallMicroseconds: ran.wallMicroseconds },
    enforcement: ran.enforcement.map((each) => ({ ...each, note: null })),
    draft: null,
  };
  return {
    ok: true,
    value: scriptAnswer(ran, { output, errors, dropped }),
    isUntrusted: true,
    met: outcomeOfRun(one),
  };
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

function redirectionFiles(files: CallFiles, { session, warrant: { requests } }: ToolExecution): RedirectionFiles {
  return {
    read: (path, offset, bytesMax) =>
      files.use(session, requests, { path, isChanging: false }, (worker) => worker.read(path, { offset, bytesMax })),
    empty: (path) =>
      files.use(session, requests, { path, isChanging: true }, (worker) => worker.write(path, new Uint8Array(0))),
    append: (path, bytes) =>
      files.use(session, requests, { path, isChanging: true }, (worker) => worker.append(path, bytes)),
  };
}

function writtenIn(script: readonly DecidedStep[]): readonly DecidedFile[] {
  return script.flatMap(({ stages }) =>
    stages.flatMap(({ redirections }) => redirections.flatMap((one) => (one.kind === "write" ? [one] : []))),
  );
}

const ODD: ExecutionResult = {
  ok: false,
  code: "invalid_input",
  message: "what was decided is not this script; ask again",
};
const NOT_CHOSEN: ExecutionResult = {
  ok: false,
  code: "unsupported_command",
  message:
    "what a pattern chooses could not be told: its folder may not be looked into, it chooses too many names, or one " +
    "that begins with a dash (`./*` helps then)",
  denied: { code: "unsupported_command", request: null },
};
