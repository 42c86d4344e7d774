// How file tools may change a path on this machine: by the rules that decide whether a draft's change of it lands.
import type { Stats } from "node:fs";
import { segmentsOf, type UserFolders } from "../node/folders.ts";
import { realRoot } from "../node/real-path.ts";
import { DiskTree, type Witness } from "../node/triggers/disk-tree.ts";
import type { FilePath } from "../ports/files.ts";
import { type Classification, type ClassifiedChange, Classifier, isGitOrOurs } from "../sandbox/triggers/classify.ts";
import { TriggerFacts } from "../sandbox/triggers/trigger-facts.ts";
import type { TriggerTable } from "../sandbox/triggers/trigger-table.ts";
import { SeenWorkspaces } from "./seen-workspaces.ts";
import { factsAt, isSettled, isUnchanged } from "./settled.ts";
import { Stretch } from "./stretch.ts";

export interface ProtectedFilesOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Of our package. */
  readonly program: string;
}

/** The session that asks: its workspace, and the names as its configuration has them. */
export interface ProtectedFilesSession {
  readonly workspace: string | null;
  readonly table: TriggerTable;
}

/** free: as grants say. ask: once a person agrees. never: whatever is granted. */
export type ChangeClass = "free" | "ask" | "never";
export type ChangeClassifier = (path: FilePath) => ChangeClass;

/** Where the workspaces cannot be listed, no path is known to be unprotected. */
const EVERYTHING: ChangeClassifier = () => "never";
/** Each is one look at the disk whenever something is asked in another event-loop turn. */
const witnessesMax = 8_192;

interface Known extends ProtectedFilesSession {
  readonly workspaces: readonly string[];
  readonly tree: DiskTree;
  readonly classOf: ChangeClassifier;
  /** When it was gathered, and the event-loop turn it was last found unchanged in. */
  readonly gathered: number;
  turn: number;
}

export class ProtectedFiles {
  readonly #options: ProtectedFilesOptions;
  readonly #now: () => number;
  readonly #workspaces: SeenWorkspaces;
  readonly #turns = new Stretch();
  /** By the list of roots itself: the same list as long as the same is granted. */
  readonly #known = new WeakMap<readonly FilePath[], Known>();

  /** `now`: the clock that files have their times from. */
  constructor(options: ProtectedFilesOptions, now: () => number = Date.now) {
    this.#options = options;
    this.#now = now;
    this.#workspaces = new SeenWorkspaces(options.folders.state, now);
  }

  /** As of this event-loop turn: a link or a workspace that was there before a call was asked for is known to it. */
  of(roots: readonly FilePath[], session: ProtectedFilesSession): ChangeClassifier {
    const turn = this.#turns.now;
    const before = this.#known.get(roots);
    const isSameSession = before?.workspace === session.workspace && before.table === session.table;
    if (before !== undefined && isSameSession && before.turn === turn) return before.classOf;
    const workspaces = this.#workspaces.now();
    if (workspaces === null) return EVERYTHING;
    if (before !== undefined && isSameSession && before.workspaces === workspaces && isStill(before)) {
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
  ): Known {
    const { home, folders, program } = this.#options;
    const gathered = this.#now();
    const tree = new DiskTree();
    const workspaces = [...known, ...(workspace === null ? [] : [workspace])].flatMap(namesOf);
    const ours = [folders.state, folders.config].flatMap((one) => (one === null ? [] : [segmentsOf(one)]));
    const homeNamed = home === null ? null : segmentsOf(home);
    // Links on the way to these say where they lie, so they are looked at with the rest.
    const real = (path: FilePath): FilePath => {
      for (let depth = 1; depth <= path.length; depth++) tree.at(path.slice(0, depth));
      return realRoot(path) ?? path;
    };
    for (const one of workspaces) real(one);
    const options = {
      ...{ home: homeNamed === null ? null : real(homeNamed), workspaces, ours, program: segmentsOf(program), table },
    };
    const every = roots.flatMap((root) => [root, ...(isSame(real(root), root) ? [] : [real(root)])]);
    const facts = every.map((root) => new TriggerFacts(tree, { ...options, root }));
    return {
      ...{ workspace, table, workspaces: known, tree, gathered, turn },
      classOf: (path) => (isGitOrOurs(path) ? "never" : strictestClass(facts, path)),
    };
  }
}

function strictestClass(all: readonly TriggerFacts[], path: FilePath): ChangeClass {
  const around = all.filter(({ options: { root } }) => root.every((name, at) => name === path[at]));
  // A path outside every root is refused by authority; places of ours are protected whatever it says.
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

/** What is there now; looked at apart, as every write changes it. */
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

/** By the name it is known by, and by where it lies. */
function namesOf(path: string): readonly FilePath[] {
  const named = segmentsOf(path);
  const real = realRoot(named);
  return real === null || isSame(real, named) ? [named] : [named, real];
}

function isStill({ tree, gathered }: Known): boolean {
  if (tree.witnesses.size > witnessesMax) return false;
  for (const [path, witness] of tree.witnesses) if (!isStillThere(path, witness, gathered)) return false;
  return true;
}

function isStillThere(path: string, { facts, isRead }: Witness, gathered: number): boolean {
  const now = factsAt(path);
  if (facts === null || now === null) return facts === now;
  // What was changed just before it was read may have changed again without a sign of it.
  if (isRead) return isSettled(facts, gathered) && isUnchanged(facts, now);
  return isSameFile(facts, now);
}

/** The text of a link never changes; another link is another file. */
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
