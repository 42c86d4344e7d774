// Edits of `mcp.yml` as text: one server is added, removed or switched, and every other character stays as it is.

import type { Json } from "../core/base/json.ts";
import type { Failure } from "../core/base/result.ts";
import { type PinnedPackage, packageText } from "../core/notation/servers/server-package.ts";
import type { Source } from "../core/notation/source.ts";
import { type Entry, entryOf, type Mapping, plainValue, type TreeNode } from "../core/notation/tree.ts";

export type ServerEdit =
  | { readonly kind: "add"; readonly name: string; readonly server: NewServer }
  | { readonly kind: "remove"; readonly name: string }
  | { readonly kind: "switch"; readonly name: string; readonly isEnabled: boolean }
  /** The program of the server becomes one of this package. */
  | {
      readonly kind: "package";
      readonly name: string;
      readonly command: readonly string[];
      readonly package: PinnedPackage;
    };

export interface NewServer {
  readonly endpoint: NewProgram | NewAddress;
  /** Compact specs. */
  readonly requires: readonly string[];
  /** What it may ask for during a call. */
  readonly asks?: readonly string[];
}

export interface NewProgram {
  readonly kind: "program";
  readonly command: readonly string[];
  readonly package?: PinnedPackage;
  readonly runtime: readonly string[];
  readonly environment: readonly (readonly [name: string, value: string | { readonly secret: string }])[];
}

