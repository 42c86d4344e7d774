// YAML 1.2 (core schema) to a tree. What YAML has beyond lists, maps and scalars is refused, not read.
import type { Range, Source } from "../notation/source.ts";
import type { Read } from "./read.ts";
import { readWith } from "./reader.ts";
import { libraryTree } from "./yaml-library.ts";
import { plainYamlTree } from "./yaml-plain.ts";

export function readYaml(source: Source, range?: Range): Read {
  return readWith(source, range, "written", (text, draft) => plainYamlTree(text, draft) ?? libraryTree(text, draft));
}
