// Tokens of one answer, from the usage fields of the providers: of one JSON value, or of the events of a stream, which count
// up. The largest number of each kind counts. INVARIANT: only fields beside the content are read, so nothing that a model or a
// tool writes can change them; and a stream that ends before its last usage has no count of its output.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../../core/base/json.ts";
import type { ModelProvider } from "../../../core/notation/config/model-setting.ts";

export interface Usage {
  /** With what was read from a cache or written to one. Null: not told. */
  readonly input: number | null;
  /** Null: the answer broke off before its final count. */
  readonly output: number | null;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

const lineBytesMax = 4_194_304;
const bodyBytesMax = 16_777_216;

export class UsageCounter {
  readonly #provider: ModelProvider;
  readonly #isStream: boolean;
  #pieces: string[] = [];
  #length = 0;
  #usage: Usage | null = null;
  #isFinal = false;
  /** A line or body that is larger than any with usage: not looked at. */
  #isOver = false;

  /** `isStream`: the answer is a stream of events, by its media type. */
  constructor(provider: ModelProvider, isStream: boolean) {
    this.#provider = provider;
    this.#isStream = isStream;
  }

  take(bytes: Uint8Array): void {
    const text = Buffer.from(bytes).toString("latin1");
    if (!this.#isStream) {
      this.#keep(text, bodyBytesMax);
      return;
    }
    const lines = text.split("\n");
    for (const line of lines.slice(0, -1)) {
      this.#keep(line, lineBytesMax);
      this.#endLine();
    }
    this.#keep(lines.at(-1) ?? "", lineBytesMax);
  }

  /** Null where the answer has no usage. */
  end(): Usage | null {
    this.#endLine();
    if (this.#usage === null) return null;
    const { input, output } = this.#usage;
    // No request has an input of nothing: such a count is none.
    return { ...this.#usage, input: input === 0 ? null : input, output: this.#isFinal ? output : null };
  }

  #keep(text: string, max: number): void {
    if (this.#isOver || text === "") return;
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length <= max) return;
    this.#isOver = true;
    this.#pieces = [];
  }

  #endLine(): void {
    const line = this.#pieces.join("");
    const isOver = this.#isOver;
    this.#pieces = [];
    this.#length = 0;
    this.#isOver = false;
    if (isOver || !line.includes('"usage')) return;
    const data = this.#isStream && line.startsWith("data:") ? line.slice(5) : line;
    try {
      const value = JSON.parse(Buffer.from(data, "latin1").toString("utf8")) as Json;
      // One provider answers with a list of events where a stream is asked for in another form.
      for (const event of isJsonList(value) ? value : [value]) if (isJsonObject(event)) this.#count(event);
    } catch {
      // No JSON: no usage.
    }
  }

