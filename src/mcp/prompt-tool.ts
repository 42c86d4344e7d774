// The tool that Claude Code asks by `--permission-prompt-tool` before a call that none of its rules decides: our hook answers, and
// waits for our approval where the record asks. INVARIANT: every failure is a refusal.
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { CallMessages } from "../core/ports/daemon/daemon-calls.ts";
import type { MessageClient } from "../core/ports/daemon/exchange.ts";
import type { ListedTool } from "./tool-list.ts";

export const PROMPT_TOOL = "approve_tool_call";

/** As Claude Code calls it: never offered to a model, which could not use the answer. */
export const promptTool: ListedTool = {
  name: PROMPT_TOOL,
  description: "Decides a tool call of the client. For `--permission-prompt-tool`; a model has no use for it.",
  inputSchema: {
    type: "object",
    properties: { tool_name: { type: "string" }, input: { type: "object" }, tool_use_id: { type: "string" } },
    required: ["tool_name", "input"],
  },
};

/** Whose grants decide, in the words of `ambit hook`. */
export interface PromptOptions {
  readonly agent: string;
  readonly user: string | null;
  readonly cwd: string;
  readonly waitMilliseconds: number;
}

/** The member of a hook's answer. */
const DECISION = "permissionDecision";

/** What Claude Code reads: the text of the result is this JSON. */
export type PromptAnswer =
  | { readonly behavior: "allow"; readonly updatedInput: JsonObject }
  | { readonly behavior: "deny"; readonly message: string };

export async function promptAnswer(
  calls: Pick<MessageClient<CallMessages>, "ask">,
  asked: JsonObject,
  { agent, user, cwd, waitMilliseconds }: PromptOptions,
  signal: AbortSignal,
): Promise<PromptAnswer> {
  const [tool, input] = [member(asked, "tool_name"), member(asked, "input")];
  if (typeof tool !== "string" || input === undefined || !isJsonObject(input))
    return promptDenial("the tool name or the arguments are missing");
  const about = { session_id: "prompt", cwd, hook_event_name: "PreToolUse" };
  const parts: Record<1 | 2 | 3, Uint8Array[]> = { 1: [], 2: [], 3: [] };
  const words = [
    "claude",
    agent,
    ...(user === null ? [] : ["--user", user]),
    "--in",
    cwd,
    "--wait",
    String(waitMilliseconds),
  ];
  const answer = await calls.ask(
    "hook.decide",
    { cwd, words, text: JSON.stringify({ ...about, tool_name: tool, tool_input: input }) },
    {
      signal,
      onBytes: (channel, bytes) => {
        if (channel === 1 || channel === 2 || channel === 3) parts[channel].push(bytes);
      },
    },
  );
  const [output, errors, status] = [parts[1], parts[2], parts[3]].map((list) => Buffer.concat(list));
  if (!answer.ok) return promptDenial(answer.message);
  if (status?.length !== 1 || status[0] !== 0)
    return promptDenial(errors?.toString("utf8").trim() || "the daemon returned no decision");
  return allowedIn(output?.toString("utf8") ?? "", input);
}

/** Without an opinion of the hook (shadow mode) a person would be asked, and there is none. */
function allowedIn(text: string, input: JsonObject): PromptAnswer {
  let said: Json = null;
  try {
    said = text === "" ? null : (JSON.parse(text) as Json);
  } catch {
    return promptDenial("the daemon's response cannot be parsed");
  }
  const specific = said !== null && isJsonObject(said) ? member(said, "hookSpecificOutput") : undefined;
  const answer = specific !== undefined && isJsonObject(specific) ? specific : {};
  const updated = member(answer, "updatedInput");
  if (member(answer, DECISION) !== "allow") return promptDenial("no grant of the record allows it");
  return { behavior: "allow", updatedInput: updated !== undefined && isJsonObject(updated) ? updated : input };
}

export function promptDenial(message: string): PromptAnswer {
  return { behavior: "deny", message: message.startsWith("ambit") ? message : `ambit: ${message}` };
}
