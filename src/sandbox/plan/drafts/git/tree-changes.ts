// The output of `git diff-tree --stdin -r -c --root --raw -z`: which paths each commit adds, changes or deletes.
import { type GitResult, refuseGit, value } from "./git-refusal.ts";

export type TreeChangeKind = "added" | "changed" | "deleted";

export interface TreeChange {
  readonly commit: string;
  /** A byte string. */
  readonly path: string;
  readonly change: TreeChangeKind;
  /** The mode afterwards; 0 where it is deleted. */
  readonly mode: number;
  readonly id: string;
}

/**
 * Records end with a zero byte: a commit's id, or `:<mode> <mode> <id> <id> <letter>` and a path. A merge has one colon, one
 * mode, one id and one letter more for each parent, and lists only paths that differ from all of its parents.
 */
export function parseTreeChanges(output: string): GitResult<readonly TreeChange[]> {
  const changes: TreeChange[] = [];
  const records = output.split("\0");
  if (records.pop() !== "") return refuseGit("malformed", "git diff-tree ended in the middle of a record");
  let commit = "";
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? "";
    if (/^[0-9a-f]{40,64}$/.test(record)) {
      commit = record;
      continue;
    }
    const header = parseHeader(record);
    const path = records[at + 1];
    if (header === null || path === undefined || commit === "")
      return refuseGit("malformed", "git diff-tree wrote a record that is not understood");
    changes.push({ commit, path, ...header });
    at += 1;
  }
  return value(changes);
}

/** With n parents: n colons, n + 1 modes, n + 1 ids, n letters; the last mode and the last id are those afterwards. */
function parseHeader(record: string): Pick<TreeChange, "change" | "mode" | "id"> | null {
  const colons = /^:+/.exec(record)?.[0].length ?? 0;
  const words = record.slice(colons).split(" ");
  const [mode, id, letters] = [words[colons], words[2 * colons + 1], words[2 * colons + 2]];
  if (colons === 0 || words.length !== 2 * colons + 3) return null;
  if (mode === undefined || id === undefined || letters === undefined) return null;
  if (!/^[0-7]{6}$/.test(mode) || !/^[0-9a-f]{40,64}$/.test(id) || !/^[AMDT]+$/.test(letters)) return null;
  return { change: changeOf(letters), mode: Number.parseInt(mode, 8), id };
}

function changeOf(letters: string): TreeChangeKind {
  if (/^A+$/.test(letters)) return "added";
  return letters.includes("D") ? "deleted" : "changed";
}
