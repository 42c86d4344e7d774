// Checks the state folder and file: private, not a link, on a local disk. Otherwise nothing is opened.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statfsSync,
} from "node:fs";
import { dirname, join } from "node:path";

export const STATE_FILE = "state.db";
/** Behind its name, before the version of a copy that was made before the format changed. */
export const BACKUP = ".version-";
/** Beside a database of a version before 3. */
export const OLD_JOURNAL_FILE = "state.journal";

export interface StateEnvironment {
  /** Null if the system has no user ids. */
  readonly uid: number | null;
  readonly platform: string;
  /** The kernel's number for the type of the path's file system. */
  readonly fileSystem: (path: string) => number;
}

export function machineEnvironment(): StateEnvironment {
  return {
    uid: process.geteuid?.() ?? null,
    platform: process.platform,
    fileSystem: (path) => statfsSync(path).type,
  };
}

/**
 * Only file systems known to honour flushes and to share memory between processes. Network file systems and those of
 * user programs (NFS, SMB, 9p, FUSE) are excluded, and so are unknown ones.
 */
const LOCAL: Readonly<Record<string, ReadonlySet<number>>> = {
  linux: new Set([
    ...[0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e],
    // ext, xfs, btrfs, zfs, f2fs, bcachefs; then tmpfs, ramfs, overlay, reiserfs, jfs, nilfs, ecryptfs, ubifs.
    ...[0x01021994, 0x858458f6, 0x794c7630, 0x52654973, 0x3153464a, 0x3434, 0xf15f, 0x24051905],
  ]),
  // apfs, hfs.
  darwin: new Set([0x1a, 0x11]),
};

/** Creates folder and file if they are missing. Null on success, else what is wrong and what to do. */
export function prepareFolder(folder: string, environment: StateEnvironment): string | null {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const wrong = wrongWith(folder, lstatSync(folder), "folder", environment);
  if (wrong !== null) return wrong;
  // Other users may have had access until now.
  if (environment.uid !== null) chmodSync(folder, 0o700);
  const kind = environment.fileSystem(folder) >>> 0;
  if (LOCAL[environment.platform]?.has(kind) === false)
    return `${folder} is not on a local disk (file system 0x${kind.toString(16)}): writes may be lost; choose another state folder`;
  return prepareFile(join(folder, STATE_FILE), environment);
}

function prepareFile(path: string, environment: StateEnvironment): string | null {
  const beside = ["-wal", "-shm", "-journal"].map((end) => path + end);
  for (const each of [...beside, join(dirname(path), OLD_JOURNAL_FILE)]) {
    const found = lstatSync(each, { throwIfNoEntry: false });
    const wrong = found === undefined ? null : wrongWith(each, found, "file", environment);
    if (wrong !== null) return wrong;
  }
  const before = lstatSync(path, { throwIfNoEntry: false });
  const wrong = before === undefined ? null : wrongWith(path, before, "file", environment);
  if (wrong !== null) return wrong;
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (environment.uid !== null) fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
  return null;
}

function wrongWith(path: string, found: Stats, wanted: "folder" | "file", { uid }: StateEnvironment): string | null {
  if (found.isSymbolicLink()) return `${path} is a symbolic link: replace it with a real ${wanted}`;
  if (wanted === "folder" ? !found.isDirectory() : !found.isFile()) return `${path} is not a ${wanted}: move it away`;
  if (uid === null) return null;
  if (found.uid !== uid) return `${path} belongs to another user: move it away`;
  if ((found.mode & 0o022) !== 0)
    return `${path} is writable by others: check its content, then run: chmod go-rwx ${path}`;
  // A second hard link may be in a folder that was not checked.
  if (wanted === "file" && found.nlink > 1) return `${path} has more than one hard link: move it away`;
  return null;
}

/** Copies of the state from before its format changed, oldest first. */
export function stateBackups(folder: string | null): readonly string[] {
  if (folder === null || !existsSync(folder)) return [];
  const start = STATE_FILE + BACKUP;
  const versions = readdirSync(folder).flatMap((name) =>
    name.startsWith(start) ? [Number(name.slice(start.length))] : [],
  );
  return versions.sort((one, other) => one - other).map((version) => join(folder, `${start}${version}`));
}
