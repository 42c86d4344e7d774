// The question as a person reads it: the agent, the whole call, what it needs and how risky that is.
import { type Risk, verbEntry } from "../core/authority/catalog.ts";
import { isJsonList, isJsonObject, type Json } from "../core/base/json.ts";
import type { Digest } from "../core/ports/digest.ts";
import type { Approval } from "../core/ports/stores/approval-store.ts";
import { type DisplayText, displayLine, displayValue } from "./display-text.ts";

export interface Question {
  readonly who: readonly Line[];
  readonly call: readonly Line[];
  readonly requests: readonly RequestLine[];
  /** What must be unchanged for the answer to cover a later call, and what may change. */
  readonly binding: readonly Line[];
}

/** Notes say that the text was folded or that characters were escaped. */
export interface Line extends DisplayText {
  readonly label: string;
}

export interface RequestLine extends DisplayText {
  readonly verb: string;
  readonly effect: string;
  readonly risk: Risk;
  /** Whether this request requires the approval. */
  readonly isAsking: boolean;
}

/** A longer text is folded in the middle, and this much is left at either end. */
const textCharactersMax = 600;
const headCharacters = 400;
const tailCharacters = 120;
/** Arguments of a call that are shown one by one. */
const valuesShownMax = 200;

/** `digest`: identifies folded text, so that two long values can be told apart. Null: nothing is folded. */
export function questionOf(approval: Approval, digest: Digest | null): Question {
  const { who, tool, requests, asking } = approval;
  const asks = new Set(asking);
  const line = (label: string, text: string): Line => ({ label, ...folded(text, displayLine, digest) });
  const known = (label: string, text: string | null): Line[] => (text === null ? [] : [line(label, text)]);
  return {
    who: [
      line("user", who.user ?? "not stated"),
      line("agent", who.agent ?? "none"),
      ...known("workspace", who.workspace),
      ...known("delegated by", who.chain.length === 0 ? null : who.chain.join(" > ")),
      ...known("session", who.session),
      ...known("trace", who.trace),
    ],
    call: [line("tool", tool), ...argumentLines(approval.arguments, digest)],
    requests: requests.map((text) => requestLine(text, asks.has(text), digest)),
    binding: [
      ...(approval.binding?.bound ?? []).map((text) => line("bound", text)),
      ...(approval.binding?.unbound ?? []).map((text) => line("not bound", text)),
    ],
  };
}

function requestLine(text: string, isAsking: boolean, digest: Digest | null): RequestLine {
  const space = text.indexOf(" ");
  const verb = space < 0 ? text : text.slice(0, space);
  const entry = verbEntry(verb);
  return {
    ...folded(text, displayLine, digest),
    verb: folded(verb, displayLine, digest).text,
    effect: entry?.effect ?? "",
    // An unknown verb counts as high risk.
    risk: entry?.risk ?? "high",
    isAsking,
  };
}

interface PathValue {
  readonly path: string;
  readonly value: Json;
}

/** Every value on a line of its own, with its path. */
function argumentLines(value: Json, digest: Digest | null): readonly Line[] {
  const { found, left } = leaves(value, digest === null ? Number.POSITIVE_INFINITY : valuesShownMax, (key) =>
    keyText(key, digest),
  );
  const lines = found.map((one) => valueLine(one.path, one.value, digest));
  if (left === 0 || digest === null) return lines;
  const whole = JSON.stringify(value);
  const note = `${left} more values; ${whole.length} characters in total, sha256 ${digest(whole)}`;
  return [...lines, { label: "...", text: "", notes: [note] }];
}

/** `left`: how many were left out. Iterative: a deeply nested value must not overflow the stack. */
function leaves(
  value: Json,
  most: number,
  keyName: (key: string) => string,
): { readonly found: readonly PathValue[]; readonly left: number } {
  const found: PathValue[] = [];
  const open: PathValue[] = [{ path: "", value }];
  let left = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const inner = innerOf(next, keyName);
    if (inner !== null && inner.length > 0) for (const one of inner.toReversed()) open.push(one);
    else if (next.path === "") continue;
    else if (found.length < most) found.push(next);
    else left++;
  }
  return { found, left };
}

function innerOf({ value, path }: PathValue, keyName: (key: string) => string): PathValue[] | null {
  if (isJsonList(value)) return value.map((one, at) => ({ path: `${path}[${at}]`, value: one }));
  if (!isJsonObject(value)) return null;
  return Object.entries(value).map(([key, one]) => ({
    path: path === "" ? keyName(key) : `${path}.${keyName(key)}`,
    value: one,
  }));
}

function keyText(key: string, digest: Digest | null): string {
  if (/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(key)) return key;
  const { text, notes } = folded(key, displayValue, digest);
  return key.length <= textCharactersMax || digest === null ? text : `${text} (${notes[0]})`;
}

function valueLine(label: string, value: Json, digest: Digest | null): Line {
  if (typeof value !== "string") return { label, text: JSON.stringify(value), notes: [] };
  return { label, ...folded(value, displayValue, digest) };
}

function folded(text: string, show: (text: string) => DisplayText, digest: Digest | null): DisplayText {
  if (digest === null || text.length <= textCharactersMax) return show(text);
  const head = show(text.slice(0, headCharacters)).text;
  const tail = show(text.slice(-tailCharacters)).text;
  const between = text.length - headCharacters - tailCharacters;
  const note = `${text.length} characters, ${between} in the middle are not shown, sha256 ${digest(text)}`;
  return { text: `${head} ... ${tail}`, notes: [note, ...show(text).notes] };
}
