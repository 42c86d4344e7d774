// A client's tool call as a hook reads it, and the verdict the hook answers with: the same for every client. A dialect turns
// the client's own JSON into the first and the second into exit status and output.
import type { JsonObject } from "../../core/base/json.ts";
import type { Result } from "../../core/base/result.ts";
import type { DenialView } from "../../core/ports/daemon/daemon-calls.ts";

/** What a client's tool does, in the terms of a record. */
export type ToolMeaning =
  /** A shell script: its commands are requested one by one. */
  | { readonly kind: "shell"; readonly script: string; readonly in: string }
  /** Requests in the words of `ambit can`, as one call of a built-in tool of ours. */
  | { readonly kind: "requests"; readonly tool: string; readonly requests: readonly (readonly string[])[] }
  /** Known by its name alone: `tool.invoke` with its arguments decides. */
  | { readonly kind: "named"; readonly tool: string }
  /** A tool that reaches nothing outside its client: notes, plans, questions to the person. */
  | { readonly kind: "inner" }
  /** INVARIANT: never allowed. */
  | { readonly kind: "unreadable"; readonly reason: string };

export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

/** A call before it runs. */
export interface HookCall {
  readonly kind: "call";
  /** The client's own id of the conversation. */
  readonly session: string;
  /** The kind of sub-agent that calls, as the client names it; null for the client's own agent, or where it is not known. */
  readonly subagent: string | null;
  /** Absolute. */
  readonly cwd: string;
  /** As the client names it. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly meaning: ToolMeaning;
  /** The MCP server and the tool as that server names it, where the client says so. */
  readonly server?: ServerTool;
  /** Whether an `ask` reaches a person through the client's own prompt. */
  readonly canPrompt: boolean;
  /**
   * The client is about to ask its person: an answer here would answer for them, so that only a denial is said.
   */
  readonly isPrompting: boolean;
}

export type HookEvent =
  | HookCall
  /** Nothing to decide. */
  | { readonly kind: "other" };

export type HookVerdict =
  /** `input` replaces the arguments; null leaves them. */
  | { readonly outcome: "allow"; readonly input: JsonObject | null }
  | { readonly outcome: "ask"; readonly reason: string }
  | { readonly outcome: "deny"; readonly reason: string }
  /** The hook has no opinion: the client's own rules decide. */
  | { readonly outcome: "none" };

/** What the hook's process does. Status 2 with a text on standard error blocks the call in every client. */
export interface HookAnswer {
  readonly status: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HookDialect {
  /** As in `ambit hook <client>`. */
  readonly client: string;
  /** The argument of the client's shell tool that a hook can replace, so that the command runs in a sandbox; null if none. */
  readonly rewrites: string | null;
  /** How names of our own MCP server's tools begin here; null where the hook sees no server's name. */
  readonly serverTools: string | null;
  /** Its commands and its hooks are started by different processes, of one name and below one another. */
  readonly isManyProcesses?: boolean;
  /** `payload`: what the client wrote to the hook's standard input. */
  read(payload: JsonObject): Result<HookEvent>;
  answer(event: HookEvent, verdict: HookVerdict): HookAnswer;
  /** The question about a tool that no record grants, to try a hook with. */
  canary(cwd: string): JsonObject;
}

export const CANARY_TOOL = "ambit_canary";

/** How the answer to a canary begins in shadow mode, where every other call passes. */
export const SHADOW_CANARY = "ambit: shadow mode";

/** INVARIANT: a denial is never without a text: Codex and Gemini run the tool after a silent status 2. */
export function blockAnswer(reason: string): HookAnswer {
  return { status: 2, stdout: "", stderr: reason === "" ? "ambit: the call is blocked" : reason };
}

/** Fields of clients' answers. */
export const DECISION = "permissionDecision";
export const REASON = "permissionDecisionReason";

export const PASSED: HookAnswer = { status: 0, stdout: "", stderr: "" };

export function said(answer: JsonObject): HookAnswer {
  return { status: 0, stdout: JSON.stringify(answer), stderr: "" };
}

/** Some clients cut a longer reason, or ignore it. */
const textCharactersMax = 8_000;
const needCharactersMax = 1_000;

/** What a model reads. `held`: the record's grants of the same verb. */
export function denialText(tool: string, denial: DenialView, held: readonly string[]): string {
  const { code, need, hint, id, reason } = denial;
  // An approval that was refused or has expired is not pending: nothing can be approved.
  const approval = code === "approval_required" ? denial.approval : null;
  const lines = [
    `ambit denied ${tool}: ${need === null ? "" : `${need.slice(0, needCharactersMax)} `}(${code}). ${hint}`,
    ...(reason === null || reason === "" ? [] : [`reason: ${reason}`]),
    ...(held.length === 0 ? [] : [`allowed: ${held.join(", ")}`]),
    ...(approval === null || approval === "" ? [] : [`To approve it, a person runs: ambit approve ${approval}`]),
    ...(id === "" ? [] : [`id: ${id}`]),
  ];
  return lines.join("\n").slice(0, textCharactersMax);
}

/** The log's reason for a call that the client's own prompt decides. */
export function leftToClient(client: string): string {
  return `left to the prompt of ${client}: ambit neither allowed nor refused it`;
}
