// The `allowed-tools` of a skill: the tools its instructions use, as what an agent must be able to do.
import { type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { readGrant } from "../scope/scope-reader.ts";
import { kindName, type Text } from "../scope/scope-values.ts";
import { entryOf, type Mapping, type TreeNode } from "../tree.ts";
import { needsOf, TOOL_NAMES } from "./tool-needs.ts";

/** One verb that a tool needs. */
export interface Need {
  readonly verb: VerbEntry;
  /** Null where the tool was named without a scope: something of the verb is enough. */
  readonly scope: Mapping | null;
  readonly span: Span;
}

export interface ToolNeed {
  /** As written: `Bash(git log:*)`. */
  readonly token: string;
  readonly needs: readonly Need[];
}

export interface AllowedTools {
  readonly tools: readonly ToolNeed[];
  /** Names of unknown tools, as written. They need no grants that could be compared. */
  readonly unknown: readonly string[];
  /** Tools that are known with a scope that cannot be read, as written: nothing can be shown to be enough for them. */
  readonly unreadable: readonly string[];
}

export const NO_TOOLS: AllowedTools = { tools: [], unknown: [], unreadable: [] };

const tokensMax = 256;
const tokenCharactersMax = 1024;

/** Text with tools separated by commas or spaces, a list of such texts, or nothing. */
export function readAllowedTools(node: TreeNode, reading: Reading, diagnostics: Diagnostics): AllowedTools {
  const tokens = tokensOf(node, diagnostics);
  if (tokens === null) return { ...NO_TOOLS, unreadable: ["allowed-tools"] };
  const tools: ToolNeed[] = [];
  const unknown: string[] = [];
  const unreadable: string[] = [];
  for (const { text, span } of tokens) {
    const [, name = "", scope] = /^([\w.*-]+)(?:\((.*)\))?$/s.exec(text) ?? [];
    const specs = needsOf(name, scope?.trim() ?? null);
    if (specs === "unknown") {
      unknown.push(text);
      const suggestion = nearestName(name === "" ? text : name, TOOL_NAMES);
      diagnostics.warning("not_understood", span, `${quoteText(text)} is not a known tool`, { suggestion });
      continue;
    }
    if (specs === "unreadable") {
      unreadable.push(text);
      diagnostics.error("bad_value", span, `the scope of ${quoteText(text)} cannot be read`);
      continue;
    }
    const needs = specs.map(({ verb, keys }) => ({
      verb: verbEntry(verb) as VerbEntry,
      scope: keys === null ? null : scopeOf(keys, span),
      span,
    }));
    if (needs.every((need) => isReadable(need, reading, diagnostics))) tools.push({ token: text, needs });
    else unreadable.push(text);
  }
  return { tools, unknown, unreadable };
}

/**
 * A need as a grant, for an agent that works in this root. A tool without a scope is read like the bare verb, which
 * covers nothing on its own; who compares must ask for something of the verb instead.
 */
export function needGrant(need: Need, root: readonly string[] | null, reading: Reading): Grant | null {
  return readNeed(need, root, reading, new Diagnostics());
}

/** What names a folder of its own is about that folder, wherever the agent works. */
function readNeed(
  { verb, scope, span }: Need,
  root: readonly string[] | null,
  reading: Reading,
  diagnostics: Diagnostics,
): Grant | null {
  const hasOwn = scope !== null && entryOf(scope, "in") !== null;
  return readGrant(verb, scope, { reading, diagnostics, span, implied: null, root: hasOwn ? null : root });
}

function isReadable(need: Need, reading: Reading, diagnostics: Diagnostics): boolean {
  const found = new Diagnostics();
  const grant = readNeed(need, reading.pathSettings.base ?? [], reading, found);
  // That a need covers nothing, or much, is for its check to say.
  for (const one of found.list) if (one.severity === "error") diagnostics.list.push(one);
  return grant !== null;
}

function scopeOf(keys: Readonly<Record<string, string | readonly string[]>>, span: Span): Mapping {
  const scalar = (value: string): TreeNode => ({ kind: "scalar", value, span });
  const entries = Object.entries(keys).map(([key, value]) => ({
    key,
    keySpan: span,
    value: typeof value === "string" ? scalar(value) : ({ kind: "list", items: value.map(scalar), span } as const),
  }));
  return { kind: "map", entries, span };
}

function tokensOf(node: TreeNode, diagnostics: Diagnostics): readonly Text[] | null {
  if (node.kind === "scalar" && node.value === null) return [];
  const items = node.kind === "list" ? node.items : [node];
  const tokens: Text[] = [];
  for (const item of items) {
    if (item.kind !== "scalar" || typeof item.value !== "string") {
      diagnostics.error("wrong_type", item.span, `\`allowed-tools\` must be text, not ${kindName(item)}`, {
        fix: "allowed-tools: Read Bash(git log:*)",
      });
      return null;
    }
    for (const text of splitTokens(item.value)) {
      tokens.push({ text, span: item.span });
      if (tokens.length <= tokensMax && text.length <= tokenCharactersMax) continue;
      diagnostics.error("too_large", item.span, `\`allowed-tools\` has at most ${tokensMax} short entries`);
      return null;
    }
  }
  return tokens;
}

/** At commas and spaces outside parentheses. */
function* splitTokens(text: string): Generator<string> {
  let start = 0;
  let depth = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    if (character !== undefined && (depth > 0 || !/[\s,]/.test(character))) continue;
    if (at > start) yield text.slice(start, at);
    start = at + 1;
  }
}
