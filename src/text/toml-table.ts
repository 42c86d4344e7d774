// TOML tables while they are assembled from their parts, which may be anywhere in a file.
import type { AST } from "toml-eslint-parser";
import { quoteText } from "../core/notation/quote-text.ts";
import type { Range } from "../core/notation/source.ts";
import type { Draft } from "./draft.ts";
import { depthMax } from "./read.ts";

export type TomlValue = TomlTable | TomlTable[] | AST.TOMLContentNode;
type Origin = "header" | "dotted";
type Name = AST.TOMLBare | AST.TOMLQuoted;

/** INVARIANT: no duplicate key. The parser checks that too; here it cannot be expressed. */
export class TomlTable {
  readonly members: Map<string, { readonly key: Range; readonly value: TomlValue }> = new Map();
  range: Range;
  /** Headers may extend every table; a dotted key only tables that dotted keys created. */
  readonly origin: Origin;
  /** A header may name a table once; another header or a dotted key may have created it before. */
  isNamed = false;

  constructor(range: Range, origin: Origin) {
    this.range = range;
    this.origin = origin;
  }
}

/** Collects one body: the whole file, the part below one header, or an inline table. */
export function gather(table: TomlTable, body: readonly (AST.TOMLKeyValue | AST.TOMLTable)[], draft: Draft): void {
  for (const piece of body) {
    if (draft.refused) return;
    const name = piece.key.keys.at(-1);
    const origin = piece.type === "TOMLTable" ? "header" : "dotted";
    const owner = walk(table, piece.key.keys.slice(0, -1), origin, draft);
    if (name === undefined || owner === null) return;
    if (piece.type === "TOMLKeyValue") put(owner, name, piece, draft);
    else open(owner, name, piece, draft);
  }
}

function put(owner: TomlTable, name: Name, entry: AST.TOMLKeyValue, draft: Draft): void {
  if (owner.members.has(nameOf(name))) return void twice(name, draft);
  owner.members.set(nameOf(name), { key: rangeOf(name), value: entry.value });
  owner.range = { start: owner.range.start, end: Math.max(owner.range.end, entry.range[1]) };
}

/** `[a.b]`, or a new element of `[[a.b]]`. */
function open(owner: TomlTable, name: Name, header: AST.TOMLTable, draft: Draft): void {
  const found = owner.members.get(nameOf(name))?.value;
  let table = found instanceof TomlTable ? found : new TomlTable(rangeOf(header), "header");
  if (header.kind === "array") {
    if (found !== undefined && !Array.isArray(found)) return void twice(name, draft);
    table = new TomlTable(rangeOf(header), "header");
    if (found === undefined) owner.members.set(nameOf(name), { key: rangeOf(name), value: [table] });
    else found.push(table);
  } else if (found === undefined) {
    owner.members.set(nameOf(name), { key: rangeOf(name), value: table });
  } else if (found !== table || table.isNamed) {
    return void twice(name, draft);
  }
  table.isNamed = true;
  gather(table, header.body, draft);
}

/** Follows dotted names and creates missing tables; an array of tables stands for its last element. */
function walk(from: TomlTable, names: readonly Name[], origin: Origin, draft: Draft): TomlTable | null {
  let table = from;
  for (const [depth, name] of names.entries()) {
    if (depth >= depthMax)
      return draft.refuse("too_large", rangeOf(name), `tables are nested more than ${depthMax} deep`);
    const found = table.members.get(nameOf(name))?.value;
    const next =
      found === undefined ? new TomlTable(rangeOf(name), origin) : Array.isArray(found) ? found.at(-1) : found;
    if (!(next instanceof TomlTable)) return twice(name, draft);
    if (origin === "dotted" && next.origin === "header") return twice(name, draft);
    if (found === undefined) table.members.set(nameOf(name), { key: rangeOf(name), value: next });
    table = next;
  }
  return table;
}

function nameOf(name: Name): string {
  return name.type === "TOMLBare" ? name.name : name.value;
}

export function rangeOf(node: { readonly range: readonly [number, number] }): Range {
  return { start: node.range[0], end: node.range[1] };
}

function twice(name: Name, draft: Draft): null {
  return draft.refuse(
    "syntax",
    rangeOf(name),
    `the key ${quoteText(nameOf(name))} is repeated here`,
    "keep one of the two",
  );
}
