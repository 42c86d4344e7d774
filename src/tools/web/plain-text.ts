// The text of a page without building a tree: one pass, linear for any input.

/** Elements whose content is not text for a reader. */
const SILENT: ReadonlySet<string> = new Set([
  ...["script", "style", "noscript", "template", "iframe", "object", "svg", "math", "title", "select", "textarea"],
]);

const INLINE: ReadonlySet<string> = new Set([
  ...["a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark"],
  ...["q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "del"],
]);

const CELLS: ReadonlySet<string> = new Set(["td", "th"]);

export interface PlainPage {
  readonly title: string | null;
  readonly text: string;
}

export function plainPage(html: string): PlainPage {
  const title = /<title(?:\s[^>]{0,500})?>([^<]{0,2000})</i.exec(html.slice(0, 262_144))?.[1];
  return { title: title === undefined ? null : blanks(entities(title)).trim(), text: plainText(html) };
}

export function plainText(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    const end = open < 0 ? html.length : open;
    if (end > at) pieces.push(blanks(entities(html.slice(at, end))));
    if (open < 0) break;
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    const name = /^<\/?([a-z][a-z0-9-]{0,40})/i.exec(html.slice(open, open + 48))?.[1]?.toLowerCase();
    if (name === undefined && !/^<[/!?]/.test(html.slice(open, open + 2))) {
      pieces.push("<");
      at = open + 1;
      continue;
    }
    const close = tagEnd(html, open + 1);
    at = close;
    if (name === undefined) continue;
    if (html[open + 1] !== "/" && SILENT.has(name)) at = silentEnd(html, name, close);
    pieces.push(CELLS.has(name) ? " " : INLINE.has(name) ? "" : "\n");
  }
  return tidied(pieces.join(""));
}

/** The offset after the next `>` that is not in quotes. The length of quotes is limited. */
function tagEnd(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const character = html[at] as string;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return at + 1;
    else if ((character === '"' || character === "'") && html[at - 1] === "=") quote = character;
  }
  return html.length;
}

/** Without an end tag it extends to the end of the page; then it is not searched again. */
function silentEnd(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  end.lastIndex = from;
  const found = end.exec(html);
  return found === null ? html.length : tagEnd(html, found.index + 1);
}

function after(html: string, what: string, from: number): number {
  const found = html.indexOf(what, from);
  return found < 0 ? html.length : found + what.length;
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®", trade: "™", deg: "°" },
  ...{ mdash: "—", ndash: "–", hellip: "…", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", bull: "•", middot: "·" },
  ...{ times: "×", euro: "€", pound: "£", larr: "←", rarr: "→", laquo: "«", raquo: "»", sect: "§", para: "¶" },
};

function entities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : whole;
    const point = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    const isCharacter = point > 0 && point <= 0x10_ffff && !(point >= 0xd800 && point < 0xe000);
    return isCharacter ? String.fromCodePoint(point) : "\ufffd";
  });
}

function blanks(text: string): string {
  return text.replace(/\s+/g, " ");
}

function tidied(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/ {2,}/g, " ").trim());
  const kept = lines.filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "");
  return kept.join("\n").trim();
}
