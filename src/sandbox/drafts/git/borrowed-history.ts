// History outside a repository: objects in folders it borrows from (`objects/info/alternates`), and commits whose
// parents were never fetched (`shallow`). An import reads both and changes neither.

import { realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, printable, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { isObjectId, type ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import { kindAt, readGitFile } from "./git-files.ts";

const alternatesBytesMax = 65_536;
const foldersMax = 32;
const shallowBytesMax = 4 * 1_048_576;

/** Real paths of every object folder that git would read besides the repository's own. `common`: the git folder. */
export function borrowedObjects(common: string): GitResult<readonly string[]> {
  const found = new Set<string>();
  const waiting = [join(common, "objects")];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const file = readGitFile(join(folder, "info/alternates"), alternatesBytesMax, "objects/info/alternates");
    if (!file.ok) return file;
    const lines = file.value?.bytes.toString("utf8").split("\n") ?? [];
    for (const line of lines.filter((one) => one !== "" && !one.startsWith("#"))) {
      const real = realFolder(isAbsolute(line) ? line : join(folder, line));
      if (real === null)
        return refuseGit("unsupported", `the repository borrows objects from ${printable(line)}, which does not exist`);
      if (found.has(real)) continue;
      if (found.size >= foldersMax)
        return refuseGit("too_large", `the repository borrows from more than ${foldersMax} folders`);
      found.add(real);
      waiting.push(real);
    }
  }
  return value([...found]);
}

/** The ids, one per line; null where the history is complete. */
export function readShallow(common: string, format: ObjectFormat): GitResult<string | null> {
  const file = readGitFile(join(common, "shallow"), shallowBytesMax, "shallow");
  if (!file.ok) return file;
  if (file.value === null || file.value.bytes.length === 0) return value(null);
  const text = file.value.bytes.toString("latin1");
  const ids = text.split("\n");
  if (ids.pop() !== "" || !ids.every((id) => isObjectId(id, format)))
    return refuseGit("unsupported", "the list of shallow commits cannot be read");
  return value(text);
}

function realFolder(path: string): string | null {
  try {
    const real = realpathSync.native(path);
    return kindAt(real)?.kind === "folder" ? real : null;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR" || errorCode(error) === "EACCES") return null;
    throw error;
  }
}
