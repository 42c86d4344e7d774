// Decides which changes of a sealed draft may reach the project, name by name: by the grants and by what the name means
// to the person's tools. INVARIANT: a change lands only where both agree; every other change stays in the draft with
// its reason.
import type { Decision, DenialCode } from "../../../core/authority/decision.ts";
import type { Level } from "../../../core/authority/grant.ts";
import type { UnlandedChange } from "../../../core/ports/drafts.ts";
import type { Change } from "./change.ts";

/** The class of a name for the person's tools. */
export type NameClass =
  | { readonly class: "free" }
  /** Lands once a person has approved. */
  | { readonly class: "ask"; readonly why: string }
  | { readonly class: "never"; readonly why: string }
  /** Part of a git folder: imported semantically, never as a file. */
  | { readonly class: "git"; readonly repository: readonly string[] };

export interface LandingRules {
  /** The grants' decision on writing or deleting this name. */
  judge(verb: "fs.write" | "fs.delete", path: readonly string[]): Decision;
  classify(change: Change): NameClass;
  /** The approval level of this draft: 0 none, 1 approved, 2 approved with confirmed presence. */
  readonly agreed: Level;
  /** Every change needs an approval. */
  readonly needsReview: boolean;
  /** A git change that does not land also retains the files that belong to it. */
  holds?(change: Change): boolean;
}

export interface UnlandedDecision {
  readonly change: Change;
  readonly code: DenialCode;
  readonly reason: string;
}

export interface LandingDecision {
  /** In scan order. */
  readonly land: readonly Change[];
  readonly git: readonly GitChanges[];
  readonly kept: readonly UnlandedDecision[];
}

export interface GitChanges {
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
}

export function decideLanding(changes: readonly Change[], rules: LandingRules): LandingDecision {
  const git = new Map<string, GitChanges & { readonly changes: Change[] }>();
  const decisions = new Map<Change, UnlandedDecision | null>();
  for (const change of changes) {
    const name = rules.classify(change);
    if (name.class !== "git") {
      decisions.set(change, keptBy(change, name, rules));
      continue;
    }
    const key = name.repository.join("/");
    const group = git.get(key) ?? { repository: name.repository, changes: [] };
    group.changes.push(change);
    git.set(key, group);
  }
  keepWhatDepends(decisions);
  const land = [...decisions].filter(([, kept]) => kept === null).map(([change]) => change);
  const kept = [...decisions.values()].filter((one) => one !== null);
  return { land, git: [...git.values()], kept };
}

function keptBy(
  change: Change,
  name: Exclude<NameClass, { class: "git" }>,
  rules: LandingRules,
): UnlandedDecision | null {
  if (name.class === "never") return { change, code: "self_modification", reason: name.why };
  const verb = change.kind === "delete" ? "fs.delete" : "fs.write";
  const decision = rules.judge(verb, change.path);
  if (decision.outcome === "deny") return { change, code: decision.code, reason: deniedReason(verb, decision.code) };
  if (rules.holds?.(change) === true) return { change, code: "not_landed", reason: WITH_GIT };
  if (decision.outcome === "ask" && decision.level > rules.agreed)
    return { change, code: "approval_required", reason: asksReason(verb, decision.level) };
  if (rules.agreed > 0) return null;
  if (name.class === "ask") return { change, code: "approval_required", reason: name.why };
  return rules.needsReview ? { change, code: "approval_required", reason: REVIEWED } : null;
}

function asksReason(verb: string, level: Level): string {
  const presence = level > 1 ? ", confirmed with a passphrase (--presence NAME)" : "";
  return `the grant for ${verb} requires approval${presence}`;
}

export function deniedReason(verb: string, code: DenialCode): string {
  if (code === "revoked") return "the session ended, or its grants were revoked, before the changes landed";
  return `no grant covers ${verb} of this path`;
}

const REVIEWED = "waits for review";
const WITH_GIT = "belongs to a git change that did not land";

/**
 * A new folder lands with its content, whether or not a grant names the folder itself; one whose content is all
 * retained does not. A folder is deleted only with everything in it, and a name is reused only where its deletion
 * lands.
 */
