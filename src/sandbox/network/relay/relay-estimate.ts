// What a request to a model can cost at most, before it is sent: a token for each byte of its text, and the most output that it
// allows; and the request with less output.
import { isJsonObject, type Json, type JsonObject, member } from "../../../core/base/json.ts";
import type { ModelProvider } from "../../../core/notation/config/model-setting.ts";
import type { ModelEstimate } from "../../plan/sandboxes.ts";
import { imageSurplus, type RequestFormat } from "./relay-images.ts";

/** With less output than this an answer is cut off before it says anything. */
const outputTokensLeast = 1_024;
export const outputTokensMax = 10_000_000;

/** Tiers that cost no more than the listed price. */
const PLAIN_TIERS: ReadonlySet<Json> = new Set<Json>(["auto", "default", "standard", "standard_only", "flex"]);

/** `bytes`: of the body as text. A text says why the maximum of the output is not clear. */
export function estimateOf(
  provider: ModelProvider,
  path: string,
  body: JsonObject,
  bytes: number,
): Omit<ModelEstimate, "isCharged"> | string {
  const output = outputOf(provider, path, body);
  if (typeof output === "string") return output;
  const tier = member(body, "service_tier") ?? null;
  const speed = member(body, "speed") ?? null;
  const isPlain = (tier === null || PLAIN_TIERS.has(tier)) && (speed === null || speed === "standard");
  return {
    inputTokens: bytes - imageSurplus(formatOf(provider, path), body),
    outputTokens: output.most === null ? null : output.most * output.answers,
    outputLeast: (output.least ?? Math.min(outputTokensLeast, output.most ?? outputTokensLeast)) * output.answers,
    // Rejected words of a prediction cost as much as output.
    isPremium: !isPlain || member(body, "prediction") !== undefined,
  };
}

interface OutputBounds {
  /** Of one answer; null: the request names none. */
  readonly most: number | null;
  /** Null: the usual. */
  readonly least: number | null;
  /** How many answers the request asks for. */
  readonly answers: number;
}

function outputOf(provider: ModelProvider, path: string, body: JsonObject): OutputBounds | string {
  const settings = provider === "gemini" ? generationConfig(body) : body;
  const found = FIELDS[formatOf(provider, path)].map((name) => wholeIn(settings, name));
  const counts = ANSWERS.map((name) => wholeIn(settings, name));
  const wrong = [...found, ...counts].find((one) => typeof one === "string");
  if (typeof wrong === "string") return wrong;
  const written = found.filter((one): one is number => typeof one === "number");
  const most = written.length === 0 ? null : Math.max(...written);
  const thinking = member(body, "thinking");
  const thought = isJsonObject(thinking) ? wholeIn(thinking, "budget_tokens") : null;
  if (typeof thought === "string") return thought;
  // Whichever of the spellings the provider reads.
  const answers = Math.max(1, ...counts.map((one) => (typeof one === "number" ? one : 1)));
  const bounds = { most, least: null, answers };
  if (thought === null || most === null) return bounds;
  // The provider refuses a maximum that is not above the budget for thinking, unless thinking is interleaved with tools: then
  // both add up, and neither can be lowered.
  return thought < most
    ? { ...bounds, least: thought + 1 }
    : { ...bounds, most: most + thought, least: most + thought };
}

const FIELDS: Readonly<Record<RequestFormat, readonly string[]>> = {
  messages: ["max_tokens"],
  responses: ["max_output_tokens"],
  completions: ["max_completion_tokens", "max_tokens"],
  gemini: ["maxOutputTokens", "max_output_tokens"],
};
const ANSWERS = ["n", "candidateCount", "candidate_count"];

function formatOf(provider: ModelProvider, path: string): RequestFormat {
  switch (provider) {
    case "anthropic":
      return "messages";
    case "openai":
      return path === "/v1/responses" ? "responses" : "completions";
    case "gemini":
      return "gemini";
    default:
      return provider satisfies never;
  }
}

const CONFIGS = ["generationConfig", "generation_config"];

function generationConfig(body: JsonObject): JsonObject {
  const name = CONFIGS.find((one) => member(body, one) !== undefined);
  const found = name === undefined ? undefined : member(body, name);
  return found !== undefined && isJsonObject(found) ? found : {};
}

/** Null where it is absent. */
function wholeIn(settings: JsonObject, name: string): number | null | string {
  const value = member(settings, name) ?? null;
  if (value === null) return null;
  const isWhole = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= outputTokensMax;
  return isWhole ? value : `\`${name}\` is not a whole number`;
}

/** The same request with at most this many tokens of output. */
export function withOutputLimit(provider: ModelProvider, path: string, body: JsonObject, tokens: number): JsonObject {
  const output = outputOf(provider, path, body);
  const each = typeof output === "string" ? tokens : Math.floor(tokens / output.answers);
  if (provider === "gemini") {
    const name = CONFIGS.find((one) => member(body, one) !== undefined) ?? "generationConfig";
    return { ...body, [name]: limited(generationConfig(body), FIELDS.gemini, each) };
  }
  return limited(body, FIELDS[formatOf(provider, path)], each);
}

/** Sets each field that is there, or else the first. */
function limited(settings: JsonObject, fields: readonly string[], tokens: number): JsonObject {
  const there = fields.filter((name) => (member(settings, name) ?? null) !== null);
  const names = there.length === 0 ? fields.slice(0, 1) : there;
  return { ...settings, ...Object.fromEntries(names.map((name) => [name, tokens])) };
}
