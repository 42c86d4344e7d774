// One completion of a text: the request in the form of each provider, and the text of the provider's answer.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { MODEL_PROVIDERS, type ModelProvider } from "../../core/notation/config/model-setting.ts";

export interface Completion {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly system: string | null;
  readonly messages: readonly CompletionMessage[];
  readonly outputTokens: number;
  /** Null: the provider's default. */
  readonly temperature: number | null;
}

interface CompletionMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export const outputTokensUsual = 1_024;

/** Null for an input that is no completion, and that the schema of the tool refuses. */
export function completionIn(input: JsonObject): Completion | null {
  const provider = MODEL_PROVIDERS.find((one) => one === member(input, "provider"));
  const model = member(input, "model");
  const messages = messagesIn(input);
  const [system, output] = [member(input, "system") ?? null, member(input, "max_tokens") ?? outputTokensUsual];
  const temperature = member(input, "temperature") ?? null;
  if (provider === undefined || typeof model !== "string" || messages === null) return null;
  if ((system !== null && typeof system !== "string") || typeof output !== "number") return null;
  if (temperature !== null && typeof temperature !== "number") return null;
  return { provider, model, system, messages, outputTokens: output, temperature };
}

/** Null where neither or both of a prompt and messages are written. */
function messagesIn(input: JsonObject): readonly CompletionMessage[] | null {
  const [prompt, written] = [member(input, "prompt"), member(input, "messages")];
  if (written === undefined) return typeof prompt === "string" ? [{ role: "user", text: prompt }] : null;
  if (prompt !== undefined || !isJsonList(written) || written.length === 0) return null;
  const messages = written.flatMap((one): readonly CompletionMessage[] => {
    const [role, text] = isJsonObject(one) ? [member(one, "role"), member(one, "text")] : [];
    return (role === "user" || role === "assistant") && typeof text === "string" ? [{ role, text }] : [];
  });
  return messages.length === written.length ? messages : null;
}

/** `path`: below the provider's own address. */
export interface ProviderRequest {
  readonly path: string;
  readonly body: JsonObject;
}

export function providerRequest({ provider, model, system, messages, ...rest }: Completion): ProviderRequest {
  const { outputTokens, temperature } = rest;
  const warmth: JsonObject = temperature === null ? {} : { temperature };
  const plain = messages.map(({ role, text }) => ({ role, content: text }));
  switch (provider) {
    case "anthropic":
      return {
        path: "/v1/messages",
        body: {
          ...{ model, max_tokens: outputTokens, messages: plain, ...warmth },
          ...(system === null ? {} : { system }),
        },
      };
    case "openai": {
      const instructions = system === null ? [] : [{ role: "system", content: system }];
      return {
        path: "/v1/chat/completions",
        body: { model, max_completion_tokens: outputTokens, messages: [...instructions, ...plain], ...warmth },
      };
    }
    case "gemini":
      return {
        path: `/v1beta/models/${model}:generateContent`,
        body: {
          contents: messages.map(({ role, text }) => ({ role: role === "user" ? role : "model", parts: [{ text }] })),
          generationConfig: { maxOutputTokens: outputTokens, ...warmth },
          ...(system === null ? {} : { systemInstruction: { parts: [{ text: system }] } }),
        },
      };
    default:
      return provider satisfies never;
  }
}

export interface CompletionText {
  readonly text: string;
  /** Why the model stopped, in the provider's word; null: not told. */
  readonly stop: string | null;
}

/** Null for a value that is no answer of this provider. */
export function completionText(provider: ModelProvider, answer: Json): CompletionText | null {
  switch (provider) {
    case "anthropic":
      return answerOf(textsIn(at(answer, "content"), "text"), at(answer, "stop_reason"));
    case "openai": {
      const choice = first(at(answer, "choices"));
      const content = at(at(choice, "message"), "content");
      return answerOf(typeof content === "string" ? [content] : null, at(choice, "finish_reason"));
    }
    case "gemini": {
      const candidate = first(at(answer, "candidates"));
      return answerOf(textsIn(at(at(candidate, "content"), "parts"), null), at(candidate, "finishReason"));
    }
    default:
      return provider satisfies never;
  }
}

/** Texts of parts; of this type, where types are written. */
function textsIn(parts: Json | undefined, type: string | null): readonly string[] | null {
  if (!isJsonList(parts)) return null;
  return parts.flatMap((part) => {
    const text = at(part, "text");
    return typeof text === "string" && (type === null || at(part, "type") === type) ? [text] : [];
  });
}

function answerOf(texts: readonly string[] | null, stop: Json | undefined): CompletionText | null {
  return texts === null ? null : { text: texts.join(""), stop: typeof stop === "string" ? stop : null };
}

function at(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? member(value, name) : undefined;
}

function first(value: Json | undefined): Json | undefined {
  return isJsonList(value) ? value[0] : undefined;
}
