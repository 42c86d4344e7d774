// One axis of a scope. What is missing is resolved here, by the catalog, and never later.
import { parseArgvPattern, parseProgram } from "../../authority/axes/argv.ts";
import { parseAgentPattern, parseNamePattern, parseToolPattern } from "../../authority/axes/name.ts";
import { tree } from "../../authority/axes/path.ts";
import { isRootWord, ROOT_WORDS_TEXT, rootWordsWithin } from "../../authority/axes/root-word.ts";
import { ANY, NOTHING, type PortRange, type Scope } from "../../authority/axes/scope.ts";
import { parseUriPattern } from "../../authority/axes/uri.ts";
import type { Axis, ScopeKey, VerbEntry } from "../../authority/catalog.ts";
import { DEEP, literal } from "../../authority/patterns/segment.ts";
import type { Sequence } from "../../authority/patterns/sequence.ts";
import { type Entry, entryOf, type Mapping, type Scalar } from "../tree.ts";
import { readArguments } from "./arguments-reader.ts";
import { readDestinations } from "./destination-reader.ts";
import { readPathEntry } from "./path-entry.ts";
import type { GrantContext } from "./scope-reader.ts";
import { flagOf, itemsOf, readEach, reportRefusal, single, textOf } from "./scope-values.ts";

/** What is at hand while the axes of one grant are read. */
export interface AxisContext extends GrantContext {
  readonly verb: VerbEntry;
  readonly scope: Mapping | null;
  /** The grant's own root, or the one it hoists; null covers nothing. */
  readonly ownRoot: readonly string[] | null;
}

/** Null when something in it was not understood; the diagnostics say what. */
export function readAxis(axis: Axis, context: AxisContext): Scope | null {
  switch (axis.kind) {
    case "path":
      return axis.name === "root" ? readRootAxis(context) : readPathAxis(context);
    case "argv":
      return readArgvAxis(context);
    case "name":
      return readNameAxis(axis, context);
    case "tool":
      return readToolAxis(context);
    case "destination":
      return readHostAxis(axis, context);
    case "port":
      return readPortAxis(context);
    case "word":
      return axis.name === "raw" ? readRawAxis(context) : readModeAxis(context);
    case "arguments":
      return readArguments(context.scope, context);
    default:
      return axis.kind satisfies never;
  }
}

function keyEntry(context: AxisContext, key: ScopeKey): Entry | null {
  return context.scope === null ? null : entryOf(context.scope, key);
}

/** The first axis of an external verb decides whether the grant is empty; any other axis that is missing is any. */
function absent(axis: Axis, context: AxisContext, nothing: Scope): Scope {
  const { verb, diagnostics, span } = context;
  if (verb.family === "internal" || verb.axes[0] !== axis) return ANY;
  const key = axis.keys[0] as ScopeKey;
  const fix = `${verb.verb}{${key}=[${key === "hosts" ? "api.example.com" : "name"}]}`;
  diagnostics.warning("inert", span, `\`${verb.verb}\` covers nothing without \`${key}\``, { fix });
  return nothing;
}

function readPathAxis(context: AxisContext): Scope | null {
  const { ownRoot, diagnostics, reading } = context;
  const paths = keyEntry(context, "paths");
  if (ownRoot === null) return paths === null || readEach(paths, diagnostics, () => NONE) !== null ? NOTHING : null;
  if (paths === null) return sequences([tree(ownRoot)]);
  return sequences(readEach(paths, diagnostics, (text) => readPathEntry(text, ownRoot, reading.pathSettings)));
}

/** Read for its type alone: there is no root its text could be read by. */
const NONE: { readonly ok: true; readonly value: readonly never[] } = { ok: true, value: [] };

function readRootAxis({ ownRoot }: AxisContext): Scope {
  return ownRoot === null ? NOTHING : sequences([tree(ownRoot)]);
}

function readArgvAxis(context: AxisContext): Scope | null {
  const { diagnostics } = context;
  const cmds = keyEntry(context, "cmds");
  const patterns = keyEntry(context, "patterns");
  if (cmds === null && patterns === null) return ANY;
  const programs = cmds === null ? [] : readEach(cmds, diagnostics, (text) => single(parseProgram(text)));
  const commands = patterns === null ? [] : readEach(patterns, diagnostics, (text) => single(parseArgvPattern(text)));
  return programs === null || commands === null ? null : sequences([...programs, ...commands]);
}

