// This machine's ground after links are followed: a folder has one name, and a home under two names is protected twice.
import type { Ground } from "../core/authority/axes/path.ts";
import { segmentsOf, type UserFolders } from "./folders.ts";
import { absoluteSegments, asHome, protectedBelow } from "./ground.ts";
import { realRoot } from "./real-path.ts";

export interface GroundAsked {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Its `.ambit` is protected: what agents may do is not theirs to write, whatever root lies around it. */
  readonly workspace: string | null;
}

/**
 * The ground at each folder that relative paths may be read by; what is protected is the same at all of them, and is
 * listed once. Absent on purpose: following each protected path. Some lead to the working directory, and all cost time.
 */
export function machineGround({ home, folders, workspace }: GroundAsked): (base: string) => Ground {
  const written = home === null ? null : absoluteSegments(home);
  const real = written === null ? null : realRoot(written);
  const own = workspace === null ? null : `${workspace}/.ambit`;
  const ours = [folders.config, folders.state, own].flatMap((folder) => (folder === null ? [] : [segmentsOf(folder)]));
  const homes = [written, real].filter((one) => one !== null);
  const protectedPaths = protectedBelow(homes, [...ours, ...ours.flatMap(followed)]);
  return (base) => {
    const start = absoluteSegments(base);
    return { home: asHome(real), base: start === null ? null : realRoot(start), protectedPaths };
  };
}

function followed(path: readonly string[]): readonly (readonly string[])[] {
  const real = realRoot(path);
  return real === null || real.length === 0 ? [] : [real];
}
