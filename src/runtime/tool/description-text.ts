// Text that a tool shows to models and people: short enough for a list, and without hidden or misleading characters.
import type { JsonObject } from "../../core/base/json.ts";

/** Of a schema's JSON. */
export const schemaCharactersMax = 16_384;

/** Terminal control codes, direction changes, lone surrogates, and tag characters that only a model would read. */
const HIDDEN =
  /(?![\t\n]|\r\n)\p{Cc}|[\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/u;

/** What is wrong with a shown text; null if it is fine. */
export function textFault(text: string): string | null {
  const [found] = HIDDEN.exec(text) ?? [];
  if (found === undefined) return null;
  const point = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${point} is invisible, or displays text in another order than it is parsed`;
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