function readNameAxis(axis: Axis, context: AxisContext): Scope | null {
  const entries = axis.keys.map((key) => keyEntry(context, key)).filter((entry) => entry !== null);
  if (entries.length === 0) return absent(axis, context, NOTHING);
  const patterns: Sequence[] = [];
  let failed = false;
  for (const entry of entries) {
    const pattern =
      axis.name === "uri" ? parseUriPattern : isAboutAgents(context) ? parseAgentPattern : parseNamePattern;
    const read =
      entry.key === "id"
        ? readId(entry, pattern, context)
        : readEach(entry, context.diagnostics, (text) => single(pattern(text)));
    if (read === null) failed = true;
    else patterns.push(...read);
  }
  if (failed) return null;
  // `**` is every name there is, so the whole union is any.
  const isEvery = patterns.some((pattern) => pattern.length === 1 && pattern[0]?.kind === "deep");
  return isEvery ? ANY : sequences(patterns);
}

/** Ids and paths of `agent.*`, and `agents` of `obs.*`. */
function isAboutAgents({ verb }: AxisContext): boolean {
  return /^(?:agent|obs)\./.test(verb.verb);
}

function readId(
  entry: Entry,
  parse: typeof parseNamePattern,
  { diagnostics }: AxisContext,
): readonly Sequence[] | null {
  const written = textOf(entry, diagnostics);
  if (written === null) return null;
  const pattern = parse(written.text);
  if (pattern.ok) return [pattern.value];
  reportRefusal(pattern, written.span, diagnostics);
  return null;
}

/** `tool.invoke` without `tools` is every built-in tool: tools from elsewhere are never implied. */
function readToolAxis(context: AxisContext): Scope | null {
  const tools = keyEntry(context, "tools");
  if (tools === null) return context.verb.verb === "tool.invoke" ? sequences([BUILTIN_TOOLS]) : ANY;
  return sequences(readEach(tools, context.diagnostics, (text) => single(parseToolPattern(text))));
}

const BUILTIN_TOOLS: Sequence = [literal("builtin"), DEEP];

function readHostAxis(axis: Axis, context: AxisContext): Scope | null {
  const hosts = keyEntry(context, "hosts");
  const opened = axis.keys.includes("private") ? keyEntry(context, "private") : null;
  const scope = readDestinations(
    hosts,
    opened,
    context.reading.toAscii,
    context.diagnostics,
    context.verb.verb === "net.connect",
  );
  return scope === null || hosts !== null ? scope : absent(axis, context, scope);
}

/** A process's own connections need their ports named: they carry whatever protocol the port speaks. */
function readPortAxis(context: AxisContext): Scope | null {
  const { verb, diagnostics, span } = context;
  const entry = keyEntry(context, "ports");
  if (entry === null && verb.verb !== "net.connect") return ANY;
  if (entry === null) {
    diagnostics.warning("inert", span, "`net.connect` covers nothing without `ports`", { fix: "ports: [443]" });
    return { kind: "ports", of: [] };
  }
  const items = itemsOf(entry, diagnostics);
  if (items === null) return null;
  const ranges: PortRange[] = [];
  for (const item of items) {
    const range = portRange(item);
    if (range !== null) ranges.push(range);
    else
      diagnostics.error("bad_value", item.span, "a port is a number from 1 to 65535, a range or `*`", {
        fix: "8000-8100",
      });
  }
  if (ranges.length !== items.length) return null;
  return items.some((item) => item.value === "*") ? ANY : { kind: "ports", of: ranges };
}

function portRange({ value }: Scalar): PortRange | null {
  if (value === "*") return { low: 1, high: 65_535 };
  const match = /^([1-9]\d{0,4})(?:-([1-9]\d{0,4}))?$/.exec(typeof value === "boolean" ? "" : String(value));
  if (match === null) return null;
  const low = Number(match[1]);
  const high = Number(match[2] ?? match[1]);
  return high > 65_535 || low > high ? null : { low, high };
}

function readRawAxis(context: AxisContext): Scope | null {
  const entry = keyEntry(context, "raw");
  const raw = entry === null ? false : flagOf(entry, context.diagnostics, false);
  return raw === null ? null : { kind: "words", of: raw ? ["sni", "raw"] : ["sni"] };
}

function readModeAxis(context: AxisContext): Scope | null {
  const entry = keyEntry(context, "root");
  const written = entry === null ? "rw" : textOf(entry, context.diagnostics)?.text;
  if (written === undefined) return null;
  if (isRootWord(written)) return { kind: "words", of: rootWordsWithin(written) };
  const span = entry?.value.span ?? context.span;
  context.diagnostics.error("bad_value", span, `\`root\` is ${ROOT_WORDS_TEXT}; a folder is written as \`in\``, {
    fix: "root: ro",
  });
  return null;
}

function sequences(patterns: readonly Sequence[]): Scope;
function sequences(patterns: readonly Sequence[] | null): Scope | null;
function sequences(patterns: readonly Sequence[] | null): Scope | null {
  return patterns === null ? null : { kind: "sequences", of: patterns };
}
