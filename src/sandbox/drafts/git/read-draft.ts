// Reads what a sealed draft changed below a git folder semantically: HEAD, refs, index, stash log, and the names of new
// object files. Nothing else is carried over; the relevant part of the rest is reported to the person.
import { join } from "node:path";
import type { Change } from "../../plan/drafts/change.ts";
import { gitName } from "../../plan/drafts/git/folder-names.ts";
import { type GitResult, printable, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { DraftObjectFile, GitDraft } from "../../plan/drafts/git/import-plan.ts";
import { type GitIndex, indexBytesMax } from "../../plan/drafts/git/index-file.ts";
import type { ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import {
  looseRefBytesMax,
  packedRefsBytesMax,
  parsePackedRefs,
  parseRefFile,
  type RefValue,
} from "../../plan/drafts/git/ref-file.ts";
import { stashLogBytesMax } from "../../plan/drafts/git/stash-log.ts";
import { readGitFile } from "./git-files.ts";
import { type GitRepository, parseIndexFile } from "./repository.ts";

const objectFilesMax = 100_000;
const objectBytesMax = 2 * 1_073_741_824;
const changedRefsMax = 20_000;
const notCarriedMax = 64;

/** `upper`: the folder that holds the changed files of the draft, in the layout of an overlay. */
export function readGitDraft(
  { gitPath }: GitRepository,
  changes: readonly Change[],
  upper: string,
  format: ObjectFormat,
): GitResult<GitDraft> {
  const reader = new DraftReader(upper, format);
  for (const change of changes) {
    if (!gitPath.every((name, at) => change.path[at] === name)) continue;
    if (change.path.length === gitPath.length)
      return refuseGit("unsupported", "the program replaced or removed the git folder itself");
    const problem = reader.read(change, change.path.slice(gitPath.length));
    if (!problem.ok) return problem;
  }
  return value(reader.draft());
}

class DraftReader {
  readonly #upper: string;
  readonly #format: ObjectFormat;
  #head: RefValue | null = null;
  #packedRefs: ReadonlyMap<string, string> | null = null;
  #index: GitIndex | null = null;
  #stashLog: string | null = null;
  #objectBytes = 0;
  readonly #looseRefs = new Map<string, { value: RefValue | null; hadBase: boolean }>();
  readonly #objects: DraftObjectFile[] = [];
  readonly #notCarried = new Set<string>();

  constructor(upper: string, format: ObjectFormat) {
    this.#upper = upper;
    this.#format = format;
  }

  draft(): GitDraft {
    return {
      head: this.#head,
      looseRefs: this.#looseRefs,
      packedRefs: this.#packedRefs,
      index: this.#index,
      stashLog: this.#stashLog,
      objects: this.#objects,
      notCarried: [...this.#notCarried],
    };
  }

  /** `below`: the path below the git folder. */
  read(change: Change, below: readonly string[]): GitResult<null> {
    const name = gitName(below);
    const shown = below.join("/");
    switch (name.kind) {
      case "dropped":
        return value(null);
      case "not-carried":
        return this.#skip(change, shown);
      case "in-progress":
        if (change.kind === "delete") return value(null);
        return refuseGit("in_progress", `a ${name.operation} is in progress in the draft; finish or abort it`);
      case "unsupported":
        return refuseGit("unsupported", `the program gave the repository ${name.what}`);
      case "head":
        return this.#readHead(change);
      case "index":
        return this.#readIndex(change);
      case "packed-refs":
        return this.#readPackedRefs(change);
      case "stash-log":
        return this.#readStashLog(change);
      case "ref":
        return this.#readRef(change, name.name);
      case "loose-object":
        return this.#addObject(change, name.folder, name.file);
      case "pack":
        return this.#addObject(change, "pack", `${name.stem}.${name.extension}`);
      default:
        return name satisfies never;
    }
  }

  #skip(change: Change, shown: string): GitResult<null> {
    if (change.kind !== "folder" && this.#notCarried.size < notCarriedMax) this.#notCarried.add(printable(shown));
    return value(null);
  }

  #readHead(change: Change): GitResult<null> {
    const text = this.#text(change, looseRefBytesMax);
    if (!text.ok) return text;
    if (text.value === null) return refuseGit("malformed", "the program removed HEAD");
    const head = parseRefFile(text.value, this.#format, "HEAD");
    if (!head.ok) return head;
    this.#head = head.value;
    return value(null);
  }

  #readIndex(change: Change): GitResult<null> {
    if (change.kind === "delete") return this.#skip(change, "index");
    const file = this.#file(change, indexBytesMax);
    if (!file.ok) return file;
    if (file.value === null) return refuseGit("malformed", "the index of the draft is missing");
    const index = parseIndexFile(file.value, this.#format);
    if (!index.ok) return index;
    this.#index = index.value;
    return value(null);
  }

  #readPackedRefs(change: Change): GitResult<null> {
    const text = this.#text(change, packedRefsBytesMax);
    if (!text.ok) return text;
    const refs = parsePackedRefs(text.value ?? "", this.#format);
    if (!refs.ok) return refs;
    this.#packedRefs = refs.value;
    return value(null);
  }

  #readStashLog(change: Change): GitResult<null> {
    const text = this.#text(change, stashLogBytesMax);
    if (!text.ok) return text;
    this.#stashLog = text.value ?? "";
    return value(null);
  }

  #readRef(change: Change, name: string): GitResult<null> {
    if (change.kind === "folder") return value(null);
    if (this.#looseRefs.size >= changedRefsMax)
      return refuseGit("too_large", `more than ${changedRefsMax} refs changed`);
    const hadBase = change.base?.kind === "file";
    // Git removes folders of refs that are empty.
    if (change.kind === "delete" && !hadBase) return value(null);
    const text = this.#text(change, looseRefBytesMax);
    if (!text.ok) return text;
    if (text.value === null) {
      this.#looseRefs.set(name, { value: null, hadBase });
      return value(null);
    }
    const ref = parseRefFile(text.value, this.#format, name);
    if (!ref.ok) return ref;
    this.#looseRefs.set(name, { value: ref.value, hadBase });
    return value(null);
  }

  #addObject(change: Change, folder: string, file: string): GitResult<null> {
    if (change.kind === "link") return this.#skip(change, `objects/${folder}/${file}`);
    if (change.kind !== "file") return value(null);
    this.#objectBytes += change.bytes;
    if (this.#objects.length >= objectFilesMax || this.#objectBytes > objectBytesMax)
      return refuseGit(
        "too_large",
        `the draft has more than ${objectFilesMax} object files or ${objectBytesMax} bytes`,
      );
    this.#objects.push({ folder, file, bytes: change.bytes });
    return value(null);
  }

  /** Null for a deleted file. Byte strings. */
  #text(change: Change, bytesMax: number): GitResult<string | null> {
    const file = this.#file(change, bytesMax);
    return file.ok ? value(file.value?.bytes.toString("latin1") ?? null) : file;
  }

  #file(change: Change, bytesMax: number): ReturnType<typeof readGitFile> {
    const name = change.path.join("/");
    if (change.kind === "delete") return value(null);
    if (change.kind !== "file") return refuseGit("malformed", `${printable(name)} is not a regular file`);
    return readGitFile(join(this.#upper, ...change.path), bytesMax, name);
  }
}
