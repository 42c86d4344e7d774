// What every command stands on: where we are, whose folders count, and the agents that are found from here.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { toAscii } from "../../platform/ascii.ts";
import { type UserFolders, userFolders } from "../../platform/folders.ts";
import { homeFolder } from "../../platform/ground.ts";
import { lazy } from "../../platform/lazy.ts";
import { machineGround } from "../../platform/machine-ground.ts";
import { realRoot } from "../../platform/real-path.ts";
import { type Agents, openAgents } from "./agents.ts";
import { findWorkspace } from "./workspace.ts";

export interface Asking {
  readonly workspace: string | null;
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly moment: Moment;
  readonly agents: Agents;
  /** As relative paths are read in a folder. */
  readingAt(base: string): Reading;
  /** In the working directory. */
  reading(): Reading;
  /** The agents again, after a workspace was made. */
  reopen(): Agents;
}

export interface AskedAt {
  readonly cwd: string;
  readonly now: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function askingAt({ cwd, now, environment }: AskedAt): Asking {
  const workspace = findWorkspace(cwd);
  const home = homeFolder();
  const folders = userFolders({ environment, home, workspace });
  const moment: Moment = { now, clean: true, generation: 0, revoked: null, exhausted: null };
  const groundAt = lazy(() => machineGround({ home, folders, workspace }));
  const readingAt = (base: string): Reading => ({ ground: groundAt()(base), toAscii, ceiling: null, realRoot });
  const open = (inside: string | null): Agents =>
    openAgents({ cwd, workspace: inside, home, folders, moment, readingAt });
  return {
    workspace,
    home,
    folders,
    moment,
    agents: open(workspace),
    readingAt,
    reading: lazy(() => readingAt(cwd)),
    reopen: () => open(findWorkspace(cwd)),
  };
}
