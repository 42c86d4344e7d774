// What `init` needs from this machine: probing, files that are written once, and trust in the user's own files.

import type { Agents } from "../agents/disk/agents.ts";
import type { InitPorts } from "../cli/init/init.ts";
import { detect } from "../platform/detect.ts";
import { writeNew } from "../platform/write-new.ts";

export interface InitEnvironment {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly home: string | null;
  /** The folders of the caller's programs. */
  readonly path: string;
  /** Opened again: agents loaded before the files were written do not include them. */
  reopen(): Agents;
}

type InitParts = Pick<InitPorts, "project" | "isWorkspace" | "look" | "write" | "trust">;

export function initParts({ cwd, workspace, home, path, reopen }: InitEnvironment): InitParts {
  const folder = workspace ?? cwd;
  return {
    project: folder === "/" || folder === home ? null : folder,
    isWorkspace: workspace !== null,
    look: () => detect(folder, home, path),
    write: (file, text) => writeNew(folder, file, text),
    // An `.ambit` folder that existed before may have come with the project: `ambit trust` reviews it.
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
