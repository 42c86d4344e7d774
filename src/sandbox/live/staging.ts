// Stages changes of a live copy in the upper folder of a draft: new files that no sandbox has seen, so the draft is
// sealed from its start.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  symlinkSync,
} from "node:fs";
import { chmod, copyFile, open } from "node:fs/promises";
import { join } from "node:path";
import { type FileStamp, isSameStamp, stampOf, type TreeFolder } from "./tree-folder.ts";

/** A name of the copy to land; `copy` is null where the name is deleted. */
export interface StagedChange {
  readonly path: readonly string[];
  readonly copy: FileStamp | null;
}

export interface StagedFile extends StagedChange {
  /** SHA-256 of a file's content; null for anything else. */
  readonly digest: string | null;
}

export interface StagingOptions {
  /** The live copy. */
  readonly copy: TreeFolder;
  /** Absolute: the upper folder of a new draft. */
  readonly upper: string;
  /** Path of the native program. */
  readonly program: string;
}

/**
 * The names that could be staged unchanged; a name that changed in the meantime is left out. Rejects as the system
 * does.
 */
export async function stage(changes: readonly StagedChange[], options: StagingOptions): Promise<readonly StagedFile[]> {
  const staged: StagedFile[] = [];
  const deleted: StagedChange[] = [];
  const gone = new Set(changes.filter(({ copy }) => copy === null).map(({ path }) => path.join("/")));
  for (const change of [...changes].sort((left, right) => left.path.length - right.path.length)) {
    // A deleted folder is deleted with its content.
    if (isBelow(change.path, gone) || !makeParents(options.upper, change.path)) continue;
    if (change.copy === null) deleted.push(change);
    else {
      const digest = await stageOne(change.path, change.copy, options);
      if (digest !== false) staged.push({ ...change, digest });
    }
  }
  await makeWhiteouts(
    options,
    deleted.map(({ path }) => path),
  );
  return [...staged, ...deleted.map((change) => ({ ...change, digest: null }))];
}

function isBelow(path: readonly string[], gone: ReadonlySet<string>): boolean {
  return path.some((_, at) => at > 0 && gone.has(path.slice(0, at).join("/")));
}

/** INVARIANT: every parent folder is one that we created: nothing is written through a staged link. */
function makeParents(upper: string, path: readonly string[]): boolean {
  let folder = upper;
  for (const name of path.slice(0, -1)) {
    folder = join(folder, name);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(folder, { mode: 0o700 });
    else if (!found.isDirectory()) return false;
  }
  return true;
}

/** The digest of a file, null for a folder or a link; false where it has changed. */
async function stageOne(
  path: readonly string[],
  seen: FileStamp,
  { copy, upper }: StagingOptions,
): Promise<string | null | false> {
  const name = path.at(-1) ?? "";
  const target = join(upper, ...path);
  const parent = copy.descend(path.slice(0, -1));
  if (parent === null) return false;
  try {
    if (!isSameStamp(parent.stamp(name), seen)) return false;
    if (seen.kind === "folder") {
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined) mkdirSync(target, { mode: 0o700 });
      return null;
    }
    if (seen.kind === "link") {
      symlinkSync(parent.readLink(name), target);
      return null;
    }
    const isSame = await copyPlainFile(parent, name, seen, target);
    return isSame ? await digestOf(target) : false;
  } finally {
    parent.close();
  }
}

/** Copies a plain file by its open descriptor; false where it is another one, or changed during the copy. */
export async function copyPlainFile(
  parent: TreeFolder,
  name: string,
  seen: FileStamp,
  target: string,
): Promise<boolean> {
  const opened = parent.openFile(name);
  if (opened === null) return false;
  const { descriptor: source, facts } = opened;
  try {
    const isSeen = (now: BigIntStats): boolean => isSameStamp(stampOf(now, parent.device), seen);
    if (!isSeen(facts)) return false;
    await copyFile(`/proc/self/fd/${source}`, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(target, seen.isExecutable ? 0o755 : 0o644);
    return isSeen(fstatSync(source, { bigint: true }));
  } finally {
    closeSync(source);
  }
}

/** The project's state of a name that landed; null where it is no longer what was staged. */
export async function landedStamp({ path, copy, digest }: StagedFile, real: TreeFolder): Promise<FileStamp | null> {
  const parent = real.descend(path.slice(0, -1));
  if (parent === null || copy === null) {
    parent?.close();
    return null;
  }
  const name = path.at(-1) ?? "";
  try {
    const before = parent.stamp(name);
    if (before === null || before === "other" || before.kind !== copy.kind) return null;
    if (digest === null) return before;
    const isSame = (await digestOf(parent.pathOf(name)).catch(() => null)) === digest;
    return isSame && isSameStamp(parent.stamp(name), before) ? before : null;
  } finally {
    parent.close();
  }
}

async function digestOf(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const hash = createHash("sha256");
    for await (const bytes of file.createReadStream({ autoClose: false })) hash.update(bytes as Uint8Array);
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}

function makeWhiteouts({ program, upper }: StagingOptions, paths: readonly (readonly string[])[]): Promise<void> {
  if (paths.length === 0) return Promise.resolve();
  const folder = openSync(upper, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, ["whiteouts", "3"], { stdio: ["pipe", "ignore", "pipe", folder], env: {} });
    let said = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      said = `${said}${bytes.toString("utf8")}`.slice(0, 400);
    });
    child.once("error", reject);
    child.once("close", (status) =>
      status === 0 ? resolve() : reject(new Error(`deletions cannot be marked: ${said.trim()}`)),
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(paths.map((path) => `${path.join("/")}\0`).join(""));
  }).finally(() => closeSync(folder));
}
