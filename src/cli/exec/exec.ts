// `ambit exec <agent> -- program`: runs it inside the agent's bounds. Its output and status are the program's own;
// a refused command exits with 125, and denials during the run are printed after its output.

import type { LoadedAgent } from "../../agents/disk/loaded-agent.ts";
import { agentRefused } from "../../agents/project/agent.ts";
import { isRootWord, ROOT_WORDS_TEXT } from "../../core/authority/axes/root-word.ts";
import { isJsonObject, type Json, member } from "../../core/base/json.ts";
import { decide, type Verdict } from "../../core/gate/decide.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Ending } from "../../core/ports/process.ts";
import { otherDenials } from "../../sandbox/plan/drafts/kept-denials.ts";
import { type HoldingPorts, holdingNow } from "../agents/holding.ts";
import { tellNotes, tellWaiting } from "../approvals/waiting.ts";
import { sentence } from "../can/can.ts";
import { trustLine, underTrust } from "../can/untrusted.ts";
import { showVerdict } from "../can/verdict.ts";
import { landDraft } from "../changes/command.ts";
import { changesLines } from "../changes/render.ts";
import type { ControlPorts } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode, passedOn } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { denialText } from "./denial.ts";
import type { ExecPorts, ExecRefusal, ExecRequest, ExecResult } from "./ports.ts";
import { captureStreams, passingStreams } from "./streams.ts";
import { hasTerminal, terminalStreams } from "./terminal-streams.ts";

export interface ExecOptions {
  readonly json: boolean;
  readonly in?: string;
  readonly root?: string;
  readonly shell?: boolean;
  readonly throwaway?: boolean;
  readonly timeout?: string;
  readonly user?: string;
  readonly pledge?: readonly string[];
  readonly wait?: string;
  readonly review?: boolean;
  readonly terminal?: boolean;
  /** `ambit run`. */
  readonly client?: NonNullable<ExecRequest["client"]>;
  /** The client was let through and is about to start; told before the notes about its start. */
  onStart?(): void;
}

const outputBytesMax = 1_048_576;
const millisecondsMax = 86_400_000;

export async function exec(
  ports: ExecPorts & ControlPorts,
  name: string,
  words: readonly string[],
  options: ExecOptions,
): Promise<ExitCode> {
  const { json } = options;
  const wrong = (message: string, fix: string | null): ExitCode => {
    if (json) ports.print(jsonLine(refusedData({ code: "invalid_input", message, fix }, null)));
    else {
      const hint = fix === null ? "" : `\n  fix: ${visibleText(fix)}`;
      ports.printError(`${ports.paint.bad("error")}: ${visibleText(message)}${hint}`);
    }
    return EXIT.refused;
  };
  const read = readOptions(words, options);
  if (typeof read === "string") return wrong(read, "ambit exec scout -- git status");
  const found = ports.loadAgent(name);
  const created = found.ok ? null : await createdAgent(ports, name, options.user ?? null);
  if (!found.ok && created === null) return wrong(found.message, found.fix);
  const loaded = found.ok ? found.value : (created as LoadedAgent);
  const { agent, source, trust } = loaded;
  if (!json) {
    for (const diagnostic of agent.diagnostics) ports.printError(renderDiagnostic(diagnostic, source, ports.paint));
    const line = trustLine(agent.id, trust);
    if (line !== null) ports.printError(`${ports.paint.warn("warning")}: ${line}`);
  }
  const kept = json ? captureStreams(outputBytesMax) : null;
  const passing = kept ?? (options.terminal === true ? terminalStreams : passingStreams)(ports.terminalPasses());
  const { streams } = passing;
  try {
    const heard = { ...streams, onEvent: (event: Json): void => tellEvent(ports, event, options) };
    const result = await ports.programs.run({ agent, name, ...read }, heard);
    // The person's terminal is put back before anything of ours is printed.
    await passing.putBack();
    // The grants of a created agent are the daemon's to know, and so is why one does not suffice.
    const verdict = created === null ? verdictOf(ports, loaded, result) : null;
    if (kept !== null)
      ports.print(
        jsonLine({
          agent: agent.id,
          ...resultData(ports, loaded, result, verdict),
          ...kept.kept(),
        }),
      );
    else tell(ports, name, loaded, result, verdict);
    if (!json && options.review === true) await offerReview(ports, result);
    return result.ok ? exitOf(result.ran.ending) : EXIT.refused;
  } finally {
    await passing.release();
  }
}

