// The folders of one import, all in our state: git folders with our own configuration, the draft's objects under plain
// names, and a quarantine for the new pack.

import { constants, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errorCode } from "../../../core/base/error-code.ts";
import { importConfig } from "../../plan/drafts/git/environment.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { DraftObjectFile } from "../../plan/drafts/git/import-plan.ts";
import type { ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import type { Plan } from "../../plan/plan.ts";
import { gitPlan } from "./confined-git.ts";
import { kindAt } from "./git-files.ts";

export interface WorkbenchParts {
  /** A folder of our state; a new folder is created in it and removed at the end. */
  readonly parent: string;
  readonly format: ObjectFormat;
  /** The person's git folder with refs and objects, and their worktree. */
  readonly common: string;
  readonly worktree: string;
  /** The ids of commits whose parents the repository lacks, from the person's `shallow`; null where it has all. */
  readonly shallow: string | null;
  /** Folders of objects the repository borrows from. */
  readonly borrowed: readonly string[];
}

export const packBytesMax = 1_073_741_824;
const filesAtOnce = 256;

/** HEAD of our own git folders names a ref that is never written. */
const HEAD = "ref: refs/ambit/none\n";

export class Workbench {
  readonly folder: string;
  readonly #parts: WorkbenchParts;

  private constructor(folder: string, parts: WorkbenchParts) {
    this.folder = folder;
    this.#parts = parts;
  }

  static open(parts: WorkbenchParts): GitResult<Workbench> {
    const { common, worktree, format } = parts;
    if (/[\n"\\]/.test(common + worktree + parts.parent + parts.borrowed.join("")))
      return refuseGit("unsupported", "the path of the repository has a quote, a backslash or a line feed");
    try {
      mkdirSync(parts.parent, { recursive: true, mode: 0o700 });
      const folder = mkdtempSync(join(realpathSync.native(parts.parent), "git-import-"));
      const bench = new Workbench(folder, parts);
      for (const name of [
        "git/refs",
        "git/objects",
        "draft/info",
        "pack",
        "quarantine/info",
        "quarantine/pack",
        "real",
      ])
        mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, "git/config"), importConfig(format, true, false));
      writeFileSync(join(folder, "git/HEAD"), HEAD);
      for (const objects of ["draft", "quarantine"])
        writeFileSync(join(folder, objects, "info/alternates"), `${join(common, "objects")}\n`);
      // INVARIANT: nothing in `real` names the repository's own config or hooks; git finds refs, logs and locks through links.
      const hasLogs = kindAt(join(common, "logs"))?.kind === "folder";
      writeFileSync(join(folder, "real/config"), importConfig(format, false, hasLogs));
      writeFileSync(join(folder, "real/HEAD"), HEAD);
      for (const name of ["refs", "packed-refs", ...(hasLogs ? ["logs"] : [])])
        symlinkSync(join(common, name), join(folder, "real", name));
      if (parts.shallow !== null)
        for (const name of ["git", "real"]) writeFileSync(join(folder, name, "shallow"), parts.shallow);
      return value(bench);
    } catch (error) {
      return refuseGit("unavailable", `the folder for an import cannot be created (${errorCode(error)})`);
    }
  }

  /** Where `git index-pack` leaves the new pack. */
  get quarantine(): string {
    return join(this.folder, "quarantine");
  }

  /** Buffer file for the pack that one git writes and the other reads. */
  get packFile(): string {
    return join(this.folder, "new.pack");
  }

  get hasLogs(): boolean {
    return kindAt(join(this.folder, "real/logs")) !== null;
  }

  /** Reads the draft's objects and the repository's, prints a pack, writes nothing. */
  packing(): Plan {
    return gitPlan({
      writable: null,
      readable: [join(this.folder, "git"), join(this.folder, "draft"), this.#objects, ...this.#parts.borrowed],
      directory: join(this.folder, "git"),
      limits: { outputBytes: packBytesMax },
      environment: [
        ["GIT_DIR", join(this.folder, "git")],
        ["GIT_OBJECT_DIRECTORY", join(this.folder, "draft")],
      ],
    });
  }

  /** Receives a pack into the quarantine and checks it together with the repository's objects. */
  taking(): Plan {
    return gitPlan({
      writable: this.quarantine,
      readable: [join(this.folder, "git"), this.#objects, ...this.#parts.borrowed],
      directory: this.quarantine,
      environment: [
        ["GIT_DIR", join(this.folder, "git")],
        ["GIT_OBJECT_DIRECTORY", this.quarantine],
      ],
    });
  }

  /** Writes refs, logs and the index of the repository. Its own git folder is not GIT_DIR, so its config is not read. */
  writing(indexFile: string, lockMilliseconds: number): Plan {
    const { common, worktree, borrowed } = this.#parts;
    return gitPlan({
      writable: common,
      readable: [worktree, join(this.folder, "real"), this.quarantine, ...borrowed],
      directory: worktree,
      // A prepared transaction waits while the worktree's files land.
      limits: { wallMilliseconds: 600_000 },
      lockMilliseconds,
      environment: [
        ["GIT_DIR", join(this.folder, "real")],
        ["GIT_WORK_TREE", worktree],
        ["GIT_OBJECT_DIRECTORY", this.#objects],
        ["GIT_ALTERNATE_OBJECT_DIRECTORIES", `"${this.quarantine}"`],
        ["GIT_INDEX_FILE", indexFile],
      ],
    });
  }

  /** Object files of the draft under their own names, as links where the file system allows it. */
  async addDraftObjects(objectsFolder: string, files: readonly DraftObjectFile[]): Promise<GitResult<null>> {
    const made = new Set<string>();
    try {
      for (const [at, { folder, file }] of files.entries()) {
        // Yields to the event loop.
        if (at % filesAtOnce === filesAtOnce - 1) await nextTurn();
        const to = join(this.folder, "draft", folder);
        if (!made.has(folder)) mkdirSync(to, { mode: 0o700 });
        made.add(folder);
        const from = join(objectsFolder, folder, file);
        if (kindAt(from)?.kind !== "file")
          return refuseGit("malformed", `objects/${folder}/${file} is not a regular file`);
        await linkOrCopy(from, join(to, file));
      }
      return value(null);
    } catch (error) {
      return refuseGit("unavailable", `the objects of the draft cannot be read (${errorCode(error)})`);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #objects(): string {
    return join(this.#parts.common, "objects");
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to);
  } catch (error) {
    if (errorCode(error) !== "EXDEV" && errorCode(error) !== "EPERM" && errorCode(error) !== "EMLINK") throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}
