// How file tools may change a path on this machine: by the rules that decide whether a draft's change of it lands.

import type { Stats } from "node:fs";
import type { FilePath } from "../../core/ports/files.ts";
import { segmentsOf, type UserFolders } from "../../platform/folders.ts";
import { realRoot } from "../../platform/real-path.ts";
import { DiskTree, factsAt, type PathSnapshot } from "../../sandbox/drafts/triggers/disk-tree.ts";
import { FolderSurvey } from "../../sandbox/drafts/triggers/folder-survey.ts";
import {
  type Classification,
  type ClassifiedChange,
  Classifier,
  isGitOrOurs,
} from "../../sandbox/plan/triggers/classify.ts";
import { TriggerFacts } from "../../sandbox/plan/triggers/trigger-facts.ts";
import type { TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import { TrustedWorkspaces } from "../records/trusted-workspaces.ts";
import { InputTurns, isSettled, isUnchanged } from "../records/unchanged-files.ts";

export interface ProtectedFilesOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Root folder of the ambit package. */
  readonly program: string;
}

/** The requesting session: its workspace, and the trigger paths of its configuration. */
export interface ProtectedFilesSession {
  readonly workspace: string | null;
  readonly table: TriggerTable;
}

/** free: as grants say. ask: once a person approves. never: whatever is granted. */
export type ChangeClass = "free" | "ask" | "never";
export type ChangeClassifier = (path: FilePath) => ChangeClass;

/** If the workspaces cannot be listed, no path is known to be unprotected. */
const EVERYTHING: ChangeClassifier = () => "never";
/** Each is checked on disk once per event-loop turn with a request. */
const witnessesMax = 8_192;

interface CachedClasses extends ProtectedFilesSession {
  readonly workspaces: readonly string[];
  readonly tree: DiskTree;
  /** Each root with the folders in it that have triggers of their own. */
  readonly inner: readonly (readonly [root: FilePath, folders: readonly FilePath[]])[];
  readonly classOf: ChangeClassifier;
  /** When it was read, and the event-loop turn in which it was last found unchanged. */
  readonly gathered: number;
  turn: number;
}

export class ProtectedFiles {
  readonly #options: ProtectedFilesOptions;
  readonly #now: () => number;
  readonly #workspaces: TrustedWorkspaces;
  readonly #turns = new InputTurns();
  readonly #survey: FolderSurvey;
  /** By the list of roots itself: the same object while the grants are the same. */
  readonly #known = new WeakMap<readonly FilePath[], CachedClasses>();

  /** `now`: the clock of file timestamps. */
  constructor(options: ProtectedFilesOptions, now: () => number = Date.now) {
    this.#options = options;
    this.#now = now;
    this.#survey = new FolderSurvey(now);
    this.#workspaces = new TrustedWorkspaces(options.folders.state, now);
  }

  /** As of this event-loop turn: it includes every symlink or workspace created before the call was sent. */
  of(roots: readonly FilePath[], session: ProtectedFilesSession): ChangeClassifier {
    const turn = this.#turns.now;
    const before = this.#known.get(roots);
    const isSameSession = before?.workspace === session.workspace && before.table === session.table;
    if (before !== undefined && isSameSession && before.turn === turn) return before.classOf;
    const workspaces = this.#workspaces.now();
    if (workspaces === null) return EVERYTHING;
    if (before !== undefined && isSameSession && before.workspaces === workspaces && this.#isStill(before)) {
      before.turn = turn;
      return before.classOf;
    }
    const known = this.#gather(roots, workspaces, session, turn);
    this.#known.set(roots, known);
    return known.classOf;
  }

