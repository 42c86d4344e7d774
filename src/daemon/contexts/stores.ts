// The power of the store tools: the shared stores of a session's workspace, and the session's authority to read each item.
import { judge } from "../../core/authority/judge.ts";
import type { StorePowers } from "../../tools/stores/store-tools.ts";
import type { Daemon } from "../daemon.ts";
import type { Records } from "../parts.ts";
import type { Session } from "../session.ts";
import type { WorkspaceStores } from "../stores/workspace-stores.ts";
import type { PowersOptions } from "../tools/daemon-tool.ts";

export interface StorePowersOptions {
  readonly records: Pick<Records, "workspaceOf">;
  stores(): WorkspaceStores;
  held(session: Session): ReturnType<Daemon["held"]>;
}

export function storePowers(asked: StorePowersOptions): (call: PowersOptions) => StorePowers {
  return ({ session, taint }) => {
    const { name, cwd } = session.facts;
    const workspace = name.workspace ?? asked.records.workspaceOf(cwd);
    const held = asked.held(session);
    if (workspace === null || held === null) return { stores: null };
    const { authority } = held.holding;
    return {
      stores: {
        list: async () => {
          const found = await asked.stores().list(workspace);
          return "ok" in found ? found : found.map(({ items: _, revision: __, ...view }) => view);
        },
        content: (store) => asked.stores().content(workspace, store),
        write: (store, key, value, revision) =>
          asked
            .stores()
            .write(
              workspace,
              { store, key, value, revision },
              { who: session.who(), name: name.agent, isClean: session.isClean },
            ),
        mayRead: (request) => judge(authority, request, held.moment).outcome === "allow",
        taint,
      },
    };
  };
}
