// Decisions about links: the target is decided even if it does not exist, and a path is covered by its own name.
import type { JsonObject } from "../../src/core/base/json.ts";
import { isCovered, layoutOf, ModelDisk, wordsOf } from "./bridle-paths-model.ts";
import type { Decision } from "./decision.ts";
import { PATH_SETTINGS } from "./machine.ts";
import { isAtOrBelow } from "./model-words.ts";
import { type Row, textAt, textsAt } from "./row.ts";

const SCOPES: readonly string[] = ["bridle-path-scope"];
const FLOORS: readonly string[] = ["ethos-fs"];

function verdict(allowed: boolean): JsonObject {
  return { expect: allowed ? "allow" : "deny" };
}

function ours(input: Row, header: JsonObject): JsonObject {
  const roots = textsAt(input, "scope").map(wordsOf);
  const disk = new ModelDisk(layoutOf(header));
  return verdict(isCovered(disk, wordsOf(textAt(input, "path")), roots, PATH_SETTINGS.protectedPaths));
}

/** Both made canonical as far as they exist, then compared; `..` is resolved as the kernel does. */
function seeds(input: Row, header: JsonObject): JsonObject {
  const disk = new ModelDisk(layoutOf(header));
  const path = disk.canonical(rawWords(textAt(input, "path")));
  const roots = textsAt(input, "scope").map((text) => disk.canonical(rawWords(text)));
  return verdict(path !== null && roots.some((root) => root !== null && isAtOrBelow(path, root)));
}

function rawWords(path: string): readonly string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function floored(input: Row, header: JsonObject): JsonObject {
  const disk = new ModelDisk(layoutOf(header));
  const [roots, guards] = [textsAt(input, "readPaths").map(wordsOf), textsAt(input, "denyFloor").map(wordsOf)];
  return verdict(isCovered(disk, wordsOf(textAt(input, "path")), roots, guards));
}

export const LINK_DECISIONS: readonly Decision[] = [
  {
    record: "0028-files-and-links",
    when: "a link on the way leads to what is not there: it is decided by where it leads",
    files: SCOPES,
    holds: (input, header) => new ModelDisk(layoutOf(header)).dangles(wordsOf(textAt(input, "path"))),
    answer: ours,
    seed: seeds,
  },
  {
    record: "0028-files-and-links",
    when: "the path lies below no entry by the name it is asked for: another name of the same place is not covered",
    files: SCOPES,
    holds: (input) =>
      !textsAt(input, "scope").some((text) => isAtOrBelow(wordsOf(textAt(input, "path")), wordsOf(text))),
    answer: ours,
    seed: seeds,
  },
  {
    record: "0028-files-and-links",
    when: "`..` stands behind a link: it is taken back in the text, before links are followed",
    files: SCOPES,
    holds: (input) => textAt(input, "path").split("/").includes(".."),
    answer: ours,
    seed: seeds,
  },
  {
    record: "0012-protected-paths",
    when: "an entry names the floor itself or what lies below it: that opens it",
    files: FLOORS,
    holds: (input) =>
      textsAt(input, "readPaths").some((text) =>
        textsAt(input, "denyFloor").some((floor) => isAtOrBelow(wordsOf(text), wordsOf(floor))),
      ),
    answer: floored,
    seed: () => verdict(false),
  },
];
