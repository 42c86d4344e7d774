// Git of a live root whose `.git` is a file: a linked worktree or a submodule. The copy has a private git folder, which is kept
// in step with the person's by values: refs, HEAD, index and stashes of the person's are written into it under git's locks, and
// those of the program land through a draft with a seed, like those of any command in such a root.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { UnlandedChange } from "../../../core/ports/drafts.ts";
import { sha256 } from "../../../platform/digest.ts";
import { readGitFile } from "../../drafts/git/git-files.ts";
import type { LinkedGit } from "../../drafts/git/linked-git.ts";
import {
  type LinkedSeed,
  type ReadSeed,
  readLinkedSeed,
  seedLinkedGit,
  writeLinkedSeed,
} from "../../drafts/git/linked-seed.ts";
import { indexDigest, readFormat } from "../../drafts/git/repository.ts";
import { type GitName, gitName } from "../../plan/drafts/git/folder-names.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { indexBytesMax } from "../../plan/drafts/git/index-file.ts";
import { isObjectId, type ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import { checkRefName, STASH } from "../../plan/drafts/git/ref-name.ts";
import type { SideChange } from "../compare-sides.ts";
import { type FileStamp, isSameStamp, type TreeFolder } from "../tree-folder.ts";
import { type GitBase, type GitState, hasProgramChange, planGitStep, withRefs } from "./git-state.ts";
import { PackNames } from "./pack-names.ts";
import { hasLooseObject, PersonGit } from "./person-git.ts";
import { GIT, type GitListing, isRef, PrivateGit, type PrivateObject, STASH_LOG } from "./private-git.ts";

/** What the program has at one moment, to be staged. */
export interface GitSnapshot {
  /** Files of the private git folder, below the root. */
  readonly changes: readonly SideChange[];
  readonly program: GitState;
  /** Both sides: as long as it is the same, attempts become rare. */
  readonly key: string;
}

/** What is left of the git part after the program. */
export interface GitRest {
  readonly changes: readonly SideChange[];
  /** Why it did not land, where that is a conflict with the person's repository. */
  readonly conflict: UnlandedChange | null;
}

interface Refusal {
  readonly key: string;
  readonly attempts: number;
  readonly told: UnlandedChange;
  /** Of the clock that only advances. */
  readonly nextAttempt: number;
}

interface UnitParts {
  /** Absolute: the folder of the live root in our state. */
  readonly folder: string;
  readonly linked: LinkedGit;
  readonly format: ObjectFormat;
  readonly copy: TreeFolder;
  readonly seed: LinkedSeed;
}

/** Values of their own in every seed of a step: an unchanged file is no unchanged value. */
const BY_VALUE: ReadonlySet<string> = new Set(["HEAD", "index", "packed-refs", STASH_LOG]);
/** Never land, and are told, or keep everything from landing. */
const TOLD: readonly GitName["kind"][] = ["not-carried", "unsupported", "in-progress"];
/** After a refusal: a git of the person's may hold a lock for a moment. Doubled with each attempt at the same values. */
const restMilliseconds = 100;
const restMillisecondsMax = 60_000;
const objectsPerTurn = 256;
const refsPerTurn = 16;

export class LinkedUnit {
  readonly #parts: UnitParts;
  readonly #program: PrivateGit;
  readonly #person: PersonGit;
  /** Of the files that were seeded: what the program wrote since is found by them. */
  readonly #seeded: ReadonlyMap<string, FileStamp>;
  #base: GitBase;
  /** The index of the base. */
  #index: Buffer | null;
  /** The last attempt that did not land. */
  #refused: Refusal | null = null;
  /** Ids of objects that the person's repository has. */
  readonly #present = new Set<string>();
  /** What is never carried over, by path. */
  readonly #notCarried = new Map<string, UnlandedChange>();

  private constructor(parts: UnitParts, program: PrivateGit, listing: GitListing, index: Buffer | null) {
    this.#parts = parts;
    this.#program = program;
    this.#person = new PersonGit(parts.linked, parts.format);
    this.#seeded = listing.files;
    const state = program.state(listing);
    this.#base = { program: state, person: state };
    this.#index = index;
  }

  /** Creates the private git folder in the copy, in the place of the root's `.git` file. */
  static open(folder: string, copyPath: string, copy: TreeFolder, linked: LinkedGit): GitResult<LinkedUnit> {
    const format = readFormat(linked);
    if (!format.ok) return format;
    const seeded = seedLinkedGit(folder, linked, join(copyPath, GIT));
    if (!seeded.ok) return seeded;
    const seed = readLinkedSeed(folder);
    const program = new PrivateGit(copy, format.value.format);
    const listing = program.list();
    if (seed === null || listing === null) return refuseGit("unavailable", "the private git folder cannot be read");
    const index = listing.files.has("index") ? readFileSync(seed.indexFile) : null;
    const parts = { folder, linked, format: format.value.format, copy, seed };
    const unit = new LinkedUnit(parts, program, listing, index);
    unit.#store();
    return value(unit);
  }

  /** Absolute paths of the person's folders, and those of the private folder. */
  watched(): { readonly outside: readonly string[]; readonly inside: GitListing["folders"] } {
    return { outside: this.#person.watched(), inside: this.#program.list()?.folders ?? [] };
  }

  /**
   * Carries in what the person changed; then what the program has to land, or null. `isLast`: the program has ended, and nothing
   * is carried in any more.
   */
  async step(isLast: boolean): Promise<GitSnapshot | null> {
    const listing = this.#program.list();
    if (listing === null) return null;
    let program = this.#program.state(listing);
    const person = this.#person.read();
    if (person !== null) {
      const isBusy = listing.isInProgress || this.#person.isInProgress;
      const plan = planGitStep({ base: this.#base, program, person }, isBusy);
      this.#settle(plan.base);
      // Of a conflict about the index alone, the branch is where it was: there is nothing to merge.
      const isMoved = (name: string): boolean =>
        person.refs.has(name) && name !== STASH && person.refs.get(name) !== this.#base.person.refs.get(name);
      const moved = plan.conflicts.filter(isMoved).map((name) => [name, person.refs.get(name) ?? ""] as const);
      this.#program.showOutside(listing, new Map(moved));
      if (!isLast && !listing.isLocked && (await this.#carryIn(plan, program, person))) {
        const now = this.#program.list();
        if (now === null || now.isLocked) return null;
        program = this.#program.state(now);
      }
    }
    const outside = person ?? this.#base.person;
    if (!hasProgramChange({ base: this.#base, program, person: outside })) {
      this.#refused = null;
      return null;
    }
    // The watch reports the end of a lock.
    if (listing.isInProgress || (!isLast && (listing.isLocked || this.#person.isLocked))) return null;
    const key = keyOf(program, outside);
    if (!isLast && this.#refused?.key === key && performance.now() < this.#refused.nextAttempt) return null;
    return this.#snapshot(program, key, this.#written(listing, ["unsupported"]));
  }

  /** Whether a landing of it was refused: then files land without it. */
  get isRefused(): boolean {
    return this.#refused !== null;
  }

  /** Whether the private folder still is what was staged from it. */
  isSame({ changes, program }: GitSnapshot): boolean {
    const now = this.#program.list();
    if (now === null || now.isInProgress) return false;
    const staged = new Map(changes.map(({ path, copy }) => [path.slice(1).join("/"), copy]));
    for (const [name, stamp] of now.files)
      if (name.endsWith(".lock") || (this.#isStaged(name, program) && !isSameStamp(staged.get(name) ?? null, stamp)))
        return false;
    return [...staged.keys()].every((name) => name.startsWith("objects/") || now.files.has(name));
  }

  /** Before a draft with a snapshot begins: what both sides were in step with. */
  writeSeed(draftFolder: string): void {
    writeLinkedSeed(draftFolder, this.#seed, this.#index);
  }

  /** The program's values are the person's from now on, but for what is never carried over. `index`: as it was staged. */
  landed({ program }: GitSnapshot, notCarried: readonly UnlandedChange[], index: Buffer | null): void {
    this.#refused = null;
    for (const told of notCarried) this.#notCarried.set(told.path, told);
    const left = new Set(notCarried.map(({ path }) => path.slice(GIT.length + 1)));
    const before = this.#base;
    const names = new Set([...before.program.refs.keys(), ...program.refs.keys()]);
    const carried = [...names].filter(
      (name) =>
        program.refs.get(name) !== before.program.refs.get(name) &&
        checkRefName(name) === "imported" &&
        !left.has(name) &&
        (name !== STASH || program.refs.has(STASH)),
    );
    const person = withRefs(before.person, new Map(carried.map((name) => [name, program.refs.get(name)])));
    // Its lines have another author there.
    const isStash = program.stashLog !== before.program.stashLog;
    const stashLog = isStash ? (this.#person.stashLog ?? person.stashLog) : person.stashLog;
    this.#index = index ?? this.#index;
    this.#base = { program, person: { ...person, head: program.head, index: program.index, stashLog } };
    this.#store();
  }

  refused({ key }: GitSnapshot, told: UnlandedChange): void {
    const attempts = this.#refused?.key === key ? this.#refused.attempts + 1 : 1;
    const rest = Math.min(restMillisecondsMax, restMilliseconds * 2 ** attempts);
    this.#refused = { key, attempts, told, nextAttempt: performance.now() + rest };
    // An object may have been removed from the person's repository.
    this.#present.clear();
  }

  /** After the program: what is left, with settings and hooks that never land; null where nothing is. */
  async rest(): Promise<GitRest | null> {
    const listing = this.#program.list();
    if (listing === null) return null;
    const program = this.#program.state(listing);
    const person = this.#person.read() ?? this.#base.person;
    const isChanged = hasProgramChange({ base: this.#base, program, person });
    const others = this.#written(listing, TOLD);
    if (!isChanged && others.length === 0) return null;
    const { changes } = await this.#snapshot(program, "", others);
    const told = isChanged ? (this.#refused?.told ?? null) : null;
    return { changes, conflict: told?.code === "draft_conflict" ? told : null };
  }

  /** For the report at the end: the program's changes that have no counterpart in the person's repository. */
  get notCarried(): readonly UnlandedChange[] {
    const { program, person } = this.#base;
    return [...this.#notCarried.values()].filter(({ path }) => {
      const name = path.slice(GIT.length + 1);
      return program.refs.get(name) !== person.refs.get(name);
    });
  }

  /** After the program: "unlisted" where it is there and cannot be stored as a draft. */
  get condition(): "listed" | "unlisted" | "gone" {
    return this.#program.list() !== null ? "listed" : this.#program.isThere ? "unlisted" : "gone";
  }

  /** True where something was written. */
  async #carryIn(plan: ReturnType<typeof planGitStep>, program: GitState, person: GitState): Promise<boolean> {
    const carried = new Map<string, string | undefined>();
    let count = 0;
    // A name may be free for a folder only after the ref with this name is gone.
    const deleted = plan.refs.filter((name) => !person.refs.has(name));
    for (const name of [...deleted, ...plan.refs.filter((one) => person.refs.has(one))]) {
      const ref = person.refs.get(name);
      if (++count % refsPerTurn === 0) await setImmediate();
      if (this.#program.writeRef(name, ref ?? null, program)) carried.set(name, ref);
    }
    let more: Partial<GitState> = {};
    if (plan.isStashCarried && this.#program.writeStash(person, program)) {
      carried.set(STASH, person.refs.get(STASH));
      more = { stashLog: person.refs.has(STASH) ? person.stashLog : "" };
    }
    const { checkout } = plan;
    if (checkout !== null) {
      const index = checkout.index ? this.#person.indexWith(person.index) : null;
      if (index !== undefined && this.#program.writeCheckout(checkout, person, index, program)) {
        if (checkout.branch !== null) carried.set(checkout.branch, person.refs.get(checkout.branch));
        if (checkout.head) more = { ...more, head: person.head };
        if (checkout.index) {
          more = { ...more, index: person.index };
          this.#index = index;
        }
      }
    }
    if (carried.size === 0 && Object.keys(more).length === 0) return false;
    this.#base = {
      program: { ...withRefs(this.#base.program, carried), ...more },
      person: { ...withRefs(this.#base.person, carried), ...more },
    };
    this.#store();
    return true;
  }

  /** Values that both sides have now. */
  #settle(base: GitBase): void {
    if (base === this.#base) return;
    const isSameIndex = base.program.index === this.#base.program.index;
    const index = isSameIndex ? this.#index : this.#person.indexWith(base.person.index);
    // The person's index has changed again: the next step compares it.
    if (index === undefined) return;
    this.#index = index;
    this.#base = base;
    this.#store();
  }

  get #seed(): LinkedSeed {
    const { seed } = this.#parts;
    const { program, person } = this.#base;
    return {
      ...{ folder: seed.folder, common: seed.common, head: program.head, stashLog: program.stashLog },
      // By value alone.
      marks: { head: "", index: "" },
      refs: this.#ids(program),
      personRefs: this.#ids(person),
      files: Object.fromEntries(Object.entries(seed.files).filter(([name]) => !BY_VALUE.has(name))),
    };
  }

  #ids({ refs }: GitState): readonly (readonly [string, string])[] {
    return [...refs].filter(([, id]) => isObjectId(id, this.#parts.format));
  }

  /** For a recovery after a crash. */
  #store(): void {
    writeLinkedSeed(this.#parts.folder, this.#seed, this.#index);
  }

  /** Files of these kinds that the program wrote. */
  #written(
    { files }: GitListing,
    kinds: readonly GitName["kind"][],
  ): readonly (readonly [name: string, stamp: FileStamp])[] {
    return [...files].filter(
      ([name, stamp]) =>
        kinds.includes(gitName(name.split("/")).kind) && !isSameStamp(this.#seeded.get(name) ?? null, stamp),
    );
  }

  async #snapshot(
    program: GitState,
    key: string,
    others: readonly (readonly [name: string, stamp: FileStamp])[],
  ): Promise<GitSnapshot> {
    const files = [...(this.#program.list()?.files ?? [])].filter(([name]) => this.#isStaged(name, program));
    const objects = await this.#newObjects();
    const named = [
      ...files,
      ...others,
      ...objects.map(({ folder, file, stamp }) => [`objects/${folder}/${file}`, stamp] as const),
    ];
    return { changes: named.map(([name, stamp]) => changeOf(name, stamp)), program, key };
  }

  /**
   * Every file that an import reads is staged, so that a missing one is a deleted one. A symbolic ref that is what it was is no
   * change, and cannot be told from one in a draft.
   */
  #isStaged(name: string, { refs }: GitState): boolean {
    const ref = refs.get(name);
    const isLink = ref?.startsWith("ref: ") === true && ref === this.#base.program.refs.get(name);
    return BY_VALUE.has(name) || (isRef(name) && !isLink);
  }

  /** Objects that the person's repository does not have. */
  async #newObjects(): Promise<readonly PrivateObject[]> {
    const { linked, format } = this.#parts;
    const packs = PackNames.open(join(linked.common, "objects"), format);
    const found: PrivateObject[] = [];
    try {
      let count = 0;
      for (const object of this.#program.objects()) {
        const { folder, file } = object;
        const id = `${folder}${file}`;
        if (this.#present.has(id)) continue;
        if (++count % objectsPerTurn === 0) await setImmediate();
        const isThere = folder !== "pack" && (packs.has(id) || hasLooseObject(linked.common, folder, file));
        if (isThere) this.#present.add(id);
        else found.push(object);
      }
    } finally {
      packs.close();
    }
    return found;
  }
}

function changeOf(name: string, copy: FileStamp): SideChange {
  return { path: [GIT, ...name.split("/")], real: null, copy, isRealChanged: false, isCopyChanged: true };
}

function keyOf(program: GitState, person: GitState): string {
  return sha256(
    JSON.stringify([program, person].map((one) => [one.head, [...one.refs].sort(), one.stashLog, one.index])),
  );
}

/** After a crash: whether the private git folder has what both sides were in step with last, and nothing more. */
export function isUnchangedGit(copy: TreeFolder, seed: ReadSeed): boolean {
  const format = readFormat(seed);
  const stored = readGitFile(seed.indexFile, indexBytesMax, "the index of the seed");
  if (!format.ok || !stored.ok) return false;
  const git = new PrivateGit(copy, format.value.format);
  const listing = git.list();
  if (listing === null) return false;
  const { head, refs, stashLog, index } = git.state(listing);
  const ids = [...refs].filter(([, ref]) => !ref.startsWith("ref: "));
  const known = new Map(seed.refs);
  const isSameState =
    head === seed.head &&
    stashLog === seed.stashLog &&
    index === indexDigest(stored.value, format.value.format) &&
    ids.length === known.size &&
    ids.every(([name, id]) => known.get(name) === id);
  const isTold = (name: string): boolean => TOLD.includes(gitName(name.split("/")).kind);
  return (
    isSameState &&
    [...listing.files.keys()].every((name) => !isTold(name) || git.digest(listing, name) === seed.files[name])
  );
}
