// An edit of an org file: capabilities of one agent become `allow`. Only these words change: comments and layout stay as they are.
// INVARIANT: the text is read again, and says the same but for the edit; else it is refused.
import type { Json, JsonObject } from "../core/base/json.ts";
import { isJsonObject } from "../core/base/json.ts";
import { done, type Result, refuse } from "../core/base/result.ts";
import type { Source } from "../core/notation/source.ts";
import { type Entry, entryOf, type Mapping } from "../core/notation/tree.ts";
import type { OrgTree } from "./org-markdown.ts";
import { isSameValue, jsonOfTree } from "./org-text.ts";

type ReadTree = (source: Source) => OrgTree;

const BY_HAND = "this form of the org file cannot be edited here: write `allow` yourself, then run ambit trust";

/** The text with these capabilities allowed for the agent itself, whatever `defaults` says. */
export function allowInOrg(
  source: Source,
  read: ReadTree,
  agent: string,
  capabilities: readonly string[],
): Result<string> {
  const before = read(source);
  if (hasErrors(before)) return refuse("bad_value", "the org file has errors: ambit org show");
  let { text } = source;
  for (const capability of capabilities) {
    const edited = withRuling({ name: source.name, text }, read, agent, capability);
    if (edited === null) return refuse("bad_value", BY_HAND);
    text = edited;
  }
  const after = read({ name: source.name, text });
  const wanted = allowedValue(jsonOfTree(before.tree), agent, capabilities);
  const isMeant = !hasErrors(after) && wanted !== null && isSameValue(wanted, jsonOfTree(after.tree));
  return isMeant ? done(text) : refuse("bad_value", BY_HAND);
}

function hasErrors({ diagnostics }: OrgTree): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/** What the text has to say afterwards. */
function allowedValue(org: Json, agent: string, capabilities: readonly string[]): Json | null {
  const agents = isJsonObject(org) ? org["agents"] : undefined;
  const own = agents !== undefined && isJsonObject(agents) ? agents[agent] : undefined;
  if (!isJsonObject(org) || agents === undefined || !isJsonObject(agents) || own === undefined || !isJsonObject(own))
    return null;
  const rulings = own["capabilities"];
  const table: JsonObject = {
    ...(rulings !== undefined && isJsonObject(rulings) ? rulings : {}),
    ...Object.fromEntries(capabilities.map((one) => [one, "allow"])),
  };
  return { ...org, agents: { ...agents, [agent]: { ...own, capabilities: table } } };
}

function withRuling(source: Source, read: ReadTree, agent: string, capability: string): string | null {
  const { tree } = read(source);
  const agents = entryOf(tree, "agents")?.value;
  const entry = agents?.kind === "map" ? agents.entries.find(({ key }) => key === agent) : undefined;
  if (entry?.value.kind !== "map") return null;
  const { value } = entry;
  const rulings = entryOf(value, "capabilities");
  if (rulings?.value.kind === "map") {
    const ruling = entryOf(rulings.value, capability);
    if (ruling === null) return withEntry(source.text, rulings.value, capability, (quote) => `${quote}allow${quote}`);
    const { start, end } = ruling.value.span;
    const [first = ""] = source.text.slice(start, end);
    const quote = first === '"' || first === "'" ? first : "";
    return splice(source.text, start, end, `${quote}allow${quote}`);
  }
  if (rulings !== null) return null;
  const table = (quote: string): string => `{ ${quote}${capability}${quote}: ${quote}allow${quote} }`;
  return source.name.endsWith(".md")
    ? belowHeading(source.text, entry, table('"'))
    : withEntry(source.text, value, "capabilities", table);
}

/** A map on one line gets an entry at its end, a map of several lines one at its beginning. */
function withEntry(text: string, map: Mapping, key: string, value: (quote: string) => string): string | null {
  const { start, end } = map.span;
  const [first, last] = [map.entries[0], map.entries.at(-1)];
  if (text[start] === "{") {
    const quote = last !== undefined && text[last.keySpan.start] === '"' ? '"' : "";
    const entry = `${quote}${key}${quote}: ${value(quote)}`;
    if (last === undefined) return splice(text, start, end, `{ ${entry} }`);
    const at = last.value.span.end;
    return splice(text, at, at, `, ${entry}`);
  }
  if (first === undefined) return null;
  const line = text.lastIndexOf("\n", first.keySpan.start - 1) + 1;
  const indent = text.slice(line, first.keySpan.start);
  return /^[ ]*$/.test(indent) ? splice(text, line, line, `${indent}${key}: ${value("")}${lineEnd(text)}`) : null;
}

/** The first line under the heading of the agent; a blank line before it stays, and one before prose is added. */
function belowHeading(text: string, { keySpan }: Entry, table: string): string | null {
  const end = lineEnd(text);
  const found = text.indexOf("\n", keySpan.end);
  if (found < 0) return `${text}${end}${end}- capabilities: ${table}${end}`;
  const blank = /^(?:[ \t]*\r?\n)?/.exec(text.slice(found + 1))?.[0].length ?? 0;
  const at = found + 1 + blank;
  const next = text.slice(at);
  const isMetadata = /^ {0,3}-[ \t]/.test(next);
  return splice(text, at, at, `- capabilities: ${table}${end}${isMetadata || /^\s*(?:\r?\n|$)/.test(next) ? "" : end}`);
}

function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function splice(text: string, start: number, end: number, part: string): string {
  return text.slice(0, start) + part + text.slice(end);
}
