// One pass over a TOML text before its parser, which recurses and spreads strings over the stack: bounds depth and
// size.
import type { Draft } from "./draft.ts";
import { depthMax, nodesMax } from "./read.ts";

/** Brackets, commas, dots and equals signs: every value has at least one, few have more than two. */
const marksMax = nodesMax * 2;
const stringCharactersMax = 65_536;

/**
 * False, with a refusal, for a text beyond a limit. The text need not be valid TOML: where the two disagree about what
 * a string is, the parser refuses it, or its overflow is caught.
 */
export function isTomlBounded(text: string, draft: Draft): boolean {
  let depth = 0;
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const range = { start: at, end: at + 1 };
    switch (text[at]) {
      case "#":
        at = lineEnd(text, at);
        continue;
      case '"':
      case "'": {
        const end = stringEnd(text, at);
        if (end - at > stringCharactersMax)
          draft.refuse("too_large", { start: at, end }, `the string is longer than ${stringCharactersMax} characters`);
        if (draft.refused) return false;
        at = end - 1;
        continue;
      }
      case "[":
      case "{":
        depth++;
        break;
      case "]":
      case "}":
        depth = Math.max(0, depth - 1);
        continue;
      case ",":
      case ".":
      case "=":
        break;
      default:
        continue;
    }
    if (depth > depthMax) draft.refuse("too_large", range, `lists and maps are nested more than ${depthMax} deep`);
    else if (++marks > marksMax) draft.refuse("too_large", range, `the text has more than ${marksMax} tokens`);
    if (draft.refused) return false;
  }
  return true;
}

/**
 * The offset after the closing quote of the string that begins here; a single-line string ends with its line at the
 * latest.
 */
function stringEnd(text: string, start: number): number {
  const quote = text.charAt(start);
  const isLong = text.startsWith(quote.repeat(3), start);
  const closing = isLong ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at++) {
    if (!isLong && text[at] === "\n") return at;
    if (quote === '"' && text[at] === "\\") at++;
    else if (text.startsWith(closing, at)) return at + closing.length;
  }
  return text.length;
}

function lineEnd(text: string, from: number): number {
  const found = text.indexOf("\n", from);
  return found === -1 ? text.length : found;
}