  #gather(
    roots: readonly FilePath[],
    known: readonly string[],
    { workspace, table }: ProtectedFilesSession,
    turn: number,
  ): CachedClasses {
    const { home, folders, program } = this.#options;
    const gathered = this.#now();
    const tree = new DiskTree();
    const workspaces = [...known, ...(workspace === null ? [] : [workspace])].flatMap(namesOf);
    const ours = [folders.state, folders.config].flatMap((one) => (one === null ? [] : [segmentsOf(one)]));
    const homeNamed = home === null ? null : segmentsOf(home);
    // Symlinks on the way to these determine where they lie, so they are checked with the rest.
    const real = (path: FilePath): FilePath => {
      for (let depth = 1; depth <= path.length; depth++) tree.at(path.slice(0, depth));
      return realRoot(path) ?? path;
    };
    for (const one of workspaces) real(one);
    const options = {
      ...{ home: homeNamed === null ? null : real(homeNamed), workspaces, ours, program: segmentsOf(program), table },
    };
    const every = roots.flatMap((root) => [root, ...(isSame(real(root), root) ? [] : [real(root)])]);
    const inner = every.map((root) => [root, this.#survey.recent(root, table)] as const);
    const facts = inner.map(([root, folders]) => new TriggerFacts(tree, { ...options, root, inner: folders }));
    return {
      ...{ workspace, table, workspaces: known, tree, inner, gathered, turn },
      classOf: (path) => (isGitOrOurs(path) ? "never" : strictestClass(facts, path)),
    };
  }

  #isStill({ tree, inner, table, gathered }: CachedClasses): boolean {
    if (tree.witnesses.size > witnessesMax) return false;
    for (const [path, witness] of tree.witnesses) if (!isStillThere(path, witness, gathered)) return false;
    return inner.every(([root, folders]) => this.#survey.recent(root, table) === folders);
  }
}

function strictestClass(all: readonly TriggerFacts[], path: FilePath): ChangeClass {
  const around = all.filter(({ options: { root } }) => root.every((name, at) => name === path[at]));
  // A path outside every root is refused by authority; ambit's own paths are protected whatever it says.
  const found = (around.length > 0 ? around : all).map((facts) => classified(facts, path).class);
  if (found.some((one) => one === "never" || one === "git")) return "never";
  return found.includes("ask") ? "ask" : "free";
}

function classified(facts: TriggerFacts, path: FilePath): Classification {
  const { root } = facts.options;
  const below = root.every((name, at) => name === path[at]) ? path.slice(root.length) : null;
  if (below === null) return facts.places.find(path) === null ? { class: "free", why: null } : PROTECTED;
  const change: ClassifiedChange = { kind: "file", path: below, base: baseOf(path) };
  return Classifier.of(facts, [change]).classify(change);
}

const PROTECTED: Classification = { class: "never", why: "it is protected" };

/** The current file; checked separately, as every write changes it. */
function baseOf(path: FilePath): ClassifiedChange["base"] {
  const entry = new DiskTree().at(path);
  if (entry === null) return null;
  const [device = "0", inode = "0"] = entry.identity === "" ? [] : entry.identity.split(":");
  return {
    kind: entry.kind,
    links: BigInt(entry.links),
    device: BigInt(device),
    inode: BigInt(inode),
    mode: entry.isExecutable ? 0o111 : 0,
  };
}

/** By its name, and by its real path. */
function namesOf(path: string): readonly FilePath[] {
  const named = segmentsOf(path);
  const real = realRoot(named);
  return real === null || isSame(real, named) ? [named] : [named, real];
}

function isStillThere(path: string, { facts, isRead }: PathSnapshot, gathered: number): boolean {
  const now = factsAt(path);
  if (facts === null || now === null) return facts === now;
  // A file changed just before it was read may have changed again without a visible sign.
  if (isRead) return isSettled(facts, gathered) && isUnchanged(facts, now);
  return isSameFile(facts, now);
}

/** The text of a symlink never changes; a changed symlink is another inode. */
function isSameFile(before: Stats, now: Stats): boolean {
  const isSameInode = before.dev === now.dev && before.ino === now.ino && kindBits(before) === kindBits(now);
  return isSameInode && (!now.isSymbolicLink() || before.ctimeMs === now.ctimeMs);
}

function kindBits({ mode }: Stats): number {
  return mode & 0o170000;
}

function isSame(left: FilePath, right: FilePath): boolean {
  return left.length === right.length && left.every((name, at) => name === right[at]);
}
