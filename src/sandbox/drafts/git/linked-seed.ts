// Creates the private git folder of a draft where the root's `.git` is a file: current HEAD, index and refs, copies of
// config and hooks, objects borrowed from the person's repository, which the sandbox shows read-only. Git inside works
// as in any repository, and nothing it writes reaches the person's git folder. The initial state is stored beside the
// draft for the import to compare.

import { hash } from "node:crypto";
import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { writeWhole } from "../../../platform/write-whole.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { isObjectId, type ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import {
  looseRefBytesMax,
  packedRefsBytesMax,
  parsePackedRefs,
  type RefValue,
} from "../../plan/drafts/git/ref-file.ts";
import { stashLogBytesMax } from "../../plan/drafts/git/stash-log.ts";
import { kindAt, readGitFile } from "./git-files.ts";
import type { LinkedGit } from "./linked-git.ts";
import { type RepositoryMarks, readFormat, readLooseRefs, readMarks } from "./repository.ts";

/** The initial state of a private git folder; of a live root, the state in which it was last in step with the person's. */
export interface LinkedSeed {
  readonly folder: string;
  readonly common: string;
  /** Of the person's HEAD and index. */
  readonly marks: RepositoryMarks;
  /** The text of HEAD. */
  readonly head: string;
  /** Every ref with its id. Symbolic refs are left out: no draft changes them. */
  readonly refs: readonly (readonly [name: string, id: string])[];
  /** Those of the person's, where they differ: a dropped stash, for example, is not carried over. */
  readonly personRefs?: readonly (readonly [name: string, id: string])[];
  /** A byte string. */
  readonly stashLog: string;
  /** Digests of the created files, by path below the git folder. */
  readonly files: Readonly<Record<string, string>>;
}

/** With the initial index, a copy beside the draft that may be missing. */
export interface ReadSeed extends LinkedSeed {
  readonly indexFile: string;
}

/** Beside `upper` in the folder of a draft. */
const SEED_FOLDER = "linked-git";
const SEED_FILE = "seed.json";
const SEED_INDEX = "index";

const copiedFilesMax = 256;
const copiedBytesMax = 4 * 1_048_576;
const indexFileBytesMax = 128 * 1_048_576;
const seedBytesMax = 64 * 1_048_576;

/** Copied where they exist. Of `folder`: the files of one worktree; of `common`: those all worktrees share. */
const COMMON_FILES: readonly string[] = ["info/exclude", "info/attributes", "shallow", "description"];
const OWN_FILES: readonly string[] = ["config.worktree", "info/sparse-checkout", "logs/HEAD"];

/**
 * `gitFolder`: where the private git folder is made; by default in `upper`, which is empty. Nothing of it is used where this is
 * not ok.
 */
export function seedLinkedGit(
  draftFolder: string,
  linked: LinkedGit,
  gitFolder: string = join(draftFolder, "upper", ".git"),
): GitResult<null> {
  try {
    return new Seeding(draftFolder, linked, gitFolder).make();
  } catch (error) {
    return refuseGit("unavailable", `the private git folder of a draft cannot be created (${errorCode(error)})`);
  }
}

/** Null where the draft has none. Throws for a seed that cannot be read: its draft never lands. */
export function readLinkedSeed(draftFolder: string): ReadSeed | null {
  const path = join(draftFolder, SEED_FOLDER, SEED_FILE);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile() || found.size > seedBytesMax) throw new TypeError(`${SEED_FILE} is not a seed`);
  const seed = JSON.parse(readFileSync(path, "utf8")) as Partial<LinkedSeed> | null;
  if (typeof seed?.folder !== "string" || typeof seed.common !== "string" || !Array.isArray(seed.refs))
    throw new TypeError(`${SEED_FILE} is not a seed`);
  return { ...(seed as LinkedSeed), indexFile: join(draftFolder, SEED_FOLDER, SEED_INDEX) };
}

