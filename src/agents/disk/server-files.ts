// The MCP servers of a workspace: the user's own, and those of a trusted project. A project's server counts as it was
// trusted, or not at all; switching one off counts at once. Edits through ambit are trusted where the text before was.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import {
  readServerFile,
  type ServerFile,
  serverLikeness,
  type WrittenServer,
} from "../../core/notation/servers/server-file.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TrustStore } from "../../core/ports/trust.ts";
import { sha256 } from "../../platform/digest.ts";
import { type EditResult, editFile } from "../../platform/edit-file.ts";
import { readTextFile } from "../../platform/files.ts";
import { segmentsOf, type UserFolders } from "../../platform/folders.ts";
import { realRoot } from "../../platform/real-path.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { readYaml } from "../../text/yaml.ts";
import type { Project } from "../project/project.ts";
import { SERVERS_PATH } from "./authority-files.ts";
import { openTrust } from "./trust-file.ts";

export interface LoadedServer {
  readonly server: WrittenServer;
  /** Changes whenever anything that is written about it does. */
  readonly digest: string;
  /** The workspace that it is read for; null outside of any. */
  readonly workspace: string | null;
  readonly reading: Reading;
  /** Why it is not in effect; null where it is. */
  readonly waits: string | null;
}

export interface LoadedServers {
  readonly servers: readonly LoadedServer[];
  readonly problems: readonly { readonly source: Source; readonly diagnostic: Diagnostic }[];
}

/** The texts that decide which servers are in effect. */
export interface ServerTexts {
  readonly user: Source | null;
  readonly project: Source | null;
  /** The project's text as it was trusted. */
  readonly trusted: string | null;
  /** The project is the user's own folder, which needs no trust. */
  readonly isOwn: boolean;
}

const UNTRUSTED = "no effect until you trust the project: ambit trust";
const CHANGED = "changed since the project was trusted: ambit trust";
const SHADOWED = "your own mcp.yml has a server with this name, or one that looks like it";

export function serverTexts(workspace: string | null, folders: UserFolders): ServerTexts {
  const user = folders.config === null ? null : textAt(join(folders.config, "mcp.yml"));
  const project = workspace === null ? null : textAt(join(workspace, ...SERVERS_PATH.split("/")));
  const trust = openTrust(workspace, folders, sha256);
  const trusted = trust?.exists === true ? (trust.file(SERVERS_PATH)?.text ?? null) : null;
  return { user, project, trusted, isOwn: workspace !== null && trust === null };
}

/** `base`: how notation is read in the workspace, or in the working folder outside of any. */
export function loadServers(texts: ServerTexts, workspace: string | null, base: Reading): LoadedServers {
  const inside = projectReading(workspace, base);
  const user = readServers(texts.user, "user", base);
  const project = readServers(texts.project, "project", inside);
  const trusted =
    texts.trusted === null || texts.project === null
      ? null
      : readServers({ ...texts.project, text: texts.trusted }, "project", inside);
  const own = user.servers.map((server) => loaded(server, workspace, base, null));
  const others = project.servers.map((server) => {
    const was = trusted?.servers.find(({ name }) => name === server.name);
    const isSame = was !== undefined && JSON.stringify(was.written) === JSON.stringify(server.written);
    const isSwitchedOn = was !== undefined && server.isEnabled && !was.isEnabled;
    const isShadowed = user.servers.some(({ name }) => serverLikeness(name) === serverLikeness(server.name));
    const trust = texts.isOwn ? null : texts.trusted === null ? UNTRUSTED : !isSame || isSwitchedOn ? CHANGED : null;
    return loaded(server, workspace, inside, isShadowed ? SHADOWED : trust);
  });
  const told = ({ diagnostics }: ServerFile, source: Source | null): LoadedServers["problems"] =>
    diagnostics.flatMap((diagnostic) => (source === null ? [] : [{ source, diagnostic }]));
  return { servers: [...own, ...others], problems: [...told(user, texts.user), ...told(project, texts.project)] };
}

