// Files of the key folder: private ones that only their owner may read, and public ones, each written atomically.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import { syncFolder } from "../../platform/write-whole.ts";

const fileBytesMax = 4096;
const namesMax = 100_000;

export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

/** Creates the folder if it is missing. Returns its problem as a sentence, else null. */
export function prepareKeyFolder(folder: string): string | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (!found.isDirectory()) return `${folder} is not a folder`;
    if (found.uid !== process.geteuid?.()) return `${folder} belongs to another user`;
    return (found.mode & 0o077) === 0 ? null : `${folder} is open to others (mode ${modeText(found.mode)}, not 700)`;
  } catch (error) {
    return `${folder} cannot be created (${errorCode(error)})`;
  }
}

export type FileRead =
  | { readonly ok: true; readonly text: string }
  /** `isThere`: a file exists, but it is not trustworthy. */
  | { readonly ok: false; readonly isThere: boolean; readonly message: string };

/** Checked and read through one descriptor, so that it cannot change in between. `open`: mode bits that must not be set. */
export function readOwn(path: string, open: number): FileRead {
  let file: number;
  try {
    // Opening a pipe would block until there is a writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return {
      ok: false,
      isThere: errorCode(error) !== "ENOENT",
      message: `${path} cannot be read (${errorCode(error)})`,
    };
  }
  try {
    const found = fstatSync(file);
    const wrong = !found.isFile()
      ? "is not a regular file"
      : found.uid !== process.geteuid?.()
        ? "belongs to another user"
        : (found.mode & open) !== 0
          ? `is open to others (mode ${modeText(found.mode)})`
          : found.size > fileBytesMax
            ? "is too large"
            : null;
    if (wrong !== null) return { ok: false, isThere: true, message: `${path} ${wrong}` };
    const bytes = Buffer.alloc(fileBytesMax);
    return { ok: true, text: bytes.toString("utf8", 0, readSync(file, bytes, 0, fileBytesMax, 0)) };
  } catch (error) {
    return { ok: false, isThere: true, message: `${path} cannot be read (${errorCode(error)})` };
  } finally {
    closeSync(file);
  }
}

/** Atomic and durable; never replaces a file. False if another process was faster. Throws file system errors. */
export function writeOnce(folder: string, name: string, text: string, mode: number): boolean {
  const draft = join(folder, `${name}.${randomBytes(8).toString("hex")}.draft`);
  const file = openSync(draft, "wx", PRIVATE);
  try {
    // Independent of the umask.
    fchmodSync(file, mode);
    writeFileSync(file, text, "utf8");
    fsyncSync(file);
    linkSync(draft, join(folder, name));
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
    syncFolder(folder);
  }
  return true;
}

export function removeOwn(folder: string, names: readonly string[]): void {
  for (const name of names) rmSync(join(folder, name), { force: true });
  syncFolder(folder);
}

export function namesIn(folder: string): readonly string[] {
  return readdirSync(folder).slice(0, namesMax);
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8);
}
