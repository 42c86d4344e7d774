// The links in a record's body: `[[wiki links]]` and Markdown links to files. Text in code is not a link.

export interface WrittenLink {
  /** wiki: `[[x]]`; path: a Markdown link to a `.md` file; field: an entry of `links` in the frontmatter. */
  readonly kind: "wiki" | "path" | "field";
  /** As written, without label and heading. */
  readonly target: string;
}

/** Further links are ignored, with a diagnostic. */
export const linksPerRecordMax = 2000;

export interface ScannedLinks {
  readonly links: readonly WrittenLink[];
  readonly cut: boolean;
}

/** Every quantifier is bounded and unambiguous: no body makes this slow. */
const WIKI = /\[\[([^[\]\n]{1,512})\]\]/g;
const INLINE = /\]\([ \t]{0,8}(?:<([^<>\n]{1,1024})>|([^\s()<>]{1,1024}))/g;
const DEFINITION = /^ {0,3}\[[^\]\n]{1,256}\]:[ \t]{0,8}<?([^\s<>]{1,1024})/;

export function linksIn(body: string): ScannedLinks {
  const found = new Map<string, WrittenLink>();
  for (const line of proseLines(body)) {
    for (const match of line.matchAll(WIKI)) add(found, wikiLink(match[1] as string));
    for (const match of line.matchAll(INLINE)) add(found, pathLink(match[1] ?? (match[2] as string)));
    const definition = DEFINITION.exec(line);
    if (definition !== null) add(found, pathLink(definition[1] as string));
    if (found.size > linksPerRecordMax) break;
  }
  return { links: [...found.values()].slice(0, linksPerRecordMax), cut: found.size > linksPerRecordMax };
}

function add(found: Map<string, WrittenLink>, link: WrittenLink | null): void {
  if (link !== null) found.set(`${link.kind} ${link.target}`, link);
}

/** `[[target#heading|label]]`: only the target matters. */
function wikiLink(text: string): WrittenLink | null {
  const target = (/^[^|#^]*/.exec(text)?.[0] ?? "").trim().replace(/\.md$/, "");
  return target === "" ? null : { kind: "wiki", target };
}

/** Only relative files: an address with a scheme or a host is not a record. */
function pathLink(text: string): WrittenLink | null {
  const written = /^[^#?]*/.exec(text)?.[0] ?? "";
  if (!written.endsWith(".md") || written.startsWith("/") || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(written)) return null;
  try {
    return { kind: "path", target: decodeURIComponent(written) };
  } catch {
    return { kind: "path", target: written };
  }
}

/** The lines outside fenced code, without their inline code. */
function* proseLines(body: string): Generator<string> {
  let fence: string | null = null;
  for (const line of body.split(/\r\n?|\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence !== null) {
      const closes = mark !== null && mark[1]?.startsWith(fence) === true && /^[ \t]*$/.test(mark[2] as string);
      if (closes) fence = null;
    } else if (mark !== null && !(mark[1]?.startsWith("`") === true && mark[2]?.includes("`") === true)) {
      fence = mark[1] as string;
    } else yield withoutCode(line);
  }
}

/** A run of backticks opens code that the next run of the same length closes; without one it is text. */
function withoutCode(line: string): string {
  if (!line.includes("`")) return line;
  const runs = [...line.matchAll(/`+/g)].map(({ 0: text, index }) => ({ at: index, length: text.length }));
  const last = new Map(runs.map(({ length }, number) => [length, number]));
  let prose = "";
  let from = 0;
  for (let number = 0; number < runs.length; number++) {
    const { at, length } = runs[number] as (typeof runs)[number];
    if ((last.get(length) as number) <= number) continue;
    let close = number + 1;
    while (runs[close]?.length !== length) close++;
    prose += `${line.slice(from, at)} `;
    from = (runs[close] as (typeof runs)[number]).at + length;
    number = close;
  }
  return prose + line.slice(from);
}
