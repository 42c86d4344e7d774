// The parts of YAML that are refused, and what to write instead.
import type { CST, ErrorCode } from "yaml";
import { quoteText } from "../core/notation/quote-text.ts";

export interface YamlRefusal {
  readonly message: string;
  readonly fix: string;
}

/** Why this lexeme is refused everywhere, or null. `isFirst`: only blanks precede it. */
export function lexemeRefusal(kind: CST.TokenType | null, lexeme: string, isFirst: boolean): YamlRefusal | null {
  switch (kind) {
    case "alias": {
      // `*.github.com: x` is an alias that ends in a colon; the author meant the name before it.
      const word = lexeme.replace(/:$/, "");
      return {
        message: `\`*\` begins an alias in YAML, and aliases are refused; quote text that begins with it`,
        fix: quoteText(word),
      };
    }
    case "anchor":
      return {
        message: "anchors (`&name`) are refused; write the value out where it is used",
        fix: `remove it, or quote the text: ${quoteText(lexeme)}`,
      };
    case "tag":
      return {
        message: "tags (`!name`) are refused; text that begins with `!` must be quoted",
        fix: quoteText(lexeme),
      };
    case "directive-line":
      return { message: "directives (`%NAME`) are refused", fix: "remove the line" };
    case "explicit-key-ind":
      return { message: "keys after `?` are refused", fix: "write `key: value`" };
    case "doc-start":
      return isFirst ? null : { message: "a second document begins here; only one is allowed", fix: "remove the line" };
    case "doc-end":
      return { message: "the end marker `...` is refused", fix: "remove the line" };
    default:
      return null;
  }
}

/** The most likely fix for an error that the library found. */
export function errorFix(code: ErrorCode): string | null {
  switch (code) {
    case "TAB_AS_INDENT":
      return "indent with spaces";
    case "BAD_INDENT":
      return "start all entries of a list or map in the same column";
    case "BAD_SCALAR_START":
      return "put the text in double quotes";
    case "BLOCK_AS_IMPLICIT_KEY":
    case "MULTILINE_IMPLICIT_KEY":
      return "write `key: value` on a line of its own, and quote a value that contains `: `";
    case "BAD_DQ_ESCAPE":
      return "use single quotes, in which a backslash is literal";
    case "BLOCK_IN_FLOW":
      return "inside `[...]` and `{...}` use only brackets and commas, no indentation";
    case "KEY_OVER_1024_CHARS":
      return "write a shorter key";
    default:
      return null;
  }
}

const messageCharactersMax = 200;

/** The library's token names in words that users know. */
const marks: Readonly<Record<string, string>> = {
  "map-value-ind": "`:`",
  "block-seq-ind": "`-`",
  "seq-item-ind": "`-`",
  "flow-seq-start": "`[`",
  "flow-seq-end": "`]`",
  "flow-map-start": "`{`",
  "flow-map-end": "`}`",
  comma: "`,`",
};

/** A message of the library, shortened and without its internal names. */
export function shortMessage(message: string): string {
  const text = message
    .slice(0, messageCharactersMax)
    .replace(/\b[a-z]+(?:-[a-z]+)+\b|\bcomma\b/g, (name) => marks[name] ?? name);
  return text.charAt(0).toLowerCase() + text.slice(1);
}
