// Tokens of one answer, from the usage fields of the providers: of one JSON object, or of the events of a stream, which count
// up. The largest number of each kind counts.
import { isJsonObject, type Json, type JsonObject, member } from "../../../core/base/json.ts";

export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** Names of the providers' fields; those of one kind are added. */
const INPUT = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "prompt_tokens",
  "promptTokenCount",
];
const OUTPUT = ["output_tokens", "completion_tokens", "candidatesTokenCount", "thoughtsTokenCount"];

const lineBytesMax = 4_194_304;
const bodyBytesMax = 16_777_216;

export class UsageCounter {
  readonly #isStream: boolean;
  #text = "";
  #input: number | null = null;
  #output: number | null = null;
  /** A line or body that is larger than any with usage: not looked at. */
  #isOver = false;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  take(bytes: Uint8Array): void {
    this.#text += Buffer.from(bytes).toString("latin1");
    if (!this.#isStream) {
      if (this.#text.length > bodyBytesMax) {
        this.#text = "";
        this.#isOver = true;
      }
      return;
    }
    let from = 0;
    for (let end = this.#text.indexOf("\n"); end >= 0; end = this.#text.indexOf("\n", from)) {
      if (!this.#isOver) this.#line(this.#text.slice(from, end));
      this.#isOver = false;
      from = end + 1;
    }
    this.#text = this.#text.slice(from);
    if (this.#text.length > lineBytesMax) {
      this.#text = "";
      this.#isOver = true;
    }
  }

  /** Null where the answer has no usage. */
  end(): Usage | null {
    if (!this.#isOver) this.#line(this.#text);
    this.#text = "";
    if (this.#input === null && this.#output === null) return null;
    return { input: this.#input ?? 0, output: this.#output ?? 0 };
  }

  #line(line: string): void {
    const data = this.#isStream && line.startsWith("data:") ? line.slice(5) : line;
    if (!data.includes('"usage')) return;
    try {
      const value: unknown = JSON.parse(Buffer.from(data, "latin1").toString("utf8"));
      this.#count(value as Json);
    } catch {
      // No JSON: no usage.
    }
  }

  #count(value: Json): void {
    if (!isJsonObject(value)) return;
    for (const holder of [value, member(value, "message"), member(value, "response")]) {
      if (holder === undefined || !isJsonObject(holder)) continue;
      for (const key of ["usage", "usageMetadata"]) {
        const usage = member(holder, key);
        if (usage === undefined || !isJsonObject(usage)) continue;
        this.#input = larger(this.#input, sumOf(usage, INPUT));
        this.#output = larger(this.#output, sumOf(usage, OUTPUT));
      }
    }
  }
}

function larger(before: number | null, found: number | null): number | null {
  return before === null ? found : found === null ? before : Math.max(before, found);
}

const tokensMax = 1_000_000_000;

/** Null where none of them is there. */
function sumOf(usage: JsonObject, names: readonly string[]): number | null {
  const found = names
    .map((name) => member(usage, name))
    .filter((one): one is number => typeof one === "number" && one >= 0 && one <= tokensMax);
  return found.length === 0 ? null : Math.ceil(found.reduce((left, right) => left + right, 0));
}
