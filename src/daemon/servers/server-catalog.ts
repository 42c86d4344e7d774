// The MCP servers in effect for a workspace, read again when their files or the trust in them changed.
import { type LoadedServer, type LoadedServers, loadServers, serverTexts } from "../../agents/disk/server-files.ts";
import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { serverRoot } from "./server-run.ts";

export type CatalogServer = LoadedServer;

export interface ServerCatalogOptions {
  readonly folders: UserFolders;
  readingAt(folder: string): Reading;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
}

export type ServerName = Pick<CatalogServer["server"], "name" | "level">;

/** An edit applies within a second. */
const freshMilliseconds = 300;
const workspacesMax = 64;

interface CachedServers {
  readonly at: number;
  readonly mark: string;
  readonly loaded: LoadedServers;
}

export class ServerCatalog {
  readonly #options: ServerCatalogOptions;
  readonly #cached = new Map<string, CachedServers>();

  constructor(options: ServerCatalogOptions) {
    this.#options = options;
  }

  /** The same objects while nothing has changed. `isFresh`: as the files are at this moment; `cwd`: where relative paths of the user's own file start without a workspace. */
  of(workspace: string | null, cwd: string, isFresh = false): LoadedServers {
    const { folders, readingAt, elapsed } = this.#options;
    const key = workspace ?? ` ${cwd}`;
    const before = this.#cached.get(key);
    const at = elapsed();
    if (before !== undefined && !isFresh && at - before.at < freshMilliseconds) return before.loaded;
    const texts = serverTexts(workspace, folders);
    const mark = JSON.stringify(texts);
    const loaded = before?.mark === mark ? before.loaded : loadServers(texts, workspace, readingAt(workspace ?? cwd));
    this.#cached.delete(key);
    this.#cached.set(key, { at, mark, loaded });
    for (const oldest of this.#cached.keys()) if (this.#cached.size > workspacesMax) this.#cached.delete(oldest);
    return loaded;
  }
}

/** A user's own server has one pin; a project's has one in each workspace. */
export function pinKey({ server, workspace }: CatalogServer): string {
  return pinKeyOf(server, workspace);
}

function pinKeyOf({ name, level }: ServerName, workspace: string | null): string {
  return `mcp.pin ${level} ${level === "user" ? "" : workspace} ${name}`;
}

/** The key of the pin of a server that no file has; null where one has it, or cannot be read. */
export function orphanKey(wanted: ServerName, workspace: string | null, loaded: LoadedServers): string | null {
  const isThere = loaded.servers.some(({ server }) => server.name === wanted.name && server.level === wanted.level);
  return isThere || loaded.problems.length > 0 ? null : pinKeyOf(wanted, workspace);
}

/** Relative paths in arguments start where the server does. */
export function groundOf({ reading, server }: CatalogServer): PathSettings {
  const root = serverRoot(server);
  return root === null ? reading.pathSettings : { ...reading.pathSettings, base: root };
}
