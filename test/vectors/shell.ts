// bridle-safe-subset-shell: the parser's verdict on a script, the class of a refusal, the tree of an accepted one.
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { parseScript } from "../../src/tools/shell/language/parse.ts";
import {
  hasVariable,
  isPattern,
  literalText,
  type Part,
  type Redirection,
  type Word,
} from "../../src/tools/shell/language/script.ts";
import type { ParseResult } from "../../src/tools/shell/language/script-reader.ts";
import { patternText } from "../../src/tools/shell/names/file-names.ts";
import type { Family } from "./outcome.ts";
import { mapAt, type Row, textAt } from "./row.ts";

export const subsetShell: Family = {
  answers: ["expect"],
  run: (row) => {
    const expected = answerIn(row);
    const got = shellAnswer(parseScript(textAt(row, "input")));
    return {
      kind: "compared",
      expected,
      got,
      wider: expected["verdict"] !== "accept" && got["verdict"] === "accept",
    };
  },
};

/** `construct` explains in words. */
function answerIn(row: Row): JsonObject {
  const { construct: _, ...answer } = mapAt(row, "expect");
  return answer;
}

/** Our tree in the file's notation. */
export function shellAnswer(parsed: ParseResult): JsonObject {
  if (!parsed.ok) return { verdict: "refuse", class: parsed.class };
  const script = parsed.script.map(({ after, stages }) => ({
    sep: after,
    stages: stages.map(({ words, redirections }) => ({
      argv: words.map(wordJson),
      redirects: redirections.map(redirectionJson),
    })),
  }));
  return { verdict: "accept", script };
}

function wordJson(word: Word): Json {
  const literal = literalText(word);
  if (literal !== null) return { lit: literal };
  if (!hasVariable(word)) return { glob: patternText(word) };
  return isPattern(word) ? { varglob: partsJson(word.parts) } : { word: partsJson(word.parts) };
}

/** Adjacent texts are one text there, quoted or not. */
function partsJson(parts: readonly Part[]): Json {
  const out: ({ lit: string } | { var: string })[] = [];
  for (const part of parts) {
    const last = out[out.length - 1];
    if (part.kind === "variable") out.push({ var: part.name });
    else if (last !== undefined && "lit" in last) last.lit += part.text;
    else if (part.text !== "") out.push({ lit: part.text });
  }
  return out;
}

function redirectionJson(redirection: Redirection): Json {
  switch (redirection.kind) {
    case "read":
      return { fd: 0, path: partsJson(redirection.target.parts) };
    case "write":
      return { fd: redirection.stream, path: partsJson(redirection.target.parts), append: redirection.append };
    case "join":
      return { dup: "2>&1" };
    default:
      return redirection satisfies never;
  }
}
