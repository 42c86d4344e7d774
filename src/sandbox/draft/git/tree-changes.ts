// The output of `git diff-tree --stdin -r -c --root --raw -z`: which paths each commit adds, changes or deletes.
import { type GitResult, stay, value } from "./stay.ts";

export type TreeChangeKind = "added" | "changed" | "deleted";

export interface TreeChange {
  readonly commit: string;
  /** A byte string. */
  readonly path: string;
  readonly change: TreeChangeKind;
}

/**
 * Records end with a zero byte: a commit's id, or `:<mode> <mode> <id> <id> <letter>` and a path. A merge has one colon, one
 * mode, one id and one letter more for each parent, and lists only paths that differ from all of its parents.
 */
export function parseTreeChanges(output: string): GitResult<readonly TreeChange[]> {
  const changes: TreeChange[] = [];
  const records = output.split("\0");
  if (records.pop() !== "") return stay("malformed", "git diff-tree ended in the middle of a record");
  let commit = "";
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? "";
    if (/^[0-9a-f]{40,64}$/.test(record)) {
      commit = record;
      continue;
    }
    const letters = /^:+[0-7 ]+ [0-9a-f ]+ ([AMDT]+)$/.exec(record)?.[1];
    const path = records[at + 1];
    if (letters === undefined || path === undefined || commit === "")
      return stay("malformed", "git diff-tree wrote a record that is not understood");
    changes.push({ commit, path, change: changeOf(letters) });
    at += 1;
  }
  return value(changes);
}

function changeOf(letters: string): TreeChangeKind {
  if (/^A+$/.test(letters)) return "added";
  return letters.includes("D") ? "deleted" : "changed";
}