/** `index`: null where there is none. Throws as the system does. */
export function writeLinkedSeed(draftFolder: string, seed: LinkedSeed, index: Uint8Array | null): void {
  const folder = join(draftFolder, SEED_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // INVARIANT: the index first. After a crash in between it has what the person's has, and the refs are compared by value.
  if (index === null) rmSync(join(folder, SEED_INDEX), { force: true });
  else writeWhole(join(folder, SEED_INDEX), index);
  writeWhole(join(folder, SEED_FILE), JSON.stringify(seed));
}

export function fileDigest(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}

class Seeding {
  readonly #draftFolder: string;
  readonly #linked: LinkedGit;
  readonly #git: string;
  readonly #files: Record<string, string> = {};
  #copied = 0;
  #copiedBytes = 0;

  constructor(draftFolder: string, linked: LinkedGit, gitFolder: string) {
    this.#draftFolder = draftFolder;
    this.#linked = linked;
    this.#git = gitFolder;
  }

  make(): GitResult<null> {
    const { folder, common } = this.#linked;
    const format = readFormat(this.#linked);
    if (!format.ok) return format;
    // INVARIANT: read before the files they identify, so that a change in between counts as one.
    const marks = readMarks(this.#linked);
    const head = readGitFile(join(folder, "HEAD"), looseRefBytesMax, "HEAD");
    if (!head.ok) return head;
    if (head.value === null) return refuseGit("unsupported", "the worktree has no HEAD");
    const refs = allRefs(common, format.value.format);
    if (!refs.ok) return refs;
    const stash = readGitFile(join(common, "logs/refs/stash"), stashLogBytesMax, "logs/refs/stash");
    if (!stash.ok) return stash;
    mkdirSync(join(this.#git, "objects/info"), { recursive: true });
    for (const name of ["objects/pack", "refs/heads", "refs/tags", "info"])
      mkdirSync(join(this.#git, name), { recursive: true });
    mkdirSync(join(this.#draftFolder, SEED_FOLDER), { mode: 0o700 });
    this.#write("HEAD", head.value.bytes);
    this.#write("objects/info/alternates", `${join(common, "objects")}\n`);
    const packed = refs.value.flatMap(([name, ref]) => (ref.kind === "id" ? [[name, ref.id] as const] : []));
    this.#write("packed-refs", packed.map(([name, id]) => `${id} ${name}\n`).join(""));
    for (const [name, ref] of refs.value) if (ref.kind === "symbolic") this.#write(name, `ref: ${ref.target}\n`);
    if (stash.value !== null) this.#write("logs/refs/stash", stash.value.bytes);
    this.#copyConfig();
    for (const name of COMMON_FILES) this.#copy(join(common, name), name);
    for (const name of OWN_FILES) this.#copy(join(folder, name), name);
    this.#copyHooks(join(common, "hooks"));
    this.#copyIndex(folder);
    const seed: LinkedSeed = {
      ...{ folder, common, marks, refs: packed, files: this.#files },
      head: head.value.bytes.toString("latin1"),
      stashLog: stash.value?.bytes.toString("latin1") ?? "",
    };
    writeFileSync(join(this.#draftFolder, SEED_FOLDER, SEED_FILE), JSON.stringify(seed), { mode: 0o600 });
    return value(null);
  }

  /** The person's config, except that the worktree is the parent of the private git folder. */
  #copyConfig(): void {
    const config = readGitFile(join(this.#linked.common, "config"), copiedBytesMax, "config");
    const text = config.ok ? (config.value?.bytes ?? Buffer.alloc(0)) : Buffer.alloc(0);
    const worktree = this.#linked.kind === "submodule" ? "\tworktree = ..\n" : "";
    this.#write("config", Buffer.concat([text, Buffer.from(`\n[core]\n\tbare = false\n${worktree}`)]));
  }

  #copyHooks(hooks: string): void {
    if (kindAt(hooks)?.kind !== "folder") return;
    for (const name of readdirSync(hooks).slice(0, copiedFilesMax))
      if (!name.endsWith(".sample")) this.#copy(join(hooks, name), `hooks/${name}`);
  }

  /** A split index has the rest of its entries in separate files. */
  #copyIndex(folder: string): void {
    const shared = readdirSync(folder).filter((name) => /^sharedindex\.[0-9a-f]{40,64}$/.test(name));
    for (const name of [SEED_INDEX, ...shared.slice(0, 4)]) {
      const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
      if (found?.isFile() !== true || found.size > indexFileBytesMax) continue;
      copyFileSync(join(folder, name), join(this.#git, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      copyFileSync(join(this.#git, name), join(this.#draftFolder, SEED_FOLDER, name), constants.COPYFILE_FICLONE);
      this.#files[name] = fileDigest(readFileSync(join(this.#git, name)));
    }
  }

  /** Regular files within limits; others are left out, and git inside works without them. */
  #copy(from: string, name: string): void {
    const found = lstatSync(from, { throwIfNoEntry: false });
    if (found?.isFile() !== true || this.#copied >= copiedFilesMax) return;
    if (this.#copiedBytes + found.size > copiedBytesMax) return;
    const file = readGitFile(from, copiedBytesMax, name);
    if (!file.ok || file.value === null) return;
    this.#copied += 1;
    this.#copiedBytes += file.value.bytes.length;
    this.#write(name, file.value.bytes, (found.mode & 0o100) === 0 ? 0o644 : 0o755);
  }

  #write(name: string, content: string | Buffer, mode = 0o644): void {
    const path = join(this.#git, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode, flag: "wx" });
    this.#files[name] = fileDigest(content);
  }
}

/** In the order that git requires of packed refs. */
export function allRefs(common: string, format: ObjectFormat): GitResult<readonly (readonly [string, RefValue])[]> {
  const loose = readLooseRefs(common, format, () => true);
  if (!loose.ok) return loose;
  const file = readGitFile(join(common, "packed-refs"), packedRefsBytesMax, "packed-refs");
  if (!file.ok) return file;
  const packed = parsePackedRefs(file.value?.bytes.toString("latin1") ?? "", format);
  if (!packed.ok) return packed;
  const refs = new Map<string, RefValue>([...packed.value].map(([name, id]) => [name, { kind: "id", id }]));
  for (const [name, { value: ref }] of loose.value.looseRefs) refs.set(name, ref);
  const named = [...refs].filter(([name, ref]) => isShared(name) && (ref.kind !== "id" || isObjectId(ref.id, format)));
  return value(named.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** False for refs that every worktree has for itself. */
export function isShared(name: string): boolean {
  return !/^refs\/(bisect|worktree|rewritten)\//.test(name);
}
