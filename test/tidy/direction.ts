// Imports between rooms, against the table of rooms; and imports of the mint.
import { type Import, importsOf } from "./imports.ts";
import { brand, brandFiles, isRoom, mayImport, mint, mintRoom, roomOf } from "./rooms.ts";
import { examine, type Finding, findingAt, isFixture, isInSrc, isTest, type Report, type Source } from "./source.ts";

/** INVARIANT: every import points up the table. Tests may import anything. */
export function checkDirection(sources: readonly Source[]): Report {
  return examine(
    sources,
    (source) => isInSrc(source) && !isTest(source),
    (source) => {
      const room = roomOf(source.path);
      if (!isRoom(room)) return [findingAt(source, source.tree, `${room} is not a room of the table`)];
      return importsOf(source).flatMap((each) => directionOf(source, each));
    },
  );
}

/**
 * INVARIANT: a warrant is made in the gate and nowhere else. Tests are not exempt: beside the gate's own only the mint's own test
 * may import it.
 */
export function checkMint(sources: readonly Source[]): Report {
  return examine(
    sources,
    (source) => roomOf(source.path) !== mintRoom && !(isTest(source) && roomOf(source.path) === roomOf(mint)),
    (source) =>
      importsOf(source)
        .filter(({ target }) => target.kind === "file" && target.path === mint)
        .map(({ node }) => findingAt(source, node, `imports the mint, which only ${mintRoom} may`)),
  );
}

/** INVARIANT: the mark on a warrant is set by the mint and read by the recogniser; no other module can reach it. */
export function checkBrand(sources: readonly Source[]): Report {
  return examine(
    sources,
    (source) => !brandFiles.includes(source.path),
    (source) =>
      importsOf(source)
        .filter(({ target }) => target.kind === "file" && target.path === brand)
        .map(({ node }) => findingAt(source, node, `imports the brand, which only ${brandFiles.join(" and ")} may`)),
  );
}

function directionOf(source: Source, { node, target }: Import): readonly Finding[] {
  const room = roomOf(source.path);
  if (!isRoom(room)) return [];
  if (target.kind === "package" && /^ambit(\/|$)/.test(target.name)) {
    return [findingAt(source, node, "imports the package by its own name, around the table")];
  }
  if (target.kind !== "file") return [];
  if (isFixture(target.path)) return [findingAt(source, node, `imports ${target.path}, which is for tests alone`)];
  const wanted = roomOf(target.path);
  if (wanted === undefined) return [findingAt(source, node, `imports ${target.path}, which is outside src`)];
  return mayImport(room, wanted) ? [] : [findingAt(source, node, `${room} may not import ${wanted}`)];
}
