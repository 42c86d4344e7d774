// One line of specs, as it stands in a drawer or a variable: split at spaces and commas outside braces and quotes.
import type { Span } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import type { Text } from "../scope/scope-values.ts";
import { PLAIN_PLACES, type Places, placesWithin, spanWithin } from "./compact-places.ts";

const lineCharactersMax = 1_048_576;

/** One spec of a line, with where its characters stand. */
export interface PlacedText extends Text {
  readonly places: Places;
}

/** Null for a line too long to be one. Unbalanced brackets do not end a spec: it is refused when it is read. */
export function splitSpecs(
  line: string,
  span: Span,
  diagnostics: Diagnostics,
  places: Places = PLAIN_PLACES,
): readonly PlacedText[] | null {
  if (line.length > lineCharactersMax) {
    diagnostics.error("too_large", span, `a line of capabilities is at most ${lineCharactersMax} characters long`);
    return null;
  }
  // INVARIANT: two specs never have one span, since grants are known by theirs.
  const known = places.kind === "unknown" ? PLAIN_PLACES : places;
  const specs: PlacedText[] = [];
  let start = -1;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at <= line.length; at++) {
    const character = line[at];
    const isBreak = character === undefined || (depth === 0 && !isQuoted && /[\s,]/.test(character));
    if (isBreak && start >= 0) {
      const text = line.slice(start, at);
      specs.push({ text, span: spanWithin(span, known, start, at), places: placesWithin(known, start, at) });
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
