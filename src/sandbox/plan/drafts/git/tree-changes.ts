// The output of `git diff-tree --stdin -r --root --raw -z` and of `git log --raw -z --format=%H`: which paths each commit adds, changes or deletes.
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

/** Records end with a zero byte: a commit's id, or `:<mode> <mode> <id> <id> <letter>` and a path. */
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
      return refuseGit("malformed", "git diff-tree wrote a record that cannot be parsed");
    changes.push({ commit, path, ...header });
    at += 1;
  }
  return value(changes);
}

/** The second mode and the second id are those afterwards. `git log` writes a line end before the first of a commit. */
function parseHeader(record: string): Pick<TreeChange, "change" | "mode" | "id"> | null {
  const found = /^\n?:[0-7]{6} ([0-7]{6}) [0-9a-f]{40,64} ([0-9a-f]{40,64}) ([AMDT])$/.exec(record);
  const [, mode, id, letter] = found ?? [];
  if (mode === undefined || id === undefined || letter === undefined) return null;
  const change = letter === "A" ? "added" : letter === "D" ? "deleted" : "changed";
  return { change, mode: Number.parseInt(mode, 8), id };
}