  #count(event: JsonObject): void {
    const found = this.#isStream ? streamed(this.#provider, event) : whole(this.#provider, event);
    if (found === null) return;
    const usage = READERS[this.#provider](found.usage);
    if (usage === null) return;
    this.#usage = this.#usage === null ? usage : larger(this.#usage, usage);
    this.#isFinal ||= found.isFinal;
  }
}

interface FoundUsage {
  readonly usage: JsonObject;
  readonly isFinal: boolean;
}

function whole(provider: ModelProvider, body: JsonObject): FoundUsage | null {
  const usage = member(body, provider === "gemini" ? "usageMetadata" : "usage");
  return usage !== undefined && isJsonObject(usage) ? { usage, isFinal: true } : null;
}

const ENDED: ReadonlySet<Json> = new Set<Json>(["response.completed", "response.incomplete", "response.failed"]);

function streamed(provider: ModelProvider, event: JsonObject): FoundUsage | null {
  const type = member(event, "type");
  const at = (holder: string): FoundUsage | null => {
    const inner = member(event, holder);
    return inner !== undefined && isJsonObject(inner) ? whole(provider, inner) : null;
  };
  switch (provider) {
    case "anthropic":
      if (type === "message_start") {
        const begun = at("message");
        return begun === null ? null : { ...begun, isFinal: false };
      }
      return type === "message_delta" ? whole(provider, event) : null;
    case "openai":
      if (type === undefined) return whole(provider, event);
      return ENDED.has(type) ? at("response") : null;
    case "gemini":
      return whole(provider, event);
    default:
      return provider satisfies never;
  }
}

/** Null where the numbers are missing, or cannot be numbers of tokens. */
type Reader = (usage: JsonObject) => Usage | null;

const READERS: Readonly<Record<ModelProvider, Reader>> = {
  anthropic: (usage) => {
    // Each pass over the conversation is listed where there was more than one; the totals then are those of the last.
    const passes = member(usage, "iterations");
    const all = passes !== undefined && isJsonList(passes) && passes.length > 0 ? passes : [];
    const listed = all.map((one) => (isJsonObject(one) ? anthropicUsage(one) : null));
    return [anthropicUsage(usage), listed.reduce<Usage | null>(sum, null)].reduce(either, null);
  },
  openai: (usage) => {
    const input = tokensIn(usage, ["input_tokens", "prompt_tokens"]);
    const output = tokensIn(usage, ["output_tokens", "completion_tokens"]);
    if (input === null || output === null) return null;
    const details = ["input_tokens_details", "prompt_tokens_details"].map((name) => member(usage, name));
    const detail = details.find((one) => one !== undefined) ?? null;
    const cacheRead = isJsonObject(detail) ? (tokensIn(detail, ["cached_tokens"]) ?? 0) : 0;
    return { input, output, cacheRead, cacheWrite: 0 };
  },
  gemini: (usage) => {
    const input = tokensIn(usage, ["promptTokenCount"]);
    if (input === null) return null;
    const [made, thought] = [tokensIn(usage, ["candidatesTokenCount"]), tokensIn(usage, ["thoughtsTokenCount"])];
    const tools = tokensIn(usage, ["toolUsePromptTokenCount"]) ?? 0;
    const total = tokensIn(usage, ["totalTokenCount"]);
    const counted = made === null && thought === null ? null : (made ?? 0) + (thought ?? 0);
    const output = total === null ? counted : Math.max(counted ?? 0, total - input - tools);
    const cacheRead = tokensIn(usage, ["cachedContentTokenCount"]) ?? 0;
    return { input: input + tools, output, cacheRead, cacheWrite: 0 };
  },
};

function anthropicUsage(usage: JsonObject): Usage | null {
  const [input, output] = [tokensIn(usage, ["input_tokens"]), tokensIn(usage, ["output_tokens"])];
  const cacheWrite = tokensIn(usage, ["cache_creation_input_tokens"]) ?? 0;
  const cacheRead = tokensIn(usage, ["cache_read_input_tokens"]) ?? 0;
  if (output === null) return null;
  return { input: input === null ? null : input + cacheWrite + cacheRead, output, cacheRead, cacheWrite };
}

const tokensMax = 100_000_000;

/** The first of these that is there. */
function tokensIn(usage: JsonObject, names: readonly string[]): number | null {
  for (const name of names) {
    const value = member(usage, name);
    if (value === undefined || value === null) continue;
    return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokensMax ? value : null;
  }
  return null;
}

function either(left: Usage | null, right: Usage | null): Usage | null {
  return left === null || right === null ? (left ?? right) : larger(left, right);
}

function larger(left: Usage, right: Usage): Usage {
  return {
    input: largest(left.input, right.input),
    output: largest(left.output, right.output),
    // What is read from a cache is cheaper: it belongs to the count that it came with.
    cacheRead: (right.input ?? 0) >= (left.input ?? 0) ? right.cacheRead : left.cacheRead,
    cacheWrite: Math.max(left.cacheWrite, right.cacheWrite),
  };
}

function largest(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.max(left, right);
}

function sum(left: Usage | null, right: Usage | null): Usage | null {
  if (left === null || right === null) return left ?? right;
  return {
    input: left.input === null || right.input === null ? null : left.input + right.input,
    output: left.output === null || right.output === null ? null : left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
  };
}
