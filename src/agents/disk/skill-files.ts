// Where skills are on disk: folders with a SKILL.md in each.

import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import {
  type FolderListing,
  type ListedFile,
  type ListingLimits,
  type ListingProblem,
  listFolder,
} from "../../platform/listing.ts";

/** Relative to the workspace. */
export const SKILLS = ".ambit/skills";
/** Below the home folder: skills that agent clients share. */
export const SHARED_SKILLS = ".agents/skills";
/** Below the home folder and in a project: skills that a client reads by itself, and ambit does not offer. */
export const CLIENT_SKILLS: readonly string[] = [".claude/skills", ".codex/skills", ".opencode/skill"];
/** Below the user's configuration. */
export const USER_SKILLS = "skills";

const FILE = "SKILL.md";
const skillsMax = 1000;
const LIMITS: ListingLimits = {
  filesMax: skillsMax,
  depthMax: 1,
  entriesMax: 100_000,
  fileBytesMax: 4 * 1024 * 1024,
  bytesMax: 64 * 1024 * 1024,
};

/** A project's skills. Links are not followed, and subfolders of a skill are not entered. */
export function listProjectSkills(workspace: string, now: number, below: string = SKILLS): FolderListing {
  const folder = join(workspace, below);
  const isEntered = (path: string): boolean => !path.includes("/");
  return listFolder({ folder, inside: workspace, now, limits: LIMITS, isWanted: isSkillFile, isEntered });
}

function isSkillFile(path: string): boolean {
  return path.split("/").length === 2 && path.endsWith(`/${FILE}`);
}

/**
 * A user's own skills. Links are followed, because users link skills from elsewhere and only they can write this
 * folder.
 */
export function listOwnSkills(folder: string): FolderListing {
  const files: ListedFile[] = [];
  const problems: ListingProblem[] = [];
  const names = namesIn(folder, problems);
  if (names.length > skillsMax)
    problems.push({
      path: "",
      code: "too_large",
      message: `there are more than ${skillsMax} names here; the rest is ignored`,
    });
  for (const name of names.slice(0, skillsMax)) {
    const path = `${name}/${FILE}`;
    try {
      if (!statSync(join(folder, name)).isDirectory()) continue;
      realpathSync.native(join(folder, path));
      files.push({ path, stamp: "", settled: false });
    } catch (error) {
      if (errorCode(error) !== "ENOENT")
        problems.push({ path, code: "not_understood", message: `this skill cannot be read (${errorCode(error)})` });
    }
  }
  return { files, problems };
}

function namesIn(folder: string, problems: ListingProblem[]): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith("."))
      .sort();
  } catch (error) {
    if (errorCode(error) !== "ENOENT")
      problems.push({ path: "", code: "not_understood", message: `this folder cannot be read (${errorCode(error)})` });
    return [];
  }
}