function keepWhatDepends(decisions: Map<Change, UnlandedDecision | null>): void {
  const contents = contentsOf(decisions);
  for (const [change, kept] of decisions) {
    const inside = contents.get(keyOf(change.path));
    if (change.kind === "folder" && inside !== undefined && inside.count > 0) {
      if (inside.landing > 0 && kept !== null && kept.code !== "self_modification" && !isAsking(kept))
        decisions.set(change, null);
      if (inside.landing === 0 && kept === null && inside.firstKept !== null)
        decisions.set(change, { ...inside.firstKept, change });
    }
    if (change.kind === "delete" && kept === null && inside?.firstKeptDeletion != null)
      decisions.set(change, { ...inside.firstKeptDeletion, change });
  }
  // What blocks the change: a name that is not deleted, or a new folder that is not created.
  const obstacles = new Map<string, UnlandedDecision>();
  for (const [change, kept] of decisions)
    if ((change.kind === "delete" || change.kind === "folder") && kept !== null)
      obstacles.set(keyOf(change.path), kept);
  if (obstacles.size === 0) return;
  const known = new Map<string, UnlandedDecision | null>();
  for (const [change, kept] of decisions) {
    if (change.kind === "delete" || kept !== null) continue;
    const blocking = blockingObstacle(change.path, obstacles, known);
    if (blocking !== null) decisions.set(change, { ...blocking, change });
  }
}

function isAsking({ code }: UnlandedDecision): boolean {
  return code === "approval_required";
}

interface Contents {
  count: number;
  landing: number;
  firstKept: UnlandedDecision | null;
  firstKeptDeletion: UnlandedDecision | null;
}

/**
 * For each folder: the decisions on all non-folders below it, and on deletions of any kind. Counted in the folder of
 * each change first and added up from the innermost, so that depth does not multiply with the number of files.
 */
function contentsOf(decisions: ReadonlyMap<Change, UnlandedDecision | null>): ReadonlyMap<string, Contents> {
  const contents = new Map<string, Contents>();
  const levels: Map<string, readonly string[]>[] = [];
  const at = (folder: readonly string[]): Contents => {
    const key = keyOf(folder);
    const known = contents.get(key);
    if (known !== undefined) return known;
    const one: Contents = { count: 0, landing: 0, firstKept: null, firstKeptDeletion: null };
    contents.set(key, one);
    levels[folder.length] ??= new Map();
    levels[folder.length]?.set(key, folder);
    return one;
  };
  for (const [change, kept] of decisions) {
    if (change.path.length < 2) continue;
    const one = at(change.path.slice(0, -1));
    if (change.kind === "file" || change.kind === "link") {
      one.count++;
      if (kept === null) one.landing++;
      else one.firstKept ??= kept;
    }
    if (change.kind === "delete" && kept !== null) one.firstKeptDeletion ??= kept;
  }
  for (let length = levels.length - 1; length > 1; length--)
    for (const [key, folder] of levels[length] ?? []) {
      const inner = contents.get(key) as Contents;
      const outer = at(folder.slice(0, -1));
      outer.count += inner.count;
      outer.landing += inner.landing;
      outer.firstKept ??= inner.firstKept;
      outer.firstKeptDeletion ??= inner.firstKeptDeletion;
    }
  return contents;
}

/** The deletion of this name or of a parent that does not land: nothing can replace it. */
function blockingObstacle(
  path: readonly string[],
  obstacles: ReadonlyMap<string, UnlandedDecision>,
  known: Map<string, UnlandedDecision | null>,
): UnlandedDecision | null {
  const own = obstacles.get(keyOf(path));
  if (own !== undefined) return own;
  if (path.length < 2) return null;
  const parent = path.slice(0, -1);
  const key = keyOf(parent);
  const found = known.get(key);
  if (found !== undefined) return found;
  const above = blockingObstacle(parent, obstacles, known);
  known.set(key, above);
  return above;
}

/** No name contains a slash. */
function keyOf(path: readonly string[]): string {
  return path.join("/");
}

const KINDS = { file: "write", folder: "folder", link: "link", delete: "delete" } as const;

export function unlandedChange({ change, code, reason }: UnlandedDecision): UnlandedChange {
  return { path: keyOf(change.path), kind: KINDS[change.kind], code, reason };
}
