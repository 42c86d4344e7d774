// What every command starts from: the working directory, the user's folders, and the agents found from here.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { toAscii } from "../../platform/ascii.ts";
import { type UserFolders, userFolders } from "../../platform/folders.ts";
import { lazy } from "../../platform/lazy.ts";
import { homeFolder, machinePathSettings } from "../../platform/path-settings.ts";
import { realRoot } from "../../platform/real-path.ts";
import { type Agents, openAgents } from "./agents.ts";
import { findWorkspace } from "./workspace.ts";

export interface CommandContext {
  readonly workspace: string | null;
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly moment: Moment;
  readonly agents: Agents;
  /** A reading whose relative paths start in a folder. */
  readingAt(base: string): Reading;
  /** A reading in the working directory. */
  reading(): Reading;
  /** Loads the agents again, after a workspace was created. */
  reopen(): Agents;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly now: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function commandContext({ cwd, now, environment }: CommandOptions): CommandContext {
  const workspace = findWorkspace(cwd);
  const home = homeFolder();
  const folders = userFolders({ environment, home, workspace });
  const moment: Moment = { now, clean: true, generation: 0, revoked: null, exhausted: null };
  const groundAt = lazy(() => machinePathSettings({ home, folders, workspace }));
  const readingAt = (base: string): Reading => ({ pathSettings: groundAt()(base), toAscii, ceiling: null, realRoot });
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
