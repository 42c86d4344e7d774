// Where in the arguments of a call: `a.b`, with a key that holds a dot in quotes: `"a.b".c`.

import { isPlainText } from "../../authority/patterns/reserved.ts";
import { patternCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";

const placeKeysMax = 16;

/** Keys from the outside in; printed by `placeText` of the authority. */
export function parsePlace(text: string): Result<readonly string[]> {
  if (text.length > patternCharactersMax) return refuse("too_long", "the name of the argument is too long");
  const keys: string[] = [];
  const step = /("(?:[^"\\]|\\.)*")|([^."]+)/sy;
  for (let at = 0; ; at = step.lastIndex + 1) {
    step.lastIndex = at;
    const match = step.exec(text);
    const key = match === null ? null : match[1] === undefined ? (match[2] as string) : unquote(match[1]);
    if (key === null || !isPlainText(key))
      return refuse("bad_value", `${JSON.stringify(text)} names no argument`, '"a.b".c');
    keys.push(key);
    if (keys.length > placeKeysMax)
      return refuse("too_long", `the argument is nested deeper than ${placeKeysMax} keys`);
    if (step.lastIndex === text.length) return done(keys);
    if (text[step.lastIndex] !== ".")
      return refuse("bad_value", `${JSON.stringify(text)} names no argument`, '"a.b".c');
  }
}

/** A JSON string's value, or null. */
export function unquote(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