export interface NewAddress {
  readonly kind: "http";
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export type ServerEditResult = { readonly ok: true; readonly text: string } | Failure;

/** `read`: the tree of a text; null where it cannot be read. */
export function editServers(
  source: Source,
  edit: ServerEdit,
  read: (source: Source) => TreeNode | null,
): ServerEditResult {
  const before = read(source);
  if (before === null) return refuse(`${source.name} cannot be parsed: ambit mcp check`);
  const edited = changed(source.text, before, edit);
  if (typeof edited !== "string") return edited;
  const after = read({ ...source, text: edited });
  // INVARIANT: an edit that changed anything but what was asked for is not made.
  return after !== null && isAsAsked(before, after, edit)
    ? { ok: true, text: edited }
    : refuse(`${source.name} has a form that cannot be edited here: change it in an editor`);
}

function changed(text: string, tree: TreeNode, edit: ServerEdit): string | Extract<ServerEditResult, { ok: false }> {
  const servers = serversOf(tree);
  const found = servers?.entries.find(({ key }) => key === edit.name) ?? null;
  if (edit.kind === "add")
    return found === null ? added(text, tree, edit) : refuse(`a server ${edit.name} already exists`);
  if (found === null) return refuse(`there is no server ${edit.name}`);
  if (servers !== null && isFlow(text, servers))
    return refuse("`servers` is written in flow style (braces): change it in an editor");
  if (edit.kind === "switch") return switched(text, found, edit.isEnabled);
  if (edit.kind === "package") return repacked(text, found, edit);
  const start = lineStart(text, found.keySpan.start);
  return text.slice(0, start) + text.slice(lineEnd(text, endOf(text, found)));
}

function added(
  text: string,
  tree: TreeNode,
  { name, server }: Extract<ServerEdit, { kind: "add" }>,
): string | Extract<ServerEditResult, { ok: false }> {
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const top = tree.kind === "map" ? entryOf(tree, "servers") : null;
  if (top === null) {
    if (tree.kind === "map" && isFlow(text, tree))
      return refuse("the file is written in flow style (braces): change it in an editor");
    return `${whole}servers:\n${serverLines(name, server, "  ")}`;
  }
  const { value } = top;
  if (value.kind === "scalar" || (value.kind === "map" && value.entries.length === 0)) {
    const isEmpty = value.kind === "map" || value.value === null;
    if (!isEmpty) return refuse("`servers` is not a map");
    const bare =
      value.span.end > value.span.start
        ? whole.slice(0, value.span.start).trimEnd() + whole.slice(value.span.end)
        : whole;
    const at = lineEnd(bare, top.keySpan.end);
    return `${bare.slice(0, at)}${serverLines(name, server, "  ")}${bare.slice(at)}`;
  }
  if (value.kind !== "map") return refuse("`servers` is not a map");
  const last = value.entries.at(-1);
  const [first] = value.entries;
  if (last === undefined || first === undefined || isFlow(text, value))
    return refuse("`servers` is written in flow style (braces): change it in an editor");
  const indent = " ".repeat(first.keySpan.start - lineStart(text, first.keySpan.start));
  const at = lineEnd(whole, endOf(text, last));
  return `${whole.slice(0, at)}${serverLines(name, server, indent)}${whole.slice(at)}`;
}

function serverLines(name: string, { endpoint, requires, asks = [] }: NewServer, indent: string): string {
  const map = (key: string, entries: readonly (readonly [string, string])[]): readonly string[] =>
    entries.length === 0 ? [] : [`${key}:`, ...entries.map(([one, value]) => `  ${quotedKey(one)}: ${value}`)];
  const specs = requires.length === 0 ? [] : ["requires:", ...requires.map((spec) => `  - ${JSON.stringify(spec)}`)];
  const lines =
    endpoint.kind === "http"
      ? [
          `url: ${JSON.stringify(endpoint.url)}`,
          ...map(
            "headers",
            endpoint.headers.map(([header, value]) => [header, JSON.stringify(value)]),
          ),
          ...specs,
        ]
      : [
          `command: ${list(endpoint.command)}`,
          ...(endpoint.package === undefined ? [] : [`package: ${pinLine(endpoint.package)}`]),
          ...specs,
          ...(endpoint.runtime.length === 0 ? [] : [`runtime: ${list(endpoint.runtime)}`]),
          ...map(
            "env",
            endpoint.environment.map(([variable, value]) => [
              variable,
              typeof value === "string"
                ? JSON.stringify(value)
                : `{ secret: ${JSON.stringify(value.secret)}, reveal: true }`,
            ]),
          ),
        ];
  const all = [...lines, ...(asks.length === 0 ? [] : [`asks: ${list(asks)}`])];
  return [`${indent}${name}:`, ...all.map((line) => `${indent}  ${line}`), ""].join("\n");
}

function list(texts: readonly string[]): string {
  return `[${texts.map((one) => JSON.stringify(one)).join(", ")}]`;
}

function pinLine(pin: PinnedPackage): string {
  const text = `${pin.kind}: ${JSON.stringify(packageText(pin))}, integrity: ${JSON.stringify(pin.integrity)}, lock: ${JSON.stringify(pin.lock)}`;
  return `{ ${text}${pin.hasScripts ? ", scripts: true" : ""} }`;
}

/** Each value is replaced where it stands; a pin that is not there yet follows the command. */
function repacked(
  text: string,
  { value }: Entry,
  { command, package: pin }: Extract<ServerEdit, { kind: "package" }>,
): string | Extract<ServerEditResult, { ok: false }> {
  if (value.kind !== "map") return refuse("the server is not a map");
  const [words, before] = [entryOf(value, "command"), entryOf(value, "package")];
  if (words === null) return refuse("the server has no command");
  const isOneLine = [words, ...(before === null ? [] : [before])].every(
    ({ value: one }) => text[one.span.start] === "[" || text[one.span.start] === "{",
  );
  if (!isOneLine) return refuse("write `command` and `package` in brackets first, each on one line");
  const separator = isFlow(text, value) ? ", " : `\n${indentOf(text, words.keySpan.start)}`;
  const added = before === null ? `${separator}package: ${pinLine(pin)}` : "";
  const edits = [
    { ...words.value.span, by: `${list(command)}${added}` },
    ...(before === null ? [] : [{ ...before.value.span, by: pinLine(pin) }]),
  ];
  return edits
    .toSorted((left, right) => right.start - left.start)
    .reduce((now, { start, end, by }) => now.slice(0, start) + by + now.slice(end), text);
}

/** Spaces up to a key. */
function indentOf(text: string, at: number): string {
  return " ".repeat(at - lineStart(text, at));
}

function quotedKey(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? key : JSON.stringify(key);
}

function switched(
  text: string,
  { value, keySpan }: Entry,
  isEnabled: boolean,
): string | Extract<ServerEditResult, { ok: false }> {
  if (value.kind !== "map") return refuse("the server is not a map");
  const entry = entryOf(value, "enabled");
  if (entry !== null)
    return text.slice(0, entry.value.span.start) + String(isEnabled) + text.slice(entry.value.span.end);
  if (isFlow(text, value))
    return `${text.slice(0, value.span.start + 1)} enabled: ${isEnabled},${text.slice(value.span.start + 1)}`;
  const [first] = value.entries;
  if (first === undefined) return refuse("the server is empty");
  const at = lineStart(text, first.keySpan.start);
  if (at <= keySpan.start) return refuse("the server has a form that cannot be edited here: change it in an editor");
  return `${text.slice(0, at)}${text.slice(at, first.keySpan.start)}enabled: ${isEnabled}\n${text.slice(at)}`;
}

function isAsAsked(before: TreeNode, after: TreeNode, edit: ServerEdit): boolean {
  const [was, is] = [before, after].map(
    (tree) => new Map((serversOf(tree)?.entries ?? []).map(({ key, value }) => [key, plainValue(value)])),
  );
  if (was === undefined || is === undefined) return false;
  const tops = [before, after].map((tree) =>
    tree.kind === "map"
      ? tree.entries.filter(({ key }) => key !== "servers").map(({ key, value }) => [key, plainValue(value)])
      : [],
  );
  if (JSON.stringify(tops[0]) !== JSON.stringify(tops[1])) return false;
  const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => name !== edit.name);
  if (names.some((name) => JSON.stringify(was.get(name)) !== JSON.stringify(is.get(name)))) return false;
  const now = is.get(edit.name);
  if (edit.kind === "remove") return now === undefined;
  if (edit.kind === "add") return now !== undefined;
  if (edit.kind === "package") {
    const kept = (value: Json | undefined): string => {
      const { command: _command, package: _package, ...rest } = (value ?? {}) as { readonly [key: string]: Json };
      return JSON.stringify(rest);
    };
    return now !== undefined && kept(now) === kept(was.get(edit.name));
  }
  const { enabled, ...rest } = (now ?? {}) as { readonly enabled?: unknown };
  const { enabled: _before, ...old } = (was.get(edit.name) ?? {}) as { readonly enabled?: unknown };
  return enabled === edit.isEnabled && JSON.stringify(sortedMembers(rest)) === JSON.stringify(sortedMembers(old));
}

function sortedMembers(value: object): readonly unknown[] {
  return Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
}

function serversOf(tree: TreeNode): Mapping | null {
  const value = tree.kind === "map" ? entryOf(tree, "servers")?.value : undefined;
  return value?.kind === "map" ? value : null;
}

function isFlow(text: string, { span }: Mapping): boolean {
  return text[span.start] === "{";
}

/** Where the text of an entry ends, without the comments and blank lines behind it. */
function endOf(text: string, { value, keySpan }: Entry): number {
  const end = nodeEnd(text, value);
  return Math.max(end, keySpan.end);
}

function nodeEnd(text: string, node: TreeNode): number {
  if (node.kind === "scalar") return node.span.end;
  if (text[node.span.start] === "{" || text[node.span.start] === "[") return node.span.end;
  const last = node.kind === "list" ? node.items.at(-1) : node.entries.at(-1)?.value;
  return last === undefined ? node.span.end : nodeEnd(text, last);
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

/** Behind the end of the line. A block text ends at the start of the next line. */
function lineEnd(text: string, at: number): number {
  if (at > 0 && text[at - 1] === "\n") return at;
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function refuse(message: string): Failure {
  return { ok: false, message };
}
