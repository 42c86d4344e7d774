// What the commands about MCP servers are handed by the composition.
import type { EditableServers } from "../../agents/disk/server-files.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import type { ControlWorld } from "../control-world.ts";
import type { AdmitWorld } from "../trust/admit.ts";

export interface ServersWorld extends ControlWorld, AdmitWorld {
  readonly cwd: string;
  readonly servers: EditableServers & {
    /** The tree of a YAML text; null where it has none. An empty text is an empty tree. */
    tree(source: Source): TreeNode | null;
  };
}
