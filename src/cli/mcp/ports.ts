// The ports of the commands about MCP servers.
import type { EditableServers } from "../../agents/disk/server-files.ts";
import type { RegistrySources } from "../../clients/servers/npm-registry.ts";
import type { IndexSources } from "../../clients/servers/pip-index.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import type { ClientSettings } from "../connect/connect.ts";
import type { ControlPorts } from "../control-ports.ts";
import type { AdmitPorts } from "../trust/admit.ts";

/** Waits at a loopback address for the end of a sign-in. */
export interface RedirectWait {
  readonly address: string;
  /** Null where it did not come in time. */
  wait(state: string, milliseconds: number): Promise<URLSearchParams | null>;
  close(): void;
}

export interface ServersPorts extends ControlPorts, AdmitPorts {
  redirects(): Promise<RedirectWait>;
  readonly cwd: string;
  readonly clientSettings: ClientSettings;
  readonly reading: Reading;
  /** What chooses the registry of the person's npm. */
  npmSettings(): Omit<RegistrySources, "option">;
  /** What chooses the index of the person's pip and uv. */
  pipSettings(): Promise<Omit<IndexSources, "option">>;
  readonly servers: EditableServers & {
    /** The tree of a YAML text; null where it has none. An empty text is an empty tree. */
    tree(source: Source): TreeNode | null;
  };
}
