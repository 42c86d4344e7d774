// What each name below a git folder means to the import. An unknown name is never carried over.

export type GitName =
  | { readonly kind: "head" }
  | { readonly kind: "index" }
  | { readonly kind: "packed-refs" }
  | { readonly kind: "ref"; readonly name: string }
  | { readonly kind: "stash-log" }
  | { readonly kind: "loose-object"; readonly folder: string; readonly file: string }
  | { readonly kind: "pack"; readonly stem: string; readonly extension: "pack" | "idx" }
  /** Present only while an operation is in progress. */
  | { readonly kind: "in-progress"; readonly operation: string }
  /** Names that would make it another kind of repository. */
  | { readonly kind: "unsupported"; readonly what: string }
  /** Never carried over, and reported to the person. */
  | { readonly kind: "not-carried" }
  /** Never carried over and irrelevant outside: locks, logs, messages, caches. */
  | { readonly kind: "dropped" };

const IN_PROGRESS: ReadonlyMap<string, string> = new Map([
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["MERGE_AUTOSTASH", "merge"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["sequencer", "cherry-pick or revert"],
  ["BISECT_START", "bisect"],
  ["BISECT_LOG", "bisect"],
  ["BISECT_NAMES", "bisect"],
]);

export const IN_PROGRESS_NAMES: readonly string[] = [...IN_PROGRESS.keys()];

const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ["shallow", "a shallow history"],
  ["reftable", "refs in a reftable"],
]);

/** Rewritten by most commands, and not read by the import. */
const DROPPED: ReadonlySet<string> = new Set([
  "COMMIT_EDITMSG",
  "MERGE_MSG",
  "SQUASH_MSG",
  "MERGE_MODE",
  "MERGE_RR",
  "AUTO_MERGE",
  "ORIG_HEAD",
  "FETCH_HEAD",
  "REBASE_HEAD",
  "TAG_EDITMSG",
  "NOTES_EDITMSG",
  "EDIT_DESCRIPTION",
  "description",
  "gc.log",
  "gc.pid",
  "branches",
  "logs",
]);

/** `path`: below the git folder, at least one name. */
export function gitName(path: readonly string[]): GitName {
  const [first = "", second = "", third = ""] = path;
  const last = path[path.length - 1] ?? "";
  if (last.endsWith(".lock") || last.startsWith("tmp_")) return { kind: "dropped" };
  const operation = IN_PROGRESS.get(first);
  if (operation !== undefined) return { kind: "in-progress", operation };
  const what = UNSUPPORTED.get(first);
  if (what !== undefined) return { kind: "unsupported", what };
  if (first === "refs" && path.length > 1) return { kind: "ref", name: path.join("/") };
  if (first === "logs" && path.join("/") === "logs/refs/stash") return { kind: "stash-log" };
  if (first === "objects") return objectName(path.length, second, third);
  // A list for servers, written by `git gc`.
  if (first === "info" && second === "refs") return { kind: "dropped" };
  if (path.length === 1 && first === "HEAD") return { kind: "head" };
  if (path.length === 1 && first === "index") return { kind: "index" };
  if (path.length === 1 && first === "packed-refs") return { kind: "packed-refs" };
  return DROPPED.has(first) ? { kind: "dropped" } : { kind: "not-carried" };
}

function objectName(length: number, folder: string, file: string): GitName {
  if (length < 3) return { kind: "dropped" };
  if (length > 3) return { kind: "not-carried" };
  if (/^[0-9a-f]{2}$/.test(folder) && /^([0-9a-f]{38}|[0-9a-f]{62})$/.test(file))
    return { kind: "loose-object", folder, file };
  const pack = /^(pack-(?:[0-9a-f]{40}|[0-9a-f]{64}))\.(pack|idx)$/.exec(file);
  if (folder === "pack" && pack?.[1] !== undefined)
    return { kind: "pack", stem: pack[1], extension: pack[2] === "idx" ? "idx" : "pack" };
  // Git generates most side files of packs and of `info/` by itself, but not `alternates`.
  const isCache =
    (folder === "pack" && /\.(rev|bitmap|mtimes|keep|promisor)$/.test(file)) ||
    (folder === "pack" && file === "multi-pack-index") ||
    (folder === "info" && (file === "packs" || file.startsWith("commit-graph")));
  return isCache ? { kind: "dropped" } : { kind: "not-carried" };
}
