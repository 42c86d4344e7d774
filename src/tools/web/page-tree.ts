// A page as a tree, with the members used here. Scripts never run: there is no engine for them here.
import { parseHTML } from "linkedom";
import { pageDepthMax, pageElementsMax, pageMarksMax } from "./limits.ts";

export interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
  readonly parentNode: PageNode | null;
}

export interface PageElement extends PageNode {
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}

export interface PageDocument {
  readonly body: PageElement | null;
  readonly title: string;
  querySelectorAll(selector: string): Iterable<PageElement>;
  cloneNode(deep: boolean): PageDocument;
}

/** Void elements have no end tag, so they contain nothing. */
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|td|th|tr|dt|dd|option)$/i;

/** Deeper or larger than any real page: walking its tree would take too long. One scan, before there is a tree. */
export function isMonstrous(html: string): boolean {
  if (marks(html, "<") > pageMarksMax || marks(html, "&") > pageMarksMax) return true;
  let depth = 0;
  let elements = 0;
  const tags = /<(\/?)([a-z][a-z0-9-]*)/gi;
  for (let found = tags.exec(html); found !== null; found = tags.exec(html)) {
    if (++elements > pageElementsMax * 2) return true;
    if (VOID.test(found[2] as string)) continue;
    depth = Math.max(0, depth + (found[1] === "/" ? -1 : 1));
    if (depth > pageDepthMax) return true;
  }
  return false;
}

function marks(html: string, mark: string): number {
  let count = 0;
  for (let at = html.indexOf(mark); at >= 0 && count <= pageMarksMax; at = html.indexOf(mark, at + 1)) count++;
  return count;
}

export function pageTree(html: string): PageDocument {
  const isWhole = /<html[\s>]/i.test(html.slice(0, 65_536));
  const whole = isWhole ? html : `<!doctype html><html><head></head><body>${html}</body></html>`;
  return (parseHTML(whole) as unknown as { readonly document: PageDocument }).document;
}

const NOT_SHOWN = "script, style, noscript, template, iframe, object, embed, svg, math, canvas, link, meta[http-equiv]";

/** Before content is selected: addresses made absolute, and everything that is not for readers removed. */
export function preparePage(document: PageDocument, url: string): void {
  const base = baseOf(document, url);
  for (const element of [...document.querySelectorAll(NOT_SHOWN)]) element.remove();
  for (const element of [...document.querySelectorAll("a[href]")]) whole(element, "href", base);
  for (const element of [...document.querySelectorAll("img")]) {
    element.removeAttribute("srcset");
    whole(element, "src", base);
    if (element.getAttribute("src") === null) element.remove();
  }
}

function baseOf(document: PageDocument, url: string): string {
  for (const element of document.querySelectorAll("base[href]")) {
    const base = absolute(element.getAttribute("href") ?? "", url);
    if (base !== null && /^https?:/i.test(base)) return base;
  }
  return url;
}

/** An address that is neither a page nor a mail address is removed. */
function whole(element: PageElement, name: string, base: string): void {
  const address = absolute(element.getAttribute(name) ?? "", base);
  if (address === null || !/^(?:https?|mailto):/i.test(address)) element.removeAttribute(name);
  else element.setAttribute(name, address);
}

const linkCharactersMax = 2048;

function absolute(address: string, base: string): string | null {
  try {
    const { href } = new URL(address.trim(), base);
    return href.length > linkCharactersMax ? null : href;
  } catch {
    return null;
  }
}
