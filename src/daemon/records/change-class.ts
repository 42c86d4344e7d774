// How a tool may change a path, evaluated without the daemon: from the current configurations and disk.

import type { Agents } from "../../agents/disk/agents.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Config } from "../../core/notation/config/config.ts";
import type { WrittenTriggers } from "../../core/notation/config/trigger-setting.ts";
import type { FilePath } from "../../core/ports/files.ts";
import { strictTriggers, TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import { GrantedTrees } from "../contexts/granted-trees.ts";
import { type ChangeClass, ProtectedFiles, type ProtectedFilesOptions } from "../contexts/protected-files.ts";

/** `triggers:` and `runtime:` of the user's configuration, and of the project's if it is trusted. */
export function writtenTriggers(
  agents: Pick<Agents, "opened" | "user">,
): readonly [user: WrittenTriggers, project: WrittenTriggers, runtime: Config["runtime"]] {
  const { project } = agents.opened();
  const own = project.isConfigAsTrusted ? project.config?.config : null;
  const user = agents.user()?.config;
  return [strictTriggers(user), strictTriggers(own), [...(user?.runtime ?? []), ...(own?.runtime ?? [])]];
}

export interface ChangeClassOptions extends ProtectedFilesOptions {
  readonly workspace: string | null;
  readonly agents: Pick<Agents, "opened" | "user">;
}

/** What `fs_write` would answer about a path, for an agent with this authority. */
export function changeClassOf(options: ChangeClassOptions): (authority: Authority, path: FilePath) => ChangeClass {
  return (authority, path) => {
    const trees = new GrantedTrees();
    const roots = trees.writable(trees.of(authority, path));
    const table = new TriggerTable(...writtenTriggers(options.agents));
    return new ProtectedFiles(options).of(roots, { workspace: options.workspace, table })(path);
  };
}
