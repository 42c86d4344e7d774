// One line of specs, as it stands in a drawer or a variable: split at spaces and commas outside braces and quotes.
import type { Span } from "../authority/grant.ts";
import type { Diagnostics } from "./diagnostic.ts";
import type { Text } from "./scope-values.ts";

const lineCharactersMax = 1_048_576;

/** Null for a line too long to be one. Unbalanced brackets do not end a spec: it is refused when it is read. */
export function splitSpecs(line: string, span: Span, diagnostics: Diagnostics): readonly Text[] | null {
  if (line.length > lineCharactersMax) {
    diagnostics.error("too_large", span, `a line of capabilities is at most ${lineCharactersMax} characters long`);
    return null;
  }
  const specs: Text[] = [];
  let start = -1;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at <= line.length; at++) {
    const character = line[at];
    const isBreak = character === undefined || (depth === 0 && !isQuoted && /[\s,]/.test(character));
    if (isBreak && start >= 0) {
      const inner = { source: span.source, start: span.start + start, end: Math.min(span.start + at, span.end) };
      specs.push({ text: line.slice(start, at), span: { ...inner, start: Math.min(inner.start, span.end) } });
      start = -1;
    } else if (!isBreak && start < 0) start = at;
    // The character behind a backslash is taken with it, unless the line ends there.
    if (character === "\\" && isQuoted && at + 1 < line.length) at++;
    else if (character === '"') isQuoted = !isQuoted && depth > 0;
    else if (!isQuoted && (character === "{" || character === "[")) depth++;
    else if (!isQuoted && (character === "}" || character === "]")) depth = Math.max(0, depth - 1);
  }
  return specs;
}