function tellEvent(ports: ExecPorts, event: Json, { onStart }: ExecOptions): void {
  tellWaiting(ports, event);
  if (isJsonObject(event) && member(event, "notes") !== undefined) onStart?.();
  tellNotes(ports, event);
}

/** An agent that another agent created has no file. Null where the daemon knows none of this name. */
async function createdAgent(
  ports: ExecPorts & ControlPorts & HoldingPorts,
  name: string,
  user: string | null,
): Promise<LoadedAgent | null> {
  const held = await holdingNow(ports, { agent: name, user, pledge: null });
  if (held?.ok !== true || held.value.isRecord) return null;
  return { agent: agentRefused(held.value.agent, "record", []), source: { name, text: "" } };
}

/** With a terminal the person agrees here; without one the draft waits, and its lines said so already. */
async function offerReview(ports: ExecPorts & ControlPorts, result: ExecResult): Promise<void> {
  const changes = result.ok ? (result.ran.changes ?? null) : null;
  if (changes === null || changes.draft === null || changes.kept.length === 0) return;
  if (ports.terminal.isInteractive) await landDraft(ports, changes.draft, { yes: false, json: false });
}

/** What was asked, or what is wrong with it. */
function readOptions(words: readonly string[], options: ExecOptions): Omit<ExecRequest, "agent" | "name"> | string {
  const { root, shell = false, throwaway = false, timeout } = options;
  if (options.terminal === true && options.json) return "--json captures the output: it cannot be on a terminal";
  if (options.terminal === true && !hasTerminal()) return "-t needs a terminal on standard input and output";
  if (words.length === 0) return "no program named: write it after `--`";
  if (shell && words.length > 1) return "--shell takes one line: quote it";
  if (shell && throwaway) return "--throwaway runs a program: write `-- sh -c '...'` for a shell line";
  if (root !== undefined && !isRootWord(root)) return `--root must be ${ROOT_WORDS_TEXT}`;
  const seconds = timeout === undefined ? null : Number(timeout);
  if (seconds !== null && !(seconds > 0 && seconds * 1000 <= millisecondsMax))
    return "--timeout must be a number of seconds";
  const wait = options.wait === undefined ? 0 : Number(options.wait);
  if (!(wait >= 0 && wait * 1000 <= millisecondsMax)) return "--wait must be a number of seconds";
  return {
    user: options.user ?? null,
    pledge: options.pledge ?? null,
    waitMilliseconds: Math.ceil(wait * 1000),
    what: shell ? { line: words[0] as string } : { argv: words },
    folder: options.in ?? null,
    root: root ?? null,
    isThrowaway: throwaway,
    milliseconds: seconds === null ? null : Math.ceil(seconds * 1000),
    needsReview: options.review === true,
    client: options.client ?? null,
  };
}

/** Where it was the gate that refused: what it says about the same request, trust included. */
function verdictOf(ports: ExecPorts, { agent, trust }: LoadedAgent, result: ExecResult): Verdict | null {
  const { request } = result;
  if (result.ok || request === null || result.denial === null) return null;
  const { protectedPaths } = ports.reading.pathSettings;
  const decided = decide({ agent: agent.id, authority: agent.authority }, request, ports.moment, protectedPaths);
  const verdict = underTrust(trust, request, decided, ports);
  const { decision } = verdict;
  const { code } = result.refused;
  // Accounts, people, pledges and revocations are the daemon's to know: where it says something else, it is right.
  if (decision.outcome === "ask") return code === "approval_required" ? verdict : null;
  return decision.outcome === "deny" && decision.code === code ? verdict : null;
}

function resultData(ports: ExecPorts, { agent }: LoadedAgent, result: ExecResult, verdict: Verdict | null): object {
  const request = result.request === null ? null : requestText(result.request);
  if (!result.ok) {
    const denial = { id: result.denial?.id ?? null, approval: result.denial?.approval ?? null };
    if (verdict === null || result.request === null) return { ...refusedData(result.refused, request), ...denial };
    // What a person is shown on the terminal is here, too.
    const { code, outcome, nearest, suggest, unenforceable } = showVerdict(
      agent,
      result.request,
      verdict,
      ports.moment,
    );
    const short = nearest === null ? "" : `: the nearest grant does not match on ${nearest.axis ?? "its conditions"}`;
    const message = outcome === "ask" ? "it needs approval" : `no grant covers it${short}`;
    const fix = suggest === null ? null : commandText(["agents", "grant", agent.id, suggest]);
    const told = unenforceable ?? { message, fix };
    return { ...refusedData({ code: code ?? result.refused.code, ...told }, request), ...denial };
  }
  const { ending, usage, denials, enforcement, outputDropped, changes = null, hint = null } = result.ran;
  const status = statusOf(ending);
  return {
    request,
    outcome: "ran",
    code: null,
    receipt: result.receipt,
    status,
    ending,
    usage,
    denials,
    enforcement,
    outputDropped,
    changes,
    hint,
  };
}

