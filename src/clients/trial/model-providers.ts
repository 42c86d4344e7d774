// The interfaces of three model providers, as far as a scripted model needs them: what a client's request offers and reports, and an
// answer as the events of a stream.
import type { Json, JsonObject } from "../../core/base/json.ts";
import { isJsonList, isJsonObject, member } from "../../core/base/json.ts";

export type ModelProvider = "anthropic" | "openai" | "gemini";

export interface OfferedTool {
  readonly name: string;
  /** Where the provider puts tools into one. */
  readonly namespace?: string;
}

export interface ToolCall extends OfferedTool {
  readonly input: JsonObject;
}

export type ModelAnswer = { readonly text: string } | ToolCall;

export interface ProviderDialect {
  isConversation(path: string): boolean;
  tools(body: JsonObject): readonly OfferedTool[];
  /** Result of the last tool call; null where there is none. */
  result(body: JsonObject): string | null;
  /** The stream of events. */
  stream(answer: ModelAnswer, id: number): string;
}

const SHELLS: readonly string[] = ["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command"];

/** The client's own shell tool, by the names that clients give it. */
export function shellOf(tools: readonly OfferedTool[]): OfferedTool | null {
  return tools.find(({ name }) => SHELLS.includes(name)) ?? null;
}

export function shellCall(shell: OfferedTool, line: string): ToolCall {
  switch (shell.name) {
    case "exec_command":
      return { ...shell, input: { cmd: line, yield_time_ms: 30_000 } };
    case "shell":
      return { ...shell, input: { command: ["bash", "-c", line] } };
    default:
      return { ...shell, input: { command: line, description: "a step of the script" } };
  }
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return value !== undefined && isJsonList(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function named(tool: JsonObject): OfferedTool {
  return { name: textOf(member(tool, "name")) };
}

function events(all: readonly JsonObject[], isNamed: boolean): string {
  const lines = all.map(
    (event) => `${isNamed ? `event: ${textOf(member(event, "type"))}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
  );
  return lines.join("");
}

const anthropic: ProviderDialect = {
  isConversation: (path) => path === "/v1/messages",
  tools: (body) => objects(member(body, "tools")).map(named),
  result: (body) => {
    const blocks = objects(member(body, "messages")).flatMap((one) => objects(member(one, "content")));
    const found = blocks.findLast((one) => member(one, "type") === "tool_result");
    return found === undefined ? null : textOf(member(found, "content"));
  },
  stream: (answer, id) => {
    const isCall = "name" in answer;
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      ...{ id: `msg_${id}`, type: "message", role: "assistant", model: "scripted", content: [] },
      ...{ stop_reason: null, stop_sequence: null, usage },
    };
    const block = isCall
      ? { type: "tool_use", id: `toolu_${id}`, name: answer.name, input: {} }
      : { type: "text", text: "" };
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(answer.input) }
      : { type: "text_delta", text: answer.text };
    const all: readonly JsonObject[] = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    return events(all, true);
  },
};

const openai: ProviderDialect = {
  isConversation: (path) => path === "/v1/responses",
  tools: (body) =>
    objects(member(body, "tools")).flatMap((tool) =>
      member(tool, "type") === "namespace"
        ? objects(member(tool, "tools")).map((one) => ({ ...named(one), namespace: textOf(member(tool, "name")) }))
        : [named(tool)],
    ),
  result: (body) => {
    const found = objects(member(body, "input")).findLast((one) =>
      textOf(member(one, "type")).endsWith("_call_output"),
    );
    return found === undefined ? null : textOf(member(found, "output"));
  },
  stream: (answer, id) => {
    const item: JsonObject =
      "name" in answer
        ? {
            ...{ type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: answer.name },
            ...(answer.namespace === undefined ? {} : { namespace: answer.namespace }),
            arguments: JSON.stringify(answer.input),
          }
        : { type: "message", id: `m_${id}`, role: "assistant", content: [{ type: "output_text", text: answer.text }] };
    const usage = {
      ...{ input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null },
      total_tokens: 15,
    };
    const all: readonly JsonObject[] = [
      { type: "response.created", response: { id: `resp_${id}` } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: `resp_${id}`, output: [item], usage } },
    ];
    return events(all, true);
  },
};

const gemini: ProviderDialect = {
  isConversation: (path) => /:(?:streamGenerateContent|generateContent)$/.test(path),
  tools: (body) =>
    objects(member(body, "tools"))
      .flatMap((one) => objects(member(one, "functionDeclarations")))
      .map(named),
  result: (body) => {
    const parts = objects(member(body, "contents")).flatMap((one) => objects(member(one, "parts")));
    const found = parts.findLast((one) => member(one, "functionResponse") !== undefined);
    return found === undefined ? null : JSON.stringify(found);
  },
  stream: (answer) => {
    const part = "name" in answer ? { functionCall: { name: answer.name, args: answer.input } } : { text: answer.text };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
    return events([{ candidates: [candidate], usageMetadata, modelVersion: "scripted" }], false);
  },
};

export const PROVIDERS: Readonly<Record<ModelProvider, ProviderDialect>> = { anthropic, openai, gemini };
