// Classes of the paths that commits and the index bring: as the worktree changes that a checkout would make.
import type { Decision } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import type { Change } from "../plan/drafts/change.ts";
import type { NameClass } from "../plan/drafts/landing.ts";
import { nameKey } from "../plan/triggers/spelling.ts";
import type { DraftRecord } from "./draft-records.ts";
import type { Classify, PathChange, PathClass } from "./git/waiting-paths.ts";

/** The depth limit of drafts: deeper paths of commits wait. */
const foldersDeepMax = 256;

export interface CommitRules {
  /** The folder that the repository's paths are relative to. */
  readonly worktree: readonly string[];
  classifier(more: readonly Change[]): Promise<(change: Change) => NameClass>;
  readonly masked: DraftRecord["masked"];
  judge(verb: "fs.write" | "fs.delete", path: readonly string[]): Decision;
  readonly agreed: Level;
}

export function commitClassifier({ worktree, classifier, masked, judge, agreed }: CommitRules): Classify {
  /** A path of a commit needs the grant that its file in the worktree needs. */
  const judged = (verb: "fs.write" | "fs.delete", { path }: PathChange): PathClass => {
    const decision = judge(verb, [...worktree, ...path.split("/")]);
    if (decision.outcome === "allow") return "free";
    if (decision.outcome === "ask") return decision.level <= agreed ? "free" : agreed === 0 ? "ask" : ASKS_MORE;
    return decision.code === "self_modification" ? "never" : { denied: decision.code };
  };
  let known: { readonly together: readonly PathChange[]; classify(change: Change): NameClass } | null = null;
  return async (one, together) => {
    // A deleted trigger runs nothing. Names the program did not see only looked deleted to it.
    if (one.change === "deleted") {
      const path = [...worktree, ...one.path.split("/")];
      const isMasked = masked.some((name) => name.every((part, at) => part === path[at]));
      return isMasked ? "never" : judged("fs.delete", one);
    }
    if (known?.together !== together)
      known = { together, classify: await classifier(together.flatMap((each) => checkoutChanges(worktree, each))) };
    const changes = checkoutChanges(worktree, one);
    const change = changes.at(-1);
    if (change === undefined) return "free";
    const found = known.classify(change);
    if (found.class === "git" || found.class === "never") return "never";
    const granted = judged("fs.write", one);
    if (granted !== "free") return granted;
    // Other commits may add the rest of a bare repository later; without a `HEAD` there is none.
    const isHead = nameKey(change.path.at(-1) ?? "") === "head";
    return isHead || changes.length > foldersDeepMax ? "ask" : found.class;
  };
}

const ASKS_MORE: PathClass = { denied: "approval_required" };

/** The parent folders of a path, outermost first, and the path itself. */
function checkoutChanges(worktree: readonly string[], { path, change, target }: PathChange): readonly Change[] {
  if (change === "deleted") return [];
  const names = path.split("/");
  const folders = names.slice(1).map((_, at): Change => {
    return { kind: "folder", path: [...worktree, ...names.slice(0, at + 1)], base: null };
  });
  const below = [...worktree, ...names];
  return [
    ...folders,
    target === null
      ? { kind: "file", path: below, bytes: 0, isExecutable: false, base: null }
      : { kind: "link", path: below, target, base: null },
  ];
}
