// YAML 1.2 (core schema) to a tree, read by the `yaml` library. Everything beyond lists, maps and scalars is refused.
import { CST, Lexer, Parser } from "yaml";
import type { Range, Source } from "../core/notation/source.ts";
import type { TreeNode } from "../core/notation/tree.ts";
import type { Draft } from "./draft.ts";
import { depthMax, nodesMax, type TextTree } from "./read.ts";
import { readWith } from "./reader.ts";
import { compose } from "./yaml-compose.ts";
import { lexemeRefusal } from "./yaml-refusal.ts";
import { yamlTree } from "./yaml-tree.ts";

export function readYaml(source: Source, range?: Range): TextTree {
  return readWith(source, range, "written", treeOf);
}

function treeOf(text: string, draft: Draft): TreeNode | null {
  const tokens = tokensOf(text, draft);
  if (tokens === null || draft.refused) return null;
  const document = compose(tokens, draft);
  if (document === null) return null;
  // Nothing, or only comments: null in YAML.
  return document === "empty" ? draft.scalar(null, { start: 0, end: 0 }) : yamlTree(document.contents, draft);
}

/** Words, marks, spaces and line ends. Every value and every key is one lexeme with at most a few marks of its own. */
const lexemesMax = nodesMax * 5;
/** Consecutive blank lines and comments: the library scans all of them again for each further one. */
const blankLexemesMax = 3000;
/** Open nodes beyond the open collections: the document and one scalar. */
const stackMax = depthMax + 2;

/**
 * Drives the library's lexer and parser one lexeme at a time, so that refused parts are reported where they are and
 * nothing grows beyond a limit: the parser has its own stack and does not recurse, the composer does.
 */
function tokensOf(text: string, draft: Draft): CST.Token[] | null {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let count = 0;
  let blanks = 0;
  let isScalar = false;
  let isFirst = true;
  for (const lexeme of new Lexer().lex(text)) {
    const kind: CST.TokenType | null = isScalar ? "scalar" : CST.tokenType(lexeme);
    const isMark: boolean = !isScalar && (kind === "scalar" || kind === "doc-mode" || kind === "flow-error-end");
    const range = { start: parser.offset, end: parser.offset + (isMark ? 0 : lexeme.length) };
    isScalar = !isScalar && kind === "scalar";

    const isBlank = kind === "space" || kind === "comment" || kind === "newline";
    blanks = isBlank ? blanks + 1 : isMark ? blanks : 0;
    if (++count > lexemesMax) return draft.refuse("too_large", range, `the text has more than ${lexemesMax} tokens`);
    if (blanks > blankLexemesMax) return draft.refuse("too_large", range, "too many blank lines and comments in a row");
    if (!isBlank && !isMark) {
      const refusal = lexemeRefusal(kind, lexeme, isFirst);
      if (refusal !== null) draft.refuse("syntax", range, refusal.message, refusal.fix);
      if (draft.isFull) return null;
      if (kind !== "directive-line") isFirst = false;
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The composer may have a better message for the error before it.
    if (tokens.at(-1)?.type === "error") break;
    if (parser.stack.length > stackMax)
      return draft.refuse("too_large", range, `lists and maps are nested more than ${depthMax} deep`);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}
