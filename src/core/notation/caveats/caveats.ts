// Caveats: six required fields, each everything or a list. Whatever is missing, added or malformed denies all.

import { type HostEntry, parseHost } from "../../authority/axes/destination.ts";
import { parseRoot, tree } from "../../authority/axes/path.ts";
import { ANY, NOTHING } from "../../authority/axes/scope.ts";
import type { Grant } from "../../authority/grant.ts";
import { literal } from "../../authority/patterns/segment.ts";
import { addressText, parseRange } from "../../base/address.ts";
import { done, type Result } from "../../base/result.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { builtinTools, CHECKED_NAMES, destinationsOf, EVERY_HOST, grantOf, HTTP_VERBS, sequences } from "../grants.ts";
import { cutToCeiling } from "../policy/ceiling.ts";
import type { Reading } from "../reading.ts";
import { isAtOrBelow } from "../record/hoist.ts";
import { entryOf, type TreeNode } from "../tree.ts";
import { entriesOf } from "./caveats-entries.ts";
import { readExec, type Tree } from "./caveats-exec.ts";
import { type Field, readFields } from "./caveats-fields.ts";

export interface CaveatsLink {
  readonly grants: readonly Grant[];
  readonly calls: number | null;
  readonly generations: readonly number[] | null;
}

export interface CaveatsReading {
  /** Null denies everything. */
  readonly link: CaveatsLink | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** A TOML file holds the six fields in a table of their own. */
export function caveatsTable(node: TreeNode): TreeNode | null {
  return node.kind === "map" ? (entryOf(node, "caveats")?.value ?? null) : null;
}

export function readCaveats(node: TreeNode, reading: Reading): CaveatsReading {
  const diagnostics = new Diagnostics();
  const fields = readFields(node, diagnostics);
  if (fields === null) return { link: null, diagnostics: diagnostics.list };
  const read = readTrees(fields.fs_read, reading, diagnostics);
  const write = readTrees(fields.fs_write, reading, diagnostics);
  const grants = [
    ...treeGrants(["fs.read"], read, fields.fs_read),
    ...treeGrants(["fs.write", "fs.delete"], write, fields.fs_write),
    ...readExec(fields.exec, read, reading, diagnostics),
    ...readNet(fields.net, reading, diagnostics),
  ];
  grants.push(builtinTools({ span: node.span, implied: "default" }));
  return {
    link: { grants, calls: fields.max_calls, generations: fields.valid_for_generation },
    diagnostics: diagnostics.list,
  };
}

/** An entry covers itself and what is below; one that is no plain path matches nothing. */
function readTrees(field: Field, reading: Reading, diagnostics: Diagnostics): readonly Tree[] {
  return entriesOf(field, diagnostics, [], (text) => parseRoot(text, reading.pathSettings)).flatMap(
    ({ value: root, span }) =>
      cutToCeiling([tree(root)], reading.ceiling, diagnostics, span).map((pattern) => {
        const isCut = reading.ceiling !== null && !isAtOrBelow(root, reading.ceiling);
        return { root: isCut ? (reading.ceiling as readonly string[]) : root, pattern };
      }),
  );
}

function treeGrants(verbs: readonly string[], trees: readonly Tree[], { span }: Field): Grant[] {
  if (trees.length === 0) return verbs.map((verb) => grantOf(verb, { path: NOTHING }, { span }));
  return verbs.flatMap((verb) =>
    trees.map(({ root, pattern }) => grantOf(verb, { path: sequences([pattern]) }, { span, root })),
  );
}

function readNet(field: Field, reading: Reading, diagnostics: Diagnostics): Grant[] {
  const hosts = entriesOf(field, diagnostics, EVERY_HOST, (text) => exactHost(text, reading)).map(
    (entry) => entry.value,
  );
  // An axis that is there and empty is a grant that covers nothing: the answer is "outside its scope", not "absent".
  const host = destinationsOf(hosts);
  const written = { span: field.span };
  return [
    ...HTTP_VERBS.map((verb) => grantOf(verb, { host, port: ANY }, written)),
    grantOf("net.connect", { host, port: ANY, raw: CHECKED_NAMES }, written),
  ];
}

/** A name stands for itself, a literal address for itself; a star or a range matches nothing in this notation. */
function exactHost(text: string, reading: Reading): Result<HostEntry> {
  const parsed = parseHost(text, reading.toAscii);
  if (!parsed.ok) return parsed;
  if (parsed.value.name !== null) return done({ kind: "name", name: parsed.value.name.segments.map(literal) });
  const range = parseRange(addressText(parsed.value.address));
  return range.ok ? done({ kind: "range", range: range.value }) : range;
}
