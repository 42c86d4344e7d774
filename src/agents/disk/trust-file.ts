// Trust on disk: one small file for each trusted text, in a folder of the user's state that only the user can write.

import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../core/base/error-message.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { TrustedFile, TrustResult, TrustStore } from "../../core/ports/trust.ts";
import { readTextFile } from "../../platform/files.ts";
import { isSameFolder, segmentsOf, type UserFolders } from "../../platform/folders.ts";
import { realRoot } from "../../platform/real-path.ts";
import { writeWhole } from "../../platform/write-whole.ts";
import { readPath, readProjectEntry, readTrustedEntry, VERSION } from "./trust-entry.ts";

/** A trusted text escaped as JSON, with its roots beside it. */
const entryCharactersMax = 8 * 1024 * 1024;
/** File systems allow 255 bytes; a temporary file's name is longer by its suffix. */
const nameCharactersMax = 200;

/**
 * `state` is the user's state folder, `workspace` the project's real path. INVARIANT: a file that is missing, damaged,
 * owned by another user or about another project counts as none: not trusted.
 */
export function trustStore(state: string, workspace: string, digest: Digest): TrustStore {
  const folder = join(state, "trust", nameOf(workspace, digest));
  const project = join(folder, "project.json");
  const entryOf = (path: string): string => join(folder, `${nameOf(path, digest)}.json`);
  const isOurs = [state, join(state, "trust"), folder].every((one) => isPrivate(one, "folder"));
  const read = (file: string): string | null => {
    if (!isOurs || !isPrivate(file, "file")) return null;
    const content = readTextFile(file, entryCharactersMax);
    return content.ok ? content.text : null;
  };
  const write = (file: TrustedFile): void =>
    writeWhole(entryOf(file.path), JSON.stringify({ version: VERSION, workspace, ...file }));
  const known = readProjectEntry(read(project), workspace);
  return {
    exists: known !== null,
    digest: known?.digest ?? null,
    file: (path) => readTrustedEntry(read(entryOf(path)), workspace, path),
    paths: () =>
      namesIn(folder).flatMap((name) => {
        const path = readPath(read(join(folder, name)), workspace);
        return path === null || entryOf(path) !== join(folder, name) ? [] : [path];
      }),
    trust: (files, whole) =>
      attempt(() => {
        privateFolder(state, folder);
        for (const file of files) write(file);
        const kept = new Set(["project.json", ...files.map(({ path }) => `${nameOf(path, digest)}.json`)]);
        for (const name of namesIn(folder)) if (!kept.has(name)) rmSync(join(folder, name), { force: true });
        writeWhole(project, JSON.stringify({ version: VERSION, workspace, digest: whole }));
      }),
    trustFile: (file) =>
      attempt(() => {
        if (known === null) throw new Error("the project is not trusted");
        write(file);
      }),
    revoke: () => attempt(() => rmSync(folder, { recursive: true, force: true })),
  };
}

/**
 * Where trust in a workspace is stored. Null if it needs no trust: there is no workspace, or it is the user's own
 * folder, which no other user could have written.
 */
export function openTrust(workspace: string | null, folders: UserFolders, digest: Digest): TrustStore | null {
  const { config, state } = folders;
  if (workspace === null) return null;
  if (config !== null && [workspace, join(workspace, ".ambit")].some((one) => isSameFolder(one, config))) return null;
  const real = realRoot(segmentsOf(workspace));
  return state === null || real === null ? NOWHERE : trustStore(state, `/${real.join("/")}`, digest);
}

const refused: TrustResult = {
  ok: false,
  message: "no state folder: neither a home folder nor an absolute XDG_STATE_HOME is set",
};

const NOWHERE: TrustStore = {
  exists: false,
  digest: null,
  file: () => null,
  paths: () => [],
  trust: () => refused,
  trustFile: () => refused,
  revoke: () => refused,
};

/** One file name for a whole path: readable, and hashed only if it would be too long for a file system. */
function nameOf(path: string, digest: Digest): string {
  const name = encodeURIComponent(path);
  return name.length > nameCharactersMax ? `sha256-${digest(path)}` : name;
}

/** Only finished entries: another process may be writing one. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}

function attempt(act: () => void): TrustResult {
  try {
    act();
    return { ok: true };
  } catch (error) {
    return { ok: false, message: errorMessage(error) };
  }
}

function privateFolder(state: string, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const one of [state, join(state, "trust"), folder]) {
    if (isPrivate(one, "folder")) continue;
    if (lstatSync(one).uid !== ownUser()) throw new Error(`${one} belongs to another user`);
    chmodSync(one, 0o700);
    if (!isPrivate(one, "folder")) throw new Error(`${one} is not a folder that the user owns`);
  }
}

/** Not a link, owned by the user, and writable only by them. */
function isPrivate(path: string, kind: "file" | "folder"): boolean {
  try {
    const found = lstatSync(path);
    const isKind = kind === "file" ? found.isFile() : found.isDirectory();
    return isKind && found.uid === ownUser() && (found.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

function ownUser(): number {
  return process.geteuid?.() ?? -1;
}
