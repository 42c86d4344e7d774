// The state key in a file that only its user can read. Several lines only while all secrets are being resealed.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../core/base/error-code.ts";
import { syncFolder } from "../platform/write-whole.ts";
import { keyBytes, keyOf, type StateKey } from "./key.ts";

const linesMax = 8;
const fileBytesMax = 1024;

export type ReadKeys =
  | { readonly ok: true; readonly keys: readonly StateKey[] }
  /** The message names the file. */
  | { readonly ok: false; readonly isMissing: boolean; readonly message: string };

export function readKeyFile(path: string): ReadKeys {
  const no = (message: string, isMissing = false): ReadKeys => ({
    ok: false,
    isMissing,
    message: `${path} ${message}`,
  });
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return errorCode(error) === "ENOENT" ? no("does not exist", true) : no(`cannot be read (${errorCode(error)})`);
  }
  const bytes = Buffer.alloc(fileBytesMax + 1);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) return no("is not a file");
    if (found.uid !== process.getuid?.()) return no("belongs to another user");
    if ((found.mode & 0o077) !== 0) return no("is readable by others: it must have mode 0600");
    const length = readSync(file, bytes, 0, bytes.length, 0);
    const text = bytes.toString("latin1", 0, length);
    if (length > fileBytesMax || !/^([A-Za-z0-9+/]{43}=\n){1,8}$/.test(text)) return no("does not contain a key");
    return {
      ok: true,
      keys: text
        .trimEnd()
        .split("\n")
        .map((line) => keyOf(Buffer.from(line, "base64"))),
    };
  } catch (error) {
    return no(`cannot be read (${errorCode(error)})`);
  } finally {
    bytes.fill(0);
    closeSync(file);
  }
}

/** Atomic. `isNew`: never replaces an existing file. Null on success. */
export function writeKeyFile(path: string, keys: readonly StateKey[], isNew: boolean): string | null {
  if (keys.length < 1 || keys.length > linesMax || keys.some(({ bytes }) => bytes.length !== keyBytes))
    throw new Error("a key file needs at least one key");
  const bytes = Buffer.concat(keys.flatMap((key) => [Buffer.from(key.bytes.toString("base64")), Buffer.from("\n")]));
  const draft = `${path}.${randomBytes(8).toString("hex")}.draft`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) linkSync(draft, path);
    else renameSync(draft, path);
    syncFolder(dirname(path));
    return null;
  } catch (error) {
    return `${path} cannot be written (${errorCode(error)})`;
  } finally {
    bytes.fill(0);
    rmSync(draft, { force: true });
  }
}

/** Null once the file is gone. */
export function removeKeyFile(path: string): string | null {
  try {
    rmSync(path, { force: true });
    syncFolder(dirname(path));
    return null;
  } catch (error) {
    return `${path} cannot be removed (${errorCode(error)})`;
  }
}
