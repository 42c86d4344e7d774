// What a tool tells models and people about itself: short enough to be shown among others, and read as it is written.
import type { JsonObject } from "../../core/base/json.ts";

/** Of the JSON of a schema. */
export const schemaCharactersMax = 16_384;

/** Orders to a terminal, changes of direction, halves of characters, and tags that only a model would read. */
const HIDDEN =
  /(?![\t\n]|\r\n)\p{Cc}|[\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/u;

/** What is wrong with a text that is shown; null where nothing is. */
export function textFault(text: string): string | null {
  const [found] = HIDDEN.exec(text) ?? [];
  if (found === undefined) return null;
  const point = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${point} does not show, or shows text in another order than it is read`;
}

/** The same for a schema, its names and texts. */
export function schemaFault(schema: JsonObject): string | null {
  let fault: string | null = null;
  const text = JSON.stringify(schema, (key, value: unknown) => {
    fault ??= textFault(key) ?? (typeof value === "string" ? textFault(value) : null);
    return value;
  });
  return text.length > schemaCharactersMax ? `a schema is at most ${schemaCharactersMax} characters of JSON` : fault;
}
