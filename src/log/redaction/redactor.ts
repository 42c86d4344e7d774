// Removes known secrets from bytes, texts and JSON, and reports which ones were found.
import type { Json, JsonObject } from "../../core/base/json.ts";
import { isJsonList } from "../../core/base/json.ts";
import { Automaton, type Pattern } from "./automaton.ts";
import { EncodedLineBuffer } from "./encoded-line-buffer.ts";
import { encodingsOf } from "./encodings.ts";
import { addInterval, type Interval, mergeIntervals } from "./intervals.ts";
import { type KnownSecret, notRedactable, notRedactableTogether } from "./known-secret.ts";
import { redactedDepthMax, secretCharactersMin } from "./limits.ts";
import { Normaliser } from "./normaliser.ts";
import { EscapeScan, joinBytes, PlainScan, RedactionStream } from "./redaction-stream.ts";
import { bytesOf, textOf } from "./utf8.ts";

export interface RedactionResult<T> {
  readonly value: T;
  /** Of the secrets that were found, in the order they are known in. A canary among them is an alarm. */
  readonly names: readonly string[];
}

export interface StreamRedactor {
  /** Returns the bytes that are final; the rest follows later. */
  write(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
  /** Whether bytes are held back: they may be the beginning of a secret. */
  isHolding(): boolean;
  /** Found so far. */
  names(): readonly string[];
}

export type RedactorResult =
  | { readonly ok: true; readonly redactor: Redactor }
  /** `name`: the secret it is about; null if it is about all of them. */
  | { readonly ok: false; readonly code: "invalid_input"; readonly name: string | null; readonly message: string };

/** Refused as a whole if one value cannot be redacted, so that no caller relies on it. */
export function redactorOf(secrets: readonly KnownSecret[]): RedactorResult {
  for (const { name, bytes } of secrets) {
    const message = notRedactable(bytes);
    if (message !== null) return { ok: false, code: "invalid_input", name, message };
  }
  const message = notRedactableTogether(secrets);
  return message === null
    ? { ok: true, redactor: new Redactor(secrets) }
    : { ok: false, code: "invalid_input", name: null, message };
}

interface BuiltMatchers {
  readonly automaton: Automaton;
  readonly normaliser: Normaliser;
  readonly marks: readonly Uint8Array[];
}

export class Redactor {
  readonly #secrets: readonly KnownSecret[];
  #built: BuiltMatchers | null = null;
  #isForgotten = false;

  /** Use `redactorOf`. The automaton is built on first use. */
  constructor(secrets: readonly KnownSecret[]) {
    // A copy, whatever kind of bytes they are: `slice` of some kinds shares memory, and the caller wipes its own.
    this.#secrets = secrets.map(({ name, bytes }) => ({ name, bytes: new Uint8Array(bytes) }));
  }

  /** For streams: every known encoding, then escapes, then the full scan of lines that look encoded. */
  stream(): StreamRedactor {
    const { automaton } = this.#build();
    const hits = new Set<number>();
    const mark = (owners: ReadonlySet<number>): Uint8Array => {
      for (const owner of owners) hits.add(owner);
      return this.#mark(owners);
    };
    const plain = new RedactionStream(new PlainScan(automaton), mark);
    const escaped = new RedactionStream(new EscapeScan(automaton), mark);
    const lines = new EncodedLineBuffer((bytes) => {
      const found = this.#find(bytes);
      for (const { owners } of found) for (const owner of owners) hits.add(owner);
      return this.redactBytes(bytes).value;
    });
    return {
      write: (bytes) => lines.write(escaped.write(plain.write(bytes))),
      end: () => joinBytes([lines.write(escaped.write(plain.end())), lines.write(escaped.end()), lines.end()]),
      isHolding: () => plain.isHolding || escaped.isHolding || lines.isHolding,
      names: () => this.#names(hits),
    };
  }

