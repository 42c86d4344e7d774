// Git's own lock on one of its files: `<name>.lock`, created exclusively, then renamed over the file or removed.

import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";

const pauseMilliseconds = 25;

export class LockFile {
  readonly path: string;
  readonly #target: string;
  #isHeld = true;

  private constructor(target: string) {
    this.#target = target;
    this.path = `${target}.lock`;
  }

  /** Waits briefly for another git to end. */
  static async take(target: string, waitMilliseconds: number): Promise<GitResult<LockFile>> {
    const tries = Math.ceil(waitMilliseconds / pauseMilliseconds);
    for (let attempt = 0; ; attempt += 1) {
      try {
        closeSync(openSync(`${target}.lock`, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666));
        return value(new LockFile(target));
      } catch (error) {
        if (errorCode(error) !== "EEXIST")
          return refuseGit("unavailable", `the repository cannot be locked (${errorCode(error)})`);
        if (attempt >= tries)
          return refuseGit("busy", `another git process holds ${nameOf(target)}.lock; try again when it has ended`);
      }
      await pause(pauseMilliseconds);
    }
  }

  /**
   * The lock starts as a copy of the locked file, or as `empty` where there is none; git edits the lock instead of the
   * file.
   */
  copyTarget(empty: Uint8Array): GitResult<null> {
    try {
      copyFileSync(this.#target, this.path, constants.COPYFILE_FICLONE);
      return value(null);
    } catch (error) {
      if (errorCode(error) !== "ENOENT")
        return refuseGit("unavailable", `${nameOf(this.#target)} cannot be copied (${errorCode(error)})`);
    }
    this.write(empty);
    return value(null);
  }

  write(content: string | Uint8Array): void {
    const fd = openSync(this.path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  /** Replaces the file by the lock's content. */
  commit(): GitResult<null> {
    try {
      const fd = openSync(this.path, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        if (!fstatSync(fd).isFile()) return refuseGit("conflict", `${nameOf(this.path)} was replaced`);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(this.path, this.#target);
      this.#isHeld = false;
      return value(null);
    } catch (error) {
      return refuseGit("unavailable", `${nameOf(this.#target)} cannot be replaced (${errorCode(error)})`);
    }
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    try {
      if (lstatSync(this.path).isFile()) unlinkSync(this.path);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
