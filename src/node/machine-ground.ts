// This machine's ground after links are followed: a folder has one name, and a home under two names is protected twice.
import type { Ground } from "../authority/path.ts";
import { segmentsOf, type UserFolders } from "./folders.ts";
import { groundOf } from "./ground.ts";
import { realRoot } from "./real-path.ts";

export interface GroundAsked {
  readonly home: string | null;
  /** What relative paths are read by. */
  readonly base: string;
  readonly folders: UserFolders;
  /** Its `.ambit` is protected: what agents may do is not theirs to write, whatever root lies around it. */
  readonly workspace: string | null;
}

/** Absent on purpose: following each protected path. Some lead to the working directory, and all cost time. */
export function machineGround({ home, base, folders, workspace }: GroundAsked): Ground {
  const written = groundOf({ home, cwd: base });
  const realHome = written.home === null ? null : realRoot(written.home);
  const real = groundOf({ home: realHome === null ? null : `/${realHome.join("/")}`, cwd: null });
  const own = workspace === null ? null : `${workspace}/.ambit`;
  const ours = [folders.config, folders.state, own].flatMap((folder) => (folder === null ? [] : [segmentsOf(folder)]));
  const paths = [...written.protectedPaths, ...real.protectedPaths, ...ours, ...ours.flatMap(followed)];
  return {
    home: real.home,
    base: written.base === null ? null : realRoot(written.base),
    protectedPaths: [...new Map(paths.map((path) => [path.join("/"), path])).values()],
  };
}

function followed(path: readonly string[]): readonly (readonly string[])[] {
  const real = realRoot(path);
  return real === null || real.length === 0 ? [] : [real];
}
