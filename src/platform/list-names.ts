// Lists the names in one folder of a root, to hide those that a program may not see. Follows no link.
import { type Dir, lstatSync, opendirSync } from "node:fs";

/**
 * Empty for a path that is no folder, does not exist or is behind a link; null where the folder cannot be listed, has
 * more than `namesMax` names, or has a name that is not UTF-8: such a name could not be hidden.
 */
export function listNames(
  folder: readonly string[],
  root: readonly string[],
  namesMax: number,
): readonly string[] | null {
  let directory: Dir | null = null;
  try {
    for (let length = root.length; length <= folder.length; length++) {
      const found = lstatSync(`/${folder.slice(0, length).join("/")}`, { throwIfNoEntry: false });
      if (found === undefined || !found.isDirectory()) return [];
    }
    // As bytes: decoded to text, a name that is not UTF-8 would look like another one.
    directory = opendirSync(`/${folder.join("/")}`, { encoding: "buffer" as BufferEncoding });
    const names: string[] = [];
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const bytes: unknown = entry.name;
      const name = Buffer.isBuffer(bytes) ? bytes.toString("utf8") : null;
      if (name === null || !Buffer.from(name, "utf8").equals(bytes as Buffer)) return null;
      if (names.push(name) > namesMax) return null;
    }
    return names;
  } catch {
    return null;
  } finally {
    directory?.closeSync();
  }
}
