// Runs programs for agents on behalf of a command: decided, run and logged by the daemon.
import { join } from "node:path";
import type { ExecRequest, ExecResult, ExecStreams } from "../cli/exec/ports.ts";
import { type PathSettings, pathText } from "../core/authority/axes/path.ts";
import type { RootWord } from "../core/authority/axes/root-word.ts";
import type { Moment } from "../core/authority/compiled.ts";
import { DENIAL_CODES, type Decision } from "../core/authority/decision.ts";
import type { Level } from "../core/authority/grant.ts";
import { judge } from "../core/authority/judge.ts";
import type { Request } from "../core/authority/request.ts";
import { onAbort } from "../core/base/abort.ts";
import { isJsonObject, member } from "../core/base/json.ts";
import type { CallMessages, DenialView, ProgramCompletion, ProgramRefusal } from "../core/ports/daemon/daemon-calls.ts";
import { type Answer, type MessageClient, NO_DAEMON, type Refusal } from "../core/ports/daemon/exchange.ts";
import type { CallDescription } from "../core/ports/daemon/refused-call.ts";
import { type ProgramInput, type ProgramToolName, programRequest } from "../tools/programs/program-tools.ts";

/** How long to wait for a stopped program. */
const stopMillisecondsMax = 5000;

export interface ProgramsDeps {
  readonly cwd: string;
  readonly moment: Moment;
  pathSettings(): PathSettings;
  /** `about`: the call it is for. */
  call(lost: undefined, about: CallDescription): Promise<Answer<MessageClient<CallMessages>>>;
  /** Variables that the user's configuration passes on, and those that describe the terminal. */
  environment(): Readonly<Record<string, string>>;
}

export function programRunner(asked: ProgramsDeps): {
  run(program: ExecRequest, streams: ExecStreams): Promise<ExecResult>;
} {
  return {
    run: async (program, streams) => {
      const about = { agent: program.name, tool: "proc_exec", face: "exec", cwd: asked.cwd };
      const connected = await asked.call(undefined, about);
      if (!connected.ok) return refusedBy(connected, null);
      const call = connected.value;
      try {
        return await runWith(call, program, streams, asked);
      } finally {
        call.close();
      }
    },
  };
}

async function runWith(
  call: MessageClient<CallMessages>,
  program: ExecRequest,
  streams: ExecStreams,
  { cwd, moment, pathSettings, environment }: ProgramsDeps,
): Promise<ExecResult> {
  const opened = await call.ask("session.open", {
    cwd,
    agent: program.name,
    user: program.user,
    trace: null,
    face: "exec",
    pledge: program.pledge,
    token: null,
    environment: environment(),
    isForParent: false,
  });
  if (!opened.ok) return refusedBy(opened, null);
  const { session } = opened.value;
  const { tool, input } = callOf(program, folderOf(program, cwd), pathSettings(), moment);
  const request = programRequest(tool, input, pathSettings());
  const { milliseconds, waitMilliseconds, needsReview, client } = program;
  const hasInput = streams.input !== null;
  const terminal = streams.terminal ?? null;
  terminal?.attach({
    resize: (size) => void call.tell("terminal.resize", { session, ...size }),
    resume: () => void call.tell("terminal.resume", { session }),
  });
  // A daemon that does not answer must not block the command's exit.
  onAbort(streams.signal, () => setTimeout(() => call.close(), stopMillisecondsMax).unref());
  const answer = await call.ask(
    "call.run",
    {
      ...{ session, tool, input: { ...input }, requests: null, waitMilliseconds, milliseconds, hasInput, needsReview },
      ...(terminal === null ? {} : { terminal: terminal.size }),
      ...(program.also === undefined || program.also.length === 0 ? {} : { also: program.also }),
      ...(program.task === undefined ? {} : { task: program.task }),
      ...(client === null ? {} : { profile: client.profile, isFresh: client.isFresh }),
    },
    {
      input: streams.input,
      onBytes: (channel, bytes) => (channel === 2 ? streams.errors(bytes) : streams.output(bytes)),
      onEvent: (event) => {
        if (isJsonObject(event) && member(event, "halted") === true) terminal?.onHalt();
        else streams.onEvent?.(event);
      },
      signal: streams.signal,
    },
  );
  await call.ask("session.close", { session });
  return answer.ok ? resultOf(answer.value, request) : refusedBy(answer, request);
}

function resultOf(value: ProgramCompletion | ProgramRefusal | DenialView, request: Request | null): ExecResult {
  switch (value.outcome) {
    case "ran": {
      const { ending, usage, denials, enforcement, outputDropped, changes, receipt, hint } = value;
      const more = hint === undefined ? {} : { hint };
      const ran = { ending, usage, denials, enforcement, outputDropped, changes, ...more, draft: null };
      return request === null ? refusedBy(UNKNOWN, null) : { ok: true, request, ran, receipt };
    }
    case "refused":
      return { ok: false, request, refused: value, denial: null };
    case "denied": {
      const { code, hint, approval, id, reason, need } = value;
      const fix = approval === null ? null : `ambit approve ${approval}`;
      const message = reason === null ? hint : `${hint} Reason: ${reason}`;
      return { ok: false, request, refused: { code, message, fix }, denial: { id, approval, need } };
    }
    default:
      return value satisfies never;
  }
}

const UNKNOWN: Refusal = { ok: false, code: NO_DAEMON, message: "the daemon did not respond", fix: null };

/** The daemon has its own codes; for the caller of a program it is not available. */
function refusedBy({ code, message, fix }: Refusal, request: Request | null): ExecResult {
  if (code === "too_large") return refusedBy({ ok: false, code: "invalid_input", message, fix }, request);
  const known = code === NO_DAEMON ? code : (DENIAL_CODES.find((one) => one === code) ?? "not_available");
  return { ok: false, request, refused: { code: known, message, fix }, denial: null };
}

/** The working folder: the requested one, else the current folder if it is in the agent's own root, else that root. */
function folderOf({ folder, agent }: ExecRequest, cwd: string): string {
  if (folder !== null) return /^[/~]/.test(folder) ? folder : join(cwd, folder);
  const own = agent.workingRoot === null ? null : pathText(agent.workingRoot);
  return own === null || cwd === own || cwd.startsWith(`${own}/`) ? cwd : own;
}

/** The requested mode; else writable where that needs no more approval than a read-only run would. */
function callOf(program: ExecRequest, folder: string, pathSettings: PathSettings, moment: Moment): ProgramCall {
  const call = (root: RootWord): ProgramCall => callWith(program, folder, root);
  if (program.root !== null) return call(program.root);
  const level = ({ tool, input }: ProgramCall): Level | null => {
    const request = programRequest(tool, input, pathSettings);
    return request === null ? null : levelOf(judge(program.agent.authority, request, moment));
  };
  const [written, read] = [call("rw"), call("ro")];
  const [most, least] = [level(written), level(read)];
  return most !== null && (least === null || most <= least) ? written : read;
}

/** The approval that an allowed request needs; null where it is denied. */
function levelOf(decision: Decision): Level | null {
  if (decision.outcome === "deny") return null;
  return decision.outcome === "ask" ? decision.level : 0;
}

interface ProgramCall {
  readonly tool: ProgramToolName;
  readonly input: ProgramInput;
}

function callWith({ what, isThrowaway }: ExecRequest, folder: string, root: RootWord): ProgramCall {
  if ("line" in what) return { tool: "proc_eval", input: { line: what.line, in: folder, root } };
  if (isThrowaway) return { tool: "sandbox_exec", input: { argv: what.argv } };
  return { tool: "proc_exec", input: { argv: what.argv, in: folder, root } };
}
