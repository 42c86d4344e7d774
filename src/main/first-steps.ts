// What `init` needs of this machine: a look around, files that are written once, and trust in one's own files.

import type { Agents } from "../agents/disk/agents.ts";
import type { InitWorld } from "../cli/init/init.ts";
import { detect } from "../platform/detect.ts";
import { writeNew } from "../platform/write-new.ts";

export interface FirstPlace {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly home: string | null;
  /** Opened anew: what was read before the files were written knows nothing of them. */
  reopen(): Agents;
}

type InitParts = Pick<InitWorld, "project" | "isWorkspace" | "look" | "write" | "trust">;

export function initParts({ cwd, workspace, home, reopen }: FirstPlace): InitParts {
  const folder = workspace ?? cwd;
  return {
    project: folder === "/" || folder === home ? null : folder,
    isWorkspace: workspace !== null,
    look: () => detect(folder, home),
    write: (path, text) => writeNew(folder, path, text),
    // Where there was an `.ambit` before, it may have come with the project: that is for `ambit trust` to show.
    trust: () => workspace === null && trustOwn(reopen()),
  };
}

function trustOwn(agents: Agents): boolean {
  const opened = agents.openProject();
  if (opened === null) return false;
  const { store, review } = opened;
  if (store === null) return true;
  return !store.exists && store.trust(review.toTrust, review.digest).ok;
}
