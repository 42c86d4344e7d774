// The path ground of this machine with links followed: a folder has one real name, and a home folder with two names is
// protected under both.
import type { Ground } from "../core/authority/axes/path.ts";
import { segmentsOf, type UserFolders } from "./folders.ts";
import { absoluteSegments, asHome, protectedBelow } from "./ground.ts";
import { followFolders, realRoot } from "./real-path.ts";

export interface GroundOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Its `.ambit` folder is protected: agents must not write their own grants, whatever root contains it. */
  readonly workspace: string | null;
}

/**
 * The ground for each folder that relative paths may be resolved against; the protected paths are the same for all of
 * them and are computed once. Absent on purpose: following each protected path. Some lead to the working directory, and
 * all cost time.
 */
export function machineGround({ home, folders, workspace }: GroundOptions): (base: string) => Ground {
  const written = home === null ? null : absoluteSegments(home);
  const real = written === null ? null : realRoot(written);
  const own = workspace === null ? null : `${workspace}/.ambit`;
  const ours = [folders.config, folders.state, own].flatMap((folder) => (folder === null ? [] : [segmentsOf(folder)]));
  const homes = [written, real].filter((one) => one !== null);
  const protectedPaths = protectedBelow(homes, [...ours, ...ours.flatMap(followed)]);
  const inside = workspace === null ? null : segmentsOf(workspace);
  return (folder) => {
    const start = absoluteSegments(folder);
    const base = start === null ? null : realRoot(start);
    return { home: asHome(real), base, protectedPaths, followed: (path) => followFolders(path, inside) };
  };
}

function followed(path: readonly string[]): readonly (readonly string[])[] {
  const real = realRoot(path);
  return real === null || real.length === 0 ? [] : [real];
}
