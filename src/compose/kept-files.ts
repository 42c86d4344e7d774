// Which names file tools leave as they are on this machine: the names themselves, and where links among them lead.
import { findNames } from "../node/find-names.ts";
import { segmentsOf, type UserFolders } from "../node/folders.ts";
import { realRoot } from "../node/real-path.ts";
import { registeredWorkspaces } from "../node/registered-workspaces.ts";
import type { FilePath } from "../ports/files.ts";
import { isKeptBy, keptPaths } from "../tools/files/kept.ts";

export interface KeptFilesAsked {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Of our package. */
  readonly program: string;
}

type IsKept = (path: FilePath) => boolean;

/** What cannot be listed is not written: then everything stays as it is. */
const EVERYTHING: IsKept = () => true;

export function keptFiles(
  { home, folders, program }: KeptFilesAsked,
  roots: readonly FilePath[],
  workspace: string | null,
): IsKept {
  const known = registeredWorkspaces(folders.state);
  if (known === null) return EVERYTHING;
  const workspaces = [...known, ...(workspace === null ? [] : [workspace])].flatMap(namesOf);
  const ours = [folders.state, folders.config, program].flatMap((one) => (one === null ? [] : namesOf(one)));
  const homeReal = home === null ? null : (realRoot(segmentsOf(home)) ?? segmentsOf(home));
  const patterns = keptPaths({ home: homeReal, workspaces, ours, roots });
  const found = findNames(patterns);
  if (found === null) return EVERYTHING;
  const behind = found.flatMap(({ path, kind, target }) => {
    if (kind !== "link" || target === null) return [];
    return patterns
      .filter((pattern) => path.every((name, at) => pattern[at] === "*" || pattern[at] === name))
      .map((pattern) => [...target, ...pattern.slice(path.length)]);
  });
  return isKeptBy([...patterns, ...behind]);
}

/** By the name it is known by, and by where it lies. */
function namesOf(path: string): readonly FilePath[] {
  const named = segmentsOf(path);
  const real = realRoot(named);
  return real === null ? [named] : [named, real];
}
