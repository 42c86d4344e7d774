// Converts the main content of a page to Markdown. Untrusted input: only called in a separate process that can be
// killed.
import { Readability } from "@mozilla/readability";
import Turndown from "turndown";
import { pageElementsMax } from "./limits.ts";
import { isMonstrous, type PageDocument, type PageElement, type PageNode, pageTree, preparePage } from "./page-tree.ts";
import { plainPage } from "./plain-text.ts";

export interface Page {
  readonly title: string | null;
  readonly text: string;
}

/** Less than this is not the main content of a longer page. */
const contentCharactersMin = 200;

export function markdownPage(html: string, url: string): Page {
  if (isMonstrous(html)) return plainPage(html);
  const document = pageTree(html);
  preparePage(document, url);
  const article = articleOf(document);
  const { body } = document;
  const bodyText = (body?.textContent ?? "").trim();
  const isEnough = article !== null && article.length >= Math.min(contentCharactersMin, bodyText.length / 2);
  const root = isEnough ? article.content : body;
  const title = article?.title ?? (document.title.trim() === "" ? null : document.title.trim());
  return { title, text: root === null ? "" : markdownOf(root) };
}

interface Article {
  readonly title: string | null;
  readonly content: PageNode;
  readonly length: number;
}

function articleOf(document: PageDocument): Article | null {
  try {
    // It modifies its input.
    const copy = document.cloneNode(true) as unknown as ConstructorParameters<typeof Readability>[0];
    const found = new Readability<PageNode>(copy, {
      maxElemsToParse: pageElementsMax,
      serializer: (node) => node as unknown as PageNode,
    }).parse();
    if (found?.content === undefined || found.content === null) return null;
    const title = (found.title ?? "").trim();
    return { title: title === "" ? null : title, content: found.content, length: (found.textContent ?? "").length };
  } catch {
    return null;
  }
}

function markdownOf(root: PageNode): string {
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", hr: "---" });
  turndown.addRule("cell", {
    filter: ["th", "td"],
    replacement: (content) =>
      ` ${content
        .trim()
        .replace(/\s*\n\s*/g, " ")
        .replaceAll("|", "\\|")} |`,
  });
  turndown.addRule("row", {
    filter: "tr",
    replacement: (content, node) => `\n|${content}${isHead(node) ? `\n|${" --- |".repeat(cells(node))}` : ""}`,
  });
  turndown.addRule("table", { filter: "table", replacement: (content) => `\n\n${content.trim()}\n\n` });
  turndown.addRule("section", {
    filter: ["thead", "tbody", "tfoot"],
    replacement: (content) => content,
  });
  return turndown
    .turndown(root)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The first row of a table is its header: Markdown requires one. */
function isHead(row: PageNode): boolean {
  const around = row.parentNode;
  if (around === null || firstElement(around) !== row) return false;
  return around.nodeName === "THEAD" || (around.parentNode !== null && firstElement(around.parentNode) === around)
    ? true
    : around.nodeName === "TABLE";
}

function firstElement(node: PageNode): PageElement | null {
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    if (child.nodeType === 1) return child as PageElement;
  return null;
}

function cells(row: PageNode): number {
  let count = 0;
  for (let child = row.firstChild; child !== null; child = child.nextSibling)
    if (child.nodeName === "TH" || child.nodeName === "TD") count++;
  return count;
}
