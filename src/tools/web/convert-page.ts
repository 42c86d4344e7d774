// Converts untrusted text for display: a page becomes Markdown or plain text, JSON is indented.
import { jsonDepthShownMax, pageCharactersMax, shownCharactersMax, titleCharactersMax } from "./limits.ts";
import { markdownPage, type Page } from "./markdown.ts";
import { plainPage } from "./plain-text.ts";

export interface PageRequest {
  readonly kind: "html" | "json";
  readonly format: "markdown" | "text";
  readonly url: string;
  readonly text: string;
}

export interface PageText {
  readonly title: string | null;
  readonly text: string;
  readonly more: boolean;
}

export function convertPage({ kind, format, url, text }: PageRequest): PageText {
  const given = text.slice(0, pageCharactersMax);
  const page = kind === "json" ? { title: null, text: indented(given) } : htmlPage(given, format, url);
  const shown = page.text.slice(0, shownCharactersMax);
  return {
    title: page.title === null ? null : page.title.slice(0, titleCharactersMax),
    text: shown,
    more: given.length < text.length || shown.length < page.text.length,
  };
}

function htmlPage(html: string, format: PageRequest["format"], url: string): Page {
  if (format === "text") return plainPage(html);
  try {
    return markdownPage(html, url);
  } catch {
    return plainPage(html);
  }
}

/** Unchanged if it is not JSON, or so deep that most of the output would be indentation. */
function indented(text: string): string {
  let depth = 0;
  for (const character of text) {
    if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth > jsonDepthShownMax) return text;
  }
  try {
    // Numbers beyond JavaScript's precision would be changed.
    return /[0-9]{16}|[eE][+-]?[0-9]{3}/.test(text) ? text : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
