// Moves a pack from the quarantine into a person's repository: new files under new names, never replacing another.

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, copyFile, link, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { kindAt } from "./git-files.ts";

/** The index comes last: git looks for packs by their index. */
const EXTENSIONS: readonly string[] = ["pack", "rev", "idx"];

/** Copies rather than links: the new files are inodes no confined process ever had open. */
export async function placePack(
  quarantine: string,
  objects: string,
  pack: string,
): Promise<GitResult<readonly string[]>> {
  const placed: string[] = [];
  const folder = join(objects, "pack");
  try {
    for (const extension of EXTENSIONS) {
      const from = join(quarantine, "pack", `${pack}.${extension}`);
      if (kindAt(from)?.kind !== "file") {
        if (extension === "rev") continue;
        return refuseGit("bad_objects", `the new pack has no .${extension} file`);
      }
      // Git removes stale files of this name by itself.
      const draft = join(folder, `tmp_pack_ambit-${randomUUID()}.${extension}`);
      await copyFile(from, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      try {
        await chmod(draft, 0o444);
        await sync(draft);
        if (await linkNew(draft, join(folder, `${pack}.${extension}`))) placed.push(`${pack}.${extension}`);
      } finally {
        await unlink(draft);
      }
    }
    await sync(folder);
    return value(placed);
  } catch (error) {
    return refuseGit("unavailable", `the new objects cannot be written to the repository (${errorCode(error)})`);
  }
}

/** False: the name exists. A pack is named by its content, so the repository has these objects. */
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST" && kindAt(to)?.kind === "file") return false;
    throw error;
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
