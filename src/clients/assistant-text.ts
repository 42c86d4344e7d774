// The assistant's own text in the structured output of a client: one JSON object a line. Results of tools, prompts and the words
// of sub-agents are not the assistant's.
import { isJsonList, isJsonObject, type Json, member } from "../core/base/json.ts";
import type { OutputForm } from "./profile.ts";
import { PROFILES } from "./profiles.ts";

/** The assistant's texts in one line of output; none for any other line. */
export type AssistantTextReader = (line: Json) => readonly string[];

/** `claude -p --output-format stream-json`. */
const claude: AssistantTextReader = (line) => {
  if (!isJsonObject(line) || line["type"] !== "assistant" || (line["parent_tool_use_id"] ?? null) !== null) return [];
  const message = line["message"];
  const content = isJsonObject(message) && message["role"] === "assistant" ? member(message, "content") : null;
  return (isJsonList(content) ? content : []).flatMap((part) =>
    isJsonObject(part) && part["type"] === "text" ? textOf(part["text"]) : [],
  );
};

/** `codex exec --json`. */
const codex: AssistantTextReader = (line) => {
  const item = isJsonObject(line) && line["type"] === "item.completed" ? line["item"] : null;
  return isJsonObject(item) && item["type"] === "agent_message" ? textOf(item["text"]) : [];
};

/** `opencode run --format json`. */
const opencode: AssistantTextReader = (line) => {
  const part = isJsonObject(line) && line["type"] === "text" ? line["part"] : null;
  return isJsonObject(part) && part["type"] === "text" ? textOf(part["text"]) : [];
};

function textOf(value: Json | undefined): readonly string[] {
  return typeof value === "string" ? [value] : [];
}

const READERS: Readonly<Record<OutputForm, AssistantTextReader>> = { claude, codex, opencode };

/** Null for a client whose output has no structure that we read. */
export function assistantTextReader(profile: string): AssistantTextReader | null {
  const form = PROFILES.find(({ id }) => id === profile)?.output;
  return form === undefined ? null : READERS[form];
}
