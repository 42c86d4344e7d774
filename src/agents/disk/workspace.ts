// Where agents are on disk: the nearest folder with an `.ambit`, and the files that define agents.
import { type Dirent, lstatSync, opendirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { agentIdOf, parseAgentId } from "../../core/base/agent-id.ts";
import { memberFile, type OrgFile, readOrgFile } from "./org-file.ts";

const FOLDER = ".ambit";
/** The agents folder, relative to the workspace. */
export const AGENTS = ".ambit/agents";
const ENDINGS: readonly string[] = [".md", ".yml", ".yaml", ".json", ".toml"];
const foldersMax = 256;
const agentFilesMax = 10_000;

/** The nearest folder, from here upwards, with a non-empty `.ambit`: sandboxes leave empty ones behind. */
export function findWorkspace(from: string): string | null {
  let folder = resolve(from);
  for (let step = 0; step < foldersMax; step++) {
    if (hasEntries(join(folder, FOLDER))) return folder;
    const above = dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
  return null;
}

/** A folder that cannot be listed counts as non-empty: reading it reports the problem. */
function hasEntries(path: string): boolean {
  if (kindOf(path) !== "folder") return false;
  try {
    const folder = opendirSync(path);
    try {
      return folder.readSync() !== null;
    } finally {
      folder.closeSync();
    }
  } catch {
    return true;
  }
}

export interface AgentFile {
  readonly path: string;
  readonly name: string;
  /** The file is the org file, which defines this agent among others. */
  readonly isMember?: true;
}

/** A file by its path, or an agent of the workspace by its id; null if neither exists. */
export function findAgent(
  name: string,
  cwd: string,
  workspace: string | null,
  org: ReadOrg = () => readOrgFile(workspace),
): AgentFile | null {
  if (name === "" || name.includes("\0")) return null;
  const own = workspace === null ? null : ownAgent(agentIdOf(name), join(workspace, AGENTS));
  // An id takes precedence over a file of the same name.
  if (own !== null && !name.includes("/")) return own;
  const known = own ?? memberOf(agentIdOf(name), workspace, org());
  // INVARIANT: a file that an agent writes never takes the place of an agent with a dot in its id.
  if (known !== null && parseAgentId(name).ok) return known;
  const path = resolve(cwd, name);
  return extname(name) !== "" && kindOf(path) === "file" ? { path, name: agentName(name) } : known;
}

/** The org file, where a caller that looks for many agents has read it already. */
type ReadOrg = () => OrgFile | null;

function memberOf(id: string, workspace: string | null, org: OrgFile | null): AgentFile | null {
  const found = memberFile(id, workspace, org);
  return found === null ? null : { ...found, isMember: true };
}

/** A record takes precedence over a manifest or Caveats with the same name. */
function ownAgent(name: string, agents: string): AgentFile | null {
  const paths = ENDINGS.map((ending) => resolve(agents, name + ending));
  const path = paths.find((one) => one.startsWith(agents + sep) && kindOf(one) === "file");
  return path === undefined ? null : { path, name };
}

/** Whether several files of the workspace define this agent. */
export function isDefinedTwice(name: string, workspace: string, org: OrgFile | null): boolean {
  const files = ENDINGS.filter((ending) => kindOf(join(workspace, AGENTS, name + ending)) === "file").length;
  return files > 1 || (files === 1 && memberFile(name, workspace, org) !== null);
}

/** A plain file in plain folders: through a symlink another file would be changed. */
export function isPlainRecord(workspace: string, id: string): boolean {
  return hasPlainFolders(workspace, id) && isOwn(join(workspace, AGENTS, `${id}.md`), "file") === true;
}

/** Whether no folder from `.ambit` down to the record of this id is a symlink. Those that do not exist can be made. */
export function hasPlainFolders(workspace: string, id: string): boolean {
  const parts = [...AGENTS.split("/"), ...id.split("/").slice(0, -1)];
  return parts.every((_, at) => isOwn(join(workspace, ...parts.slice(0, at + 1)), "folder") !== false);
}

/** Whether a path itself, not what a link leads to, is of this kind; null if it does not exist. */
function isOwn(path: string, kind: "file" | "folder"): boolean | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found === undefined ? null : kind === "file" ? found.isFile() : found.isDirectory();
  } catch {
    return false;
  }
}

export function isAgentFile(path: string): boolean {
  return ENDINGS.includes(extname(path));
}

/** The id of a file whose text has none. */
export function agentName(path: string): string {
  return basename(path, extname(path));
}

/** One file, or the agents of a folder: of its workspace if it is one, else the files in it. Null for neither. */
export function findAgents(name: string, cwd: string): readonly AgentFile[] | null {
  const path = resolve(cwd, name);
  const kind = name === "" || name.includes("\0") ? null : kindOf(path);
  if (kind === null) return null;
  if (kind === "file") return [{ path, name: agentName(path) }];
  const org = readOrgFile(path);
  if (org !== null || kindOf(join(path, AGENTS)) === "folder") {
    const members = org?.org.agents.map(
      ({ id }): AgentFile => ({ path: join(path, org.path), name: id, isMember: true }),
    );
    return [
      ...agentPaths(path).map((file) => ({ path: join(path, AGENTS, file), name: idOf(file) })),
      ...(members ?? []),
    ];
  }
  const files = readdirSync(path).filter((file) => isAgentFile(file) && kindOf(join(path, file)) === "file");
  return files.sort().map((file) => ({ path: join(path, file), name: agentName(file) }));
}

/** Ids of the workspace's agents, sorted. */
export function agentIds(workspace: string | null, org: ReadOrg = () => readOrgFile(workspace)): readonly string[] {
  if (workspace === null) return [];
  const members = org()?.org.agents.map(({ id }) => id) ?? [];
  return [...new Set([...agentPaths(workspace).map(idOf), ...members])].sort();
}

function agentPaths(workspace: string): readonly string[] {
  return filesBelow(join(workspace, AGENTS)).filter(isAgentFile).sort();
}

function idOf(file: string): string {
  return file.slice(0, file.length - extname(file).length);
}

/** Files below a folder, by their relative path. Links to folders are not followed: they can form cycles. */
export function filesBelow(folder: string): readonly string[] {
  const files: string[] = [];
  const open: string[] = [""];
  for (let at = 0; at < open.length && at < foldersMax && files.length < agentFilesMax; at++) {
    const inside = open[at] as string;
    for (const entry of entriesOf(join(folder, inside))) {
      const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
      if (entry.isDirectory()) open.push(path);
      // A dangling link is listed, so that reading it reports the problem.
      else if (!entry.isSymbolicLink() || kindOf(join(folder, path)) !== "folder") files.push(path);
    }
  }
  return files.slice(0, agentFilesMax);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

/** Null also for a dangling or cyclic link. */
function kindOf(path: string): "file" | "folder" | null {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
}
