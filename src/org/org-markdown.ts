// An org file in Markdown, as the tree that the YAML form has: one reader checks both.
import type { Span } from "../core/authority/grant.ts";
import { idOfRole } from "../core/base/agent-id.ts";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import type { Range, Source } from "../core/notation/source.ts";
import type { Entry, Mapping, TreeNode } from "../core/notation/tree.ts";
import { foldName, ORG_KEYS, type OrgScope, readOrgLine, withoutBlanksBehind } from "./org-line.ts";

/** A reader of JSON with positions. */
export type ValueReader = (
  source: Source,
  range: Range,
) => { readonly tree: TreeNode | null; readonly diagnostics: readonly Diagnostic[] };

export interface OrgTree {
  /** Null only where the text has no form at all. */
  readonly tree: Mapping;
  readonly diagnostics: readonly Diagnostic[];
}

export function readOrgMarkdown(source: Source, readValue: ValueReader): OrgTree {
  return new MarkdownReader(source, readValue).read();
}

/** A part of the file under one heading: its entries, and its prose. */
interface Part {
  readonly scope: OrgScope | null;
  readonly heading: { readonly text: string; readonly span: Span } | null;
  readonly entries: Entry[];
  readonly prose: Range[];
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;

/** Null for a line that is no heading. Linear: an untrusted project writes these lines. */
function headingOf(line: string): { readonly level: number; readonly text: string } | null {
  const mark = HEADING.exec(line);
  if (mark === null) return null;
  const text = withoutBlanksBehind(line.slice(mark[0].length));
  let end = text.length;
  while (end > 0 && text[end - 1] === "#") end--;
  const isClosed = end === 0 || text[end - 1] === " " || text[end - 1] === "\t";
  return { level: mark[1]?.length ?? 0, text: isClosed ? withoutBlanksBehind(text.slice(0, end)) : text };
}

class MarkdownReader {
  readonly #source: Source;
  readonly #readValue: ValueReader;
  readonly #diagnostics = new Diagnostics();
  readonly #org: Part = { scope: "org", heading: null, entries: [], prose: [] };
  readonly #agents: Part[] = [];
  readonly #triggers: Part[] = [];
  readonly #notes: Part[] = [];
  #mission: Part | null = null;
  #title: Entry | null = null;

  constructor(source: Source, readValue: ValueReader) {
    this.#source = source;
    this.#readValue = readValue;
  }

