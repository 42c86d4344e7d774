// Transfers new objects into a repository: one confined git packs them from the draft, another receives and checks them
// in a quarantine. Object ids are recomputed from content, so a file under a wrong id is useless.

import { closeSync, createReadStream, openSync, readSync, writeFileSync } from "node:fs";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { GitImportPlan, RepositoryState } from "../../plan/drafts/git/import-plan.ts";
import { entriesByPath } from "../../plan/drafts/git/index-changes.ts";
import type { GitIndex } from "../../plan/drafts/git/index-file.ts";
import { isObjectId, type ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import type { Plan } from "../../plan/plan.ts";
import { type ConfinedGit, type GitOutput, inputOf } from "./confined-git.ts";
import { packBytesMax, type Workbench } from "./workbench.ts";

export interface NewObjects {
  /** Commits the repository does not have yet. */
  readonly commits: readonly string[];
  readonly count: number;
  /** The name of the pack in the quarantine ("pack-..."); null where nothing is new. */
  readonly pack: string | null;
}

/** Two commits. `from` null: `to` has no parent. */
export interface Comparison {
  readonly from: string | null;
  readonly to: string;
}

const knownTipsMax = 5_000;
const newObjectsMax = 500_000;
const objectBytesMax = 512 * 1_048_576;
const totalBytesMax = 4 * 1_073_741_824;
const commitsMax = 20_000;

/** Commits, tags and blobs the import needs. */
export function requiredIds({ refs, stash, head, index }: GitImportPlan): readonly string[] {
  const ids = [
    ...refs.flatMap(({ newId }) => newId ?? []),
    ...(stash?.pushes.map(({ id }) => id) ?? []),
    ...(head?.to.kind === "id" ? [head.to.id] : []),
    // The commit that a submodule entry names is in another repository.
    ...index.flatMap(({ after }) => after.filter(({ mode }) => mode !== 0o160000).map(({ id }) => id)),
  ];
  return [...new Set(ids)];
}

/** Tips whose history the repository has; those the import replaces come first. */
export function knownIds({ refs }: GitImportPlan, real: RepositoryState): readonly string[] {
  const ids = new Set(refs.flatMap(({ oldId }) => oldId ?? []));
  if (real.head.value.kind === "id") ids.add(real.head.value.id);
  for (const { value: ref } of real.looseRefs.values()) if (ref.kind === "id") ids.add(ref.id);
  for (const id of real.packedRefs.value.values()) {
    if (ids.size >= knownTipsMax) break;
    ids.add(id);
  }
  return [...ids].slice(0, knownTipsMax);
}

export class ObjectImport {
  readonly #git: ConfinedGit;
  readonly #bench: Workbench;
  readonly #taking: Plan;
  readonly #format: ObjectFormat;

  constructor(git: ConfinedGit, bench: Workbench, format: ObjectFormat) {
    this.#git = git;
    this.#bench = bench;
    this.#taking = bench.taking();
    this.#format = format;
  }

  /** Everything reachable from `wanted` that the repository lacks is in the quarantine afterwards, complete and checked. */
  async take(wanted: readonly string[], known: readonly string[], hasFiles: boolean): Promise<GitResult<NewObjects>> {
    if (wanted.length === 0) return value({ commits: [], count: 0, pack: null });
    const revisions = [...wanted, ...known.map((id) => `^${id}`)].join("\n");
    let pack: string | null = null;
    if (hasFiles) {
      const taken = await this.#repack(`${revisions}\n`);
      if (!taken.ok) return taken;
      pack = taken.value;
    }
    const listed = await this.#git.run(this.#taking, {
      words: ["rev-list", "--objects", "--no-object-names", "--stdin"],
      input: inputOf(`${revisions}\n`),
    });
    const list = succeeded(listed, "the objects of the draft are not complete");
    if (!list.ok) return list;
    const ids = list.value.output.toString("latin1").split("\n").slice(0, -1);
    if (ids.length === 0) return value({ commits: [], count: 0, pack });
    if (ids.length > newObjectsMax) return refuseGit("too_large", `more than ${newObjectsMax} new objects`);
    const commits = await this.#commitsOf(ids);
    return commits.ok ? value({ commits: commits.value, count: ids.length, pack }) : commits;
  }

  /** Whether `id` is a commit, and not any other object. */
  async isCommit(id: string): Promise<GitResult<boolean>> {
    const types = await this.#types([id]);
    return types.ok ? value(types.value[0]?.type === "commit") : types;
  }

  /** The types of the objects that refs name, after peeling tags. */
  async peeledTypes(ids: readonly string[]): Promise<GitResult<readonly string[]>> {
    if (ids.length === 0) return value([]);
    const printed = await this.#git.run(this.#taking, {
      words: ["cat-file", "--batch-check=%(objecttype)", "--buffer"],
      input: inputOf(ids.map((id) => `${id}^{}\n`).join("")),
    });
    const types = succeeded(printed, "tags of the draft cannot be read");
    return types.ok ? value(types.value.output.toString("latin1").split("\n").slice(0, -1)) : types;
  }

  /** Whether one of the tips has all of the history of `id`. */
  async isReached(id: string, tips: readonly string[]): Promise<GitResult<boolean>> {
    const listed = await this.#git.run(this.#taking, {
      words: ["rev-list", "--max-count=1", "--stdin"],
      input: inputOf(`${id}\n${tips.map((tip) => `^${tip}\n`).join("")}`),
    });
    const list = succeeded(listed, "the history of a deleted ref cannot be read");
    return list.ok ? value(list.value.output.length === 0) : list;
  }

  /** Whether all of the history of `oldId` is in that of `newId`. */
  async isFastForward(oldId: string, newId: string): Promise<GitResult<boolean>> {
    const words = ["merge-base", "--is-ancestor", oldId, newId];
    const result = await this.#git.run(this.#taking, { words });
    return result.ok ? value(result.value.status === 0) : result;
  }

  /** Whether the index has the tree of a commit and nothing more. */
  async isIndexOf(commit: string, index: GitIndex | null): Promise<GitResult<boolean>> {
    const listed = await this.#git.run(this.#taking, { words: ["ls-tree", "-r", "-z", "--full-tree", commit] });
    const list = succeeded(listed, "the tree of a commit cannot be listed");
    if (!list.ok) return list;
    const lines = list.value.output.toString("latin1").split("\0").slice(0, -1);
    const entries = [...entriesByPath(index).values()].flat();
    const own = new Set(
      entries.map(({ mode, id, stage, path }) => `${mode.toString(8).padStart(6, "0")} ${id} ${stage}\t${path}`),
    );
    return value(
      lines.length === entries.length &&
        lines.every((line) => own.has(line.replace(/^(\d+) \w+ (\w+)\t/, (_, mode, id) => `${mode} ${id} 0\t`))),
    );
  }

  /** The parents of each commit, in their order. */
  async parents(commits: readonly string[]): Promise<GitResult<ReadonlyMap<string, readonly string[]>>> {
    const parents = new Map<string, readonly string[]>();
    if (commits.length === 0) return value(parents);
    const listed = await this.#git.run(this.#taking, {
      words: ["rev-list", "--no-walk=unsorted", "--parents", "--stdin"],
      input: inputOf(`${commits.join("\n")}\n`),
    });
    const list = succeeded(listed, "the parents of the new commits cannot be listed");
    if (!list.ok) return list;
    for (const line of list.value.output.toString("latin1").split("\n").slice(0, -1)) {
      const [commit = "", ...above] = line.split(" ");
      parents.set(commit, above);
    }
    return commits.every((commit) => parents.has(commit))
      ? value(parents)
      : refuseGit("bad_objects", "the parents of a new commit are not listed");
  }

  /** Raw changes of each commit from another one, or from an empty tree where it has none. */
  async diff(comparisons: readonly Comparison[]): Promise<GitResult<string>> {
    if (comparisons.length === 0) return value("");
    const diffed = await this.#git.run(this.#taking, {
      words: ["diff-tree", "--stdin", "-r", "--root", "--raw", "-z", "--no-renames", "--no-abbrev"],
      input: inputOf(comparisons.map(({ from, to }) => (from === null ? `${to}\n` : `${to} ${from}\n`)).join("")),
    });
    const diff = succeeded(diffed, "the changes of the new commits cannot be listed");
    return diff.ok ? value(diff.value.output.toString("latin1")) : diff;
  }

  /** Raw changes of each merge of two from what git itself makes of its parents. */
  async mergeDiff(merges: readonly string[]): Promise<GitResult<string>> {
    if (merges.length === 0) return value("");
    const format = ["--raw", "-r", "-z", "--format=%H", "--no-renames", "--no-abbrev"];
    const diffed = await this.#git.run(this.#taking, {
      words: ["log", "--no-walk=unsorted", "--stdin", "--remerge-diff", ...format],
      input: inputOf(`${merges.join("\n")}\n`),
    });
    const diff = succeeded(diffed, "the new merges cannot be compared with those of git 2.35 or later");
    return diff.ok ? value(diff.value.output.toString("latin1")) : diff;
  }

  /** Content of small blobs as byte strings, by id. */
  async blobs(ids: readonly string[]): Promise<GitResult<ReadonlyMap<string, string>>> {
    const blobs = new Map<string, string>();
    if (ids.length === 0) return value(blobs);
    const printed = await this.#git.run(this.#taking, {
      words: ["cat-file", "--batch", "--buffer"],
      input: inputOf(`${ids.join("\n")}\n`),
    });
    const read = succeeded(printed, "links of the new commits cannot be read");
    if (!read.ok) return read;
    const text = read.value.output.toString("latin1");
    let at = 0;
    for (const id of ids) {
      const end = text.indexOf("\n", at);
      const bytes = Number(text.slice(at, end).split(" ")[2]);
      if (end < 0 || !text.startsWith(`${id} blob `, at) || !Number.isSafeInteger(bytes))
        return refuseGit("bad_objects", `the link ${id} is not a blob`);
      blobs.set(id, text.slice(end + 1, end + 1 + bytes));
      at = end + bytes + 2;
    }
    return value(blobs);
  }

  /** The name of the pack, or null where the repository has everything already. */
  async #repack(revisions: string): Promise<GitResult<string | null>> {
    const file = openSync(this.#bench.packFile, "wx", 0o600);
    let packed: GitResult<GitOutput>;
    try {
      packed = await this.#git.run(this.#bench.packing(), {
        // `--local` leaves out what the repository has, whatever its location in the draft.
        words: ["pack-objects", "--revs", "--local", "--delta-base-offset", "--quiet", "--stdout"],
        input: inputOf(revisions),
        sink: (bytes) => writeFileSync(file, bytes),
      });
    } catch (error) {
      return refuseGit(
        "unavailable",
        `the objects of the draft cannot be written to the state folder (${errorCode(error)})`,
      );
    } finally {
      closeSync(file);
    }
    const written = succeeded(packed, "the objects of the draft cannot be packed");
    if (!written.ok) return written;
    if (objectCount(this.#bench.packFile) === 0) return value(null);
    const taken = await this.#git.run(this.#taking, {
      words: ["index-pack", "--stdin", "--strict", "--fsck-objects", `--max-input-size=${packBytesMax}`],
      input: createReadStream(this.#bench.packFile),
    });
    const indexed = succeeded(taken, "git refuses the objects of the draft");
    if (!indexed.ok) return indexed;
    const id = /^pack\t([0-9a-f]+)\n/.exec(indexed.value.output.toString("latin1"))?.[1];
    if (id === undefined || !isObjectId(id, this.#format))
      return refuseGit("bad_objects", "git index-pack named no pack");
    return value(`pack-${id}`);
  }

  async #commitsOf(ids: readonly string[]): Promise<GitResult<readonly string[]>> {
    const types = await this.#types(ids);
    if (!types.ok) return types;
    let total = 0;
    const commits: string[] = [];
    for (const { id, type, bytes } of types.value) {
      total += bytes;
      if (bytes > objectBytesMax || total > totalBytesMax)
        return refuseGit("too_large", `the object ${id} is too large for an import`);
      if (type === "commit") commits.push(id);
    }
    return commits.length > commitsMax ? refuseGit("too_large", `more than ${commitsMax} new commits`) : value(commits);
  }

  async #types(
    ids: readonly string[],
  ): Promise<GitResult<readonly { readonly id: string; readonly type: string; readonly bytes: number }[]>> {
    const checked = await this.#git.run(this.#taking, {
      words: ["cat-file", "--batch-check", "--buffer"],
      input: inputOf(`${ids.join("\n")}\n`),
    });
    const check = succeeded(checked, "new objects cannot be read");
    if (!check.ok) return check;
    const lines = check.value.output.toString("latin1").split("\n").slice(0, -1);
    const types = lines.map((line) => {
      const [id = "", type = "", bytes = ""] = line.split(" ");
      return { id, type, bytes: Number(bytes) };
    });
    return types.length === ids.length && types.every(({ bytes }) => Number.isSafeInteger(bytes))
      ? value(types)
      : refuseGit("bad_objects", "an object that the draft needs is missing");
  }
}

function succeeded(result: GitResult<GitOutput>, what: string): GitResult<GitOutput> {
  if (!result.ok || result.value.status === 0) return result;
  return refuseGit("bad_objects", `${what}: ${result.value.errors || `status ${result.value.status}`}`);
}

/** From the header of a pack: "PACK", a version, a number. */
function objectCount(pack: string): number {
  const header = Buffer.alloc(12);
  const file = openSync(pack, "r");
  try {
    return readSync(file, header, 0, 12, 0) === 12 ? header.readUInt32BE(8) : 0;
  } finally {
    closeSync(file);
  }
}