/** Servers of a project never reach beyond it, wherever links in it lead. */
export function projectReading(workspace: string | null, base: Reading): Reading {
  return workspace === null ? base : { ...base, ceiling: realRoot(segmentsOf(workspace)) ?? [] };
}

export function readServers(source: Source | null, level: WrittenServer["level"], reading: Reading): ServerFile {
  if (source === null) return { servers: [], diagnostics: [] };
  const { tree, diagnostics } = readYaml(source);
  return tree === null ? { servers: [], diagnostics } : readServerFile(tree, level, reading);
}

function loaded(server: WrittenServer, workspace: string | null, reading: Reading, waits: string | null): LoadedServer {
  const digest = sha256(JSON.stringify([workspace, server.name, server.level, server.written]));
  return { server, digest, workspace, reading, waits };
}

function textAt(path: string): Source | null {
  const content = readTextFile(path, sourceCharactersMax);
  return content.ok ? { name: path, text: content.text } : null;
}

export type ServerLevel = WrittenServer["level"];

export interface ServerFilesOptions {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly folders: UserFolders;
  readingAt(base: string): Reading;
  opened(): { readonly project: Project; readonly trusted: TrustStore | null };
}

export interface EditableServers {
  load(): LoadedServers;
  /** The text of one file; empty where there is none. Null where such a file cannot be. */
  source(level: ServerLevel): Source | null;
  /** A text as it would be read at this level. */
  read(level: ServerLevel, source: Source): ServerFile;
  /** `isTrusted`: the new text is trusted, or needs no trust. */
  edit<R>(
    level: ServerLevel,
    change: (source: Source) => { readonly text: string } | { readonly refusal: R },
  ): EditResult<R> & { readonly isTrusted: boolean };
}

export function editableServers({ cwd, workspace, folders, readingAt, opened }: ServerFilesOptions): EditableServers {
  const inside = (level: ServerLevel): string | null => (level === "user" ? folders.config : workspace);
  const pathOf = (level: ServerLevel, folder: string): string =>
    level === "user" ? join(folder, "mcp.yml") : join(folder, ...SERVERS_PATH.split("/"));
  const base = (): Reading => readingAt(workspace ?? cwd);
  const keep = (before: string | null, after: string): boolean => {
    const { project, trusted } = opened();
    if (trusted === null) return true;
    // Only if the text before the edit was trusted; otherwise more than the edit would become trusted.
    const was = trusted.exists && project.isConfigAsTrusted ? (trusted.file(SERVERS_PATH)?.text ?? null) : undefined;
    if (was !== before) return false;
    const config = project.config === null ? null : sha256(project.config.source.text);
    return trusted.trustFile({ path: SERVERS_PATH, text: after, roots: [], digest: sha256(after), config }).ok;
  };
  return {
    load: () => loadServers(serverTexts(workspace, folders), workspace, base()),
    source: (level) => {
      const folder = inside(level);
      if (folder === null) return null;
      const path = pathOf(level, folder);
      const content = readTextFile(path, sourceCharactersMax);
      return { name: path, text: content.ok ? content.text : "" };
    },
    read: (level, source) => readServers(source, level, level === "user" ? base() : projectReading(workspace, base())),
    edit: (level, change) => {
      const folder = inside(level);
      if (folder === null || folders.state === null)
        return { kind: "failed", message: "there is no folder for the file, or no state folder", isTrusted: false };
      const path = pathOf(level, folder);
      mkdirSync(dirname(path), { recursive: true });
      let made: { readonly before: string | null; readonly after: string } | null = null;
      const place = { state: folders.state, inside: folder, charactersMax: sourceCharactersMax };
      const done = editFile(path, place, (text) => {
        const changed = change({ name: path, text: text ?? "" });
        if ("refusal" in changed) return { kind: "refuse", refusal: changed.refusal };
        made = { before: text, after: changed.text };
        return { kind: "write", text: changed.text };
      });
      const kept = made as { readonly before: string | null; readonly after: string } | null;
      const isTrusted = level === "user" || (done.kind === "done" && kept !== null && keep(kept.before, kept.after));
      return { ...done, isTrusted };
    },
  };
}