/** One shape for everything that was not run. */
export function refusedData({ code, message, fix }: ExecRefusal, request: string | null): object {
  return { request, outcome: "refused", code, message, fix, status: null };
}

/** INVARIANT: nothing of it goes to stdout, which is the program's. */
function tell(ports: ExecPorts, name: string, loaded: LoadedAgent, result: ExecResult, verdict: Verdict | null): void {
  const { paint } = ports;
  const { agent, source } = loaded;
  if (result.ok) {
    const ended = endedText(result.ran.ending);
    if (ended !== null) ports.printError(`${paint.bad("ambit")}: ${ended}`);
    if (result.ran.hint !== undefined) ports.printError(`${paint.warn("ambit")}: ${visibleText(result.ran.hint)}`);
    if (result.ran.enforcement.some(({ strength }) => strength === "none"))
      ports.printError(
        `${paint.bad("ambit")}: this program ran without a sandbox: none is available here, and your config.yml has bare: true`,
      );
    const { denials, changes = null } = result.ran;
    for (const denial of otherDenials(denials, changes)) ports.printError(denialText(ports, loaded, denial));
    for (const line of changesLines(changes, paint)) ports.printError(line);
  } else if (verdict !== null && result.request !== null) {
    const told = showVerdict(agent, result.request, verdict, ports.moment);
    ports.printError(sentence(agent.id, name, told, source, paint));
    tellDenial(ports, result);
  } else {
    ports.printError(refusalText(result.refused, paint.bad("refused")));
    if (result.denial?.need != null) ports.printError(`  needs: ${visibleText(result.denial.need)}`);
    tellDenial(ports, result);
  }
}

function tellDenial(ports: ExecPorts, { refused, denial }: Extract<ExecResult, { ok: false }>): void {
  if (denial === null) return;
  const { id, approval } = denial;
  // What was refused or has expired can no longer be approved.
  if (refused.code === "approval_required" && approval !== null)
    ports.printError(`  approve: ambit approve ${visibleText(approval)}`);
  if (id !== "") ports.printError(`  why: ambit why ${visibleText(id)}`);
}

function refusalText({ code, message, fix }: ExecRefusal, word: string): string {
  const said = message === "" ? "" : `: ${visibleText(message)}`;
  return `${word}  ${code}${said}${fix === null ? "" : `\n  fix: ${visibleText(fix)}`}\n  ambit explain ${code}`;
}

function endedText(ending: Ending): string | null {
  if (ending.kind === "unstarted") return `the program was not started: ${visibleText(ending.reason)}`;
  if (ending.kind !== "ended") return null;
  switch (ending.because) {
    case "time":
      return "killed: timeout";
    case "output":
      return "killed: output limit exceeded";
    case "stopped":
      return "killed: stopped";
    case "draft":
      return `killed: ${visibleText(ending.reason)}`;
    case "person":
      return `killed by \`${visibleText(ending.reason)}\``;
    default:
      return ending satisfies never;
  }
}

function statusOf(ending: Ending): number | null {
  return ending.kind === "exited" ? ending.status : null;
}

const killSignal = 9;

function endedStatus(because: Extract<Ending, { kind: "ended" }>["because"]): ExitCode {
  switch (because) {
    case "time":
      return passedOn(124);
    case "stopped":
      return passedOn(130);
    case "person":
      return passedOn(128 + killSignal);
    case "output":
    case "draft":
      return EXIT.refused;
    default:
      return because satisfies never;
  }
}

/** As shells have it: 128 and the signal, 124 for time, 127 for a program that is not there. */
function exitOf(ending: Ending): ExitCode {
  switch (ending.kind) {
    case "exited":
      return passedOn(ending.status);
    case "signalled":
      return passedOn(128 + ending.signal);
    case "unstarted":
      return passedOn(127);
    case "ended":
      return endedStatus(ending.because);
    default:
      return ending satisfies never;
  }
}