  read(): OrgTree {
    let part: Part = this.#org;
    let items: Part[] | null = null;
    let fence: string | null = null;
    for (const range of linesOf(this.#source.text)) {
      const line = this.#source.text.slice(range.start, range.end);
      const mark = FENCE.exec(line)?.[1] ?? null;
      const isFenced = fence !== null;
      if (fence === null) fence = mark;
      else if (mark?.startsWith(fence) === true && line.trim() === mark) fence = null;
      const heading = isFenced || mark !== null ? null : headingOf(line);
      const level = heading?.level ?? 0;
      if (heading === null || level > 3 || (level === 3 && items === null) || (level === 1 && part === this.#mission)) {
        this.#line(part, line, range, isFenced || mark !== null);
        continue;
      }
      const { text } = heading;
      const start = range.start + line.indexOf(text, line.indexOf("#") + level);
      const span = this.#span({ start, end: start + text.length });
      if (level === 1) {
        if (this.#title !== null) this.#diagnostics.error("bad_value", span, "an org file can have only one title");
        else this.#title = { key: "name", keySpan: span, value: { kind: "scalar", value: text, span } };
        [part, items] = [this.#org, null];
      } else if (level === 2) [part, items] = this.#section(text, span);
      else {
        const scope = items === this.#agents ? "agent" : "trigger";
        part = { scope, heading: { text, span }, entries: [], prose: [] };
        items?.push(part);
      }
    }
    return { tree: this.#tree(), diagnostics: this.#diagnostics.list };
  }

  #section(text: string, span: Span): [Part, Part[] | null] {
    const name = foldName(text);
    const part: Part = { scope: null, heading: { text, span }, entries: [], prose: [] };
    if (name === "agents") return [part, this.#agents];
    if (name === "triggers") return [part, this.#triggers];
    if (name !== "mission") this.#notes.push(part);
    else if (this.#mission === null) this.#mission = part;
    else this.#diagnostics.error("bad_value", span, "an org file can have only one mission");
    return [part, null];
  }

  #line(part: Part, line: string, range: Range, isFenced: boolean): void {
    const found = part.scope === null || isFenced ? null : readOrgLine(line, part.scope);
    if (found === null || found.kind === "prose") {
      part.prose.push(range);
      return;
    }
    const at = (inner: Range): Range => ({ start: range.start + inner.start, end: range.start + inner.end });
    const keySpan = this.#span(at(found.keyRange));
    if (found.kind === "doubtful") {
      const isHere = part.scope !== null && ORG_KEYS[part.scope].includes(found.meant);
      const instead = isHere ? "" : "; move it to the heading it belongs to, or put another word before the colon";
      const message = `this line is read as prose, and looks like \`${found.meant}\`${instead}`;
      const value = withoutBlanksBehind(line.slice(line.indexOf(":") + 1)).trimStart();
      this.#diagnostics.error("unknown_key", keySpan, message, { fix: isHere ? `- ${found.meant}: ${value}` : null });
      return;
    }
    if (part.entries.some(({ key }) => key === found.key)) {
      this.#diagnostics.error("bad_value", keySpan, `\`${found.key}\` is written twice`);
      return;
    }
    part.entries.push({ key: found.key, keySpan, value: this.#value(at(found.value)) });
  }

  /** JSON where it is JSON; what begins as a map or a list and is none is a mistake, and not text. */
  #value(range: Range): TreeNode {
    const text = this.#source.text.slice(range.start, range.end);
    const span = this.#span(range);
    const plain: TreeNode = { kind: "scalar", value: text, span };
    if (!/^(?:[{["-]|\d|true$|false$|null$)/.test(text)) return plain;
    const { tree, diagnostics } = this.#readValue(this.#source, range);
    if (tree !== null) return tree;
    const isMap = text.startsWith("{");
    if (!isMap && !text.startsWith("[")) return plain;
    this.#diagnostics.list.push(...diagnostics);
    // INVARIANT: it leaves an error, or an empty table would take its place.
    if (!diagnostics.some(({ severity }) => severity === "error"))
      this.#diagnostics.error("syntax", span, "this is not JSON");
    // Its error is reported: that it is no map either would be a second report of the same.
    return isMap ? this.#map(span, []) : { kind: "list", items: [], span };
  }

  #tree(): Mapping {
    const org = this.#org.entries;
    const isNamed = org.some(({ key }) => key === "name");
    const description = org.some(({ key }) => key === "description") ? null : this.#proseOf(this.#org, "description");
    const mission = this.#mission === null ? null : this.#proseOf(this.#mission, "mission");
    const whole = this.#span({ start: 0, end: this.#source.text.length });
    return this.#map(whole, [
      ...(this.#title === null || isNamed ? [] : [this.#title]),
      ...(description === null ? [] : [description]),
      ...org,
      ...(mission === null ? [] : [mission]),
      ...this.#list("agents", this.#agents, (part) => this.#agent(part)),
      ...this.#list("triggers", this.#triggers, (part) => this.#item(part, part.heading?.text ?? "", part.entries)),
      ...this.#list("notes", this.#notes, (part) => {
        const entry = this.#proseOf(part, part.heading?.text ?? "");
        const keySpan = part.heading?.span ?? whole;
        return entry ?? { key: part.heading?.text ?? "", keySpan, value: scalar("", keySpan) };
      }),
    ]);
  }

  #list(key: string, parts: readonly Part[], read: (part: Part) => Entry): readonly Entry[] {
    const [first] = parts;
    if (first?.heading == null) return [];
    const entries: Entry[] = [];
    for (const part of parts) {
      const entry = read(part);
      if (entries.some((one) => one.key === entry.key))
        this.#diagnostics.error("bad_value", entry.keySpan, `${quoteText(entry.key)} is repeated`);
      else entries.push(entry);
    }
    return [{ key, keySpan: first.heading.span, value: this.#map(first.heading.span, entries) }];
  }

  #agent(part: Part): Entry {
    const { text, span } = part.heading as NonNullable<Part["heading"]>;
    const id = part.entries.find(({ key }) => key === "id")?.value;
    const written = id?.kind === "scalar" && typeof id.value === "string" ? id.value : null;
    const role: Entry = { key: "role", keySpan: span, value: scalar(text, span) };
    const entries = part.entries.filter(({ key }) => key !== "id");
    if (id !== undefined && written === null) this.#diagnostics.error("wrong_type", id.span, "`id` must be text");
    return this.#item(part, written ?? idOfRole(text), [role, ...entries]);
  }

  #item(part: Part, key: string, entries: readonly Entry[]): Entry {
    const { span } = part.heading as NonNullable<Part["heading"]>;
    const prompt = this.#proseOf(part, "prompt");
    return { key, keySpan: span, value: this.#map(span, [...entries, ...(prompt === null ? [] : [prompt])]) };
  }

  /** The prose of a part without the blank lines around it; null where there is none. */
  #proseOf({ prose, heading }: Part, key: string): Entry | null {
    const lines = prose.map(({ start, end }) => this.#source.text.slice(start, end));
    const first = lines.findIndex((line) => line.trim() !== "");
    const last = lines.findLastIndex((line) => line.trim() !== "");
    const [from, to] = [prose[first], prose[last]];
    if (from === undefined || to === undefined) return null;
    const span = this.#span({ start: from.start, end: to.end });
    const text = lines.slice(first, last + 1).join("\n");
    return { key, keySpan: heading?.span ?? span, value: scalar(text, span) };
  }

  #map(span: Span, entries: readonly Entry[]): Mapping {
    return { kind: "map", entries, span };
  }

  #span({ start, end }: Range): Span {
    return { source: this.#source.name, start, end };
  }
}

function scalar(value: string, span: Span): TreeNode {
  return { kind: "scalar", value, span };
}

function* linesOf(text: string): Generator<Range> {
  const breaks = /\r\n?|\n/g;
  let start = text.startsWith("\uFEFF") ? 1 : 0;
  for (let found = breaks.exec(text); found !== null; found = breaks.exec(text)) {
    yield { start, end: found.index };
    start = breaks.lastIndex;
  }
  if (start < text.length) yield { start, end: text.length };
}
