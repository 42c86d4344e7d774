// TOML 1.0 to a tree. Dates and times stay text: no consumer needs a calendar.
import { parseTOML } from "toml-eslint-parser";
import type { Source } from "../core/notation/source.ts";
import type { TextTree } from "./read.ts";
import { readWith } from "./reader.ts";
import { isTomlBounded } from "./toml-bounds.ts";
import { tomlTree } from "./toml-tree.ts";

export function readToml(source: Source): TextTree {
  return readWith(source, undefined, "written", (text, draft) => {
    if (!isTomlBounded(text, draft)) return null;
    try {
      const program = parseTOML(text, { tomlVersion: "1.0" });
      return tomlTree(program.body[0], text, draft);
    } catch (failure) {
      // The parser throws an error with an index for everything it refuses; other exceptions are not about the text.
      if (!(failure instanceof Error && "index" in failure && typeof failure.index === "number")) throw failure;
      const message = failure.message.charAt(0).toLowerCase() + failure.message.slice(1);
      return draft.refuse("syntax", { start: failure.index, end: failure.index + 1 }, message);
    }
  });
}