  /** For a whole: also scanned without blanks and escapes, and with base64 and hexadecimal decoded. */
  redactBytes(bytes: Uint8Array): RedactionResult<Uint8Array> {
    const found = this.#find(bytes);
    if (found.length === 0) return { value: bytes, names: [] };
    const pieces: Uint8Array[] = [];
    const hits = new Set<number>();
    let at = 0;
    for (const { start, end, owners } of found) {
      pieces.push(bytes.subarray(at, start), this.#mark(owners));
      for (const owner of owners) hits.add(owner);
      at = end;
    }
    pieces.push(bytes.subarray(at));
    return { value: joinBytes(pieces), names: this.#names(hits) };
  }

  redactText(text: string): RedactionResult<string> {
    if (text.length * 3 < secretCharactersMin) return { value: text, names: [] };
    const { value, names } = this.redactBytes(bytesOf(text));
    return { value: names.length === 0 ? text : textOf(value), names };
  }

  /** Keys and values. A number whose digits are a secret becomes a text. */
  redactJson(json: Json): RedactionResult<Json> {
    const hits = new Set<string>();
    const value = this.#json(json, 0, hits);
    return { value, names: this.#secrets.map(({ name }) => name).filter((name) => hits.has(name)) };
  }

  /** Wipes its secrets. Using it afterwards is a bug and throws. */
  forget(): void {
    this.#isForgotten = true;
    for (const { bytes } of this.#secrets) bytes.fill(0);
    this.#built?.automaton.wipe();
    this.#built?.normaliser.wipe();
    this.#built = null;
  }

  #build(): BuiltMatchers {
    if (this.#isForgotten) throw new Error("this redactor was closed and has no secrets any more");
    if (this.#built !== null) return this.#built;
    const patterns: Pattern[] = this.#secrets.flatMap(({ bytes }, owner) =>
      encodingsOf(bytes).map((encoded) => ({ bytes: encoded, owner })),
    );
    const automaton = new Automaton(patterns);
    this.#built = {
      automaton,
      normaliser: new Normaliser(patterns, automaton, secretCharactersMin),
      marks: this.#secrets.map(({ name }) => bytesOf(`[REDACTED:${name}]`)),
    };
    return this.#built;
  }

  #find(bytes: Uint8Array): readonly Interval[] {
    const { automaton, normaliser } = this.#build();
    if (automaton.longest === 0 || bytes.length < automaton.shortest) return [];
    const found: Interval[] = [];
    let state = 0;
    for (let at = 0; at < bytes.length; at++) {
      state = automaton.next(state, bytes[at] as number);
      const here = automaton.found(state);
      if (here !== null) addInterval(found, at + 1 - here.length, at + 1, here.owners);
    }
    const more = normaliser.find(bytes, found);
    return more.length === 0 ? found : mergeIntervals([...found, ...more]);
  }

  #json(json: Json, depth: number, hits: Set<string>): Json {
    const text = (value: string): string => {
      const redacted = this.redactText(value);
      for (const name of redacted.names) hits.add(name);
      return redacted.value;
    };
    if (typeof json === "string") return text(json);
    if (typeof json === "number") {
      const digits = text(`${json}`);
      return digits === `${json}` ? json : digits;
    }
    if (json === null || typeof json === "boolean") return json;
    if (depth >= redactedDepthMax) return "[REDACTED: nested too deeply to check]";
    if (isJsonList(json)) return json.map((one) => this.#json(one, depth + 1, hits));
    const copy: Record<string, Json> = Object.create(null);
    const times = new Map<string, number>();
    for (const [key, value] of Object.entries(json as JsonObject))
      copy[freeKey(copy, text(key), times)] = this.#json(value, depth + 1, hits);
    return copy;
  }

  #mark(owners: ReadonlySet<number>): Uint8Array {
    const { marks } = this.#build();
    const ordered = [...owners].sort((left, right) => left - right);
    return joinBytes(ordered.map((owner) => marks[owner] as Uint8Array));
  }

  #names(owners: ReadonlySet<number>): readonly string[] {
    return this.#secrets.filter((_, owner) => owners.has(owner)).map(({ name }) => name);
  }
}

/** Two keys that became equal stay two. */
function freeKey(object: Readonly<Record<string, Json>>, key: string, times: Map<string, number>): string {
  if (!(key in object)) return key;
  let count = times.get(key) ?? 1;
  let free = key;
  while (free in object) free = `${key} (${++count})`;
  times.set(key, count);
  return free;
}
