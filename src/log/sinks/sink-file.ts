// A second copy of the log in a plain file: appended to, synced before it counts, and checked again after every write,
// so that a file that was moved, truncated or written by another process is never taken for the copy.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { Failure } from "../../core/base/result.ts";
import type { Sink, SinkPosition, SinkResult } from "../../core/ports/stores/sink.ts";
import { checkSinkPath } from "./sink-path.ts";

/** Interprets the lines of a file, which this module does not. */
export interface CopyFormat {
  /** From its first line and its last complete lines; `isAll`: those are all lines after the first. */
  standing(header: string, tail: readonly string[], isAll: boolean): SinkResult<SinkPosition>;
  /** Whether a whole file without a line end is a truncated header. */
  isTornHeader(text: string, header: string): boolean;
}

/** More than the longest line in bytes. */
const windowBytes = 2 * 1024 * 1024;
const LINE_END = 0x0a;

export class FileSink implements Sink {
  readonly #path: string;
  readonly #reading: CopyFormat;
  #file: FileHandle | null = null;
  #size = 0;
  /** Up to where the data is surely on disk after a failed write: what follows may only appear to be there. */
  #sure: { readonly ino: number; readonly size: number } | null = null;
  /** Incremented by `close`: an `open` that sees another number was closed meanwhile. */
  #closes = 0;

  constructor(path: string, reading: CopyFormat) {
    this.#path = path;
    this.#reading = reading;
  }

  async open(header: string): Promise<SinkResult<SinkPosition>> {
    this.close();
    const closes = this.#closes;
    const place = await checkSinkPath(this.#path, "file");
    if (!place.ok) return place;
    let file: FileHandle | null = null;
    try {
      const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
      file = await open(this.#path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      const standing = await this.#begun(file, header);
      if (!standing.ok || closes !== this.#closes) {
        await file.close();
        return standing.ok ? { ok: false, message: "it was closed" } : standing;
      }
      this.#file = file;
      return standing;
    } catch (error) {
      await file?.close().catch(() => undefined);
      return this.#failed(error);
    }
  }

  async keep(lines: string): Promise<SinkResult<null>> {
    const file = this.#file;
    if (file === null) return { ok: false, message: `${this.#path} is not open` };
    const bytes = Buffer.from(lines, "utf8");
    try {
      // Nothing is appended to a truncated file: that would leave a gap.
      const before = await this.#looked(file, this.#size);
      if (!before.ok) return before;
      await append(file, bytes);
      await file.datasync();
      const after = await this.#looked(file, this.#size + bytes.length);
      if (after.ok) this.#size += bytes.length;
      return after;
    } catch (error) {
      // After a failed flush a later one proves nothing: the piece is cut off and written again.
      const { ino } = await file.stat().catch(() => ({ ino: 0 }));
      this.#sure = { ino, size: this.#size };
      return this.#failed(error);
    }
  }

  get trouble(): string | null {
    return this.#file === null ? "it is not open" : null;
  }

  async look(): Promise<string | null> {
    const file = this.#file;
    if (file === null) return this.trouble;
    try {
      const looked = await this.#looked(file, this.#size);
      return looked.ok ? null : looked.message;
    } catch (error) {
      return this.#failed(error).message;
    }
  }

  close(): void {
    this.#closes++;
    void this.#file?.close().catch(() => undefined);
    this.#file = null;
  }

  /** Whether it is still the file of this name, with the expected size. */
  async #looked(file: FileHandle, size: number): Promise<SinkResult<null>> {
    const { dev, ino } = await file.stat();
    const place = await checkSinkPath(this.#path, "file");
    if (!place.ok) return place;
    const found = place.value;
    if (found?.ino !== ino || found.dev !== dev) return { ok: false, message: `${this.#path} was moved or replaced` };
    if (found.size !== size) return { ok: false, message: `${this.#path} was changed by another program` };
    return { ok: true, value: null };
  }

  async #begun(file: FileHandle, header: string): Promise<SinkResult<SinkPosition>> {
    const found = await file.stat();
    if (!found.isFile()) return { ok: false, message: `${this.#path} is not a regular file` };
    const sure = this.#sure;
    let { size } = found;
    const first = await this.#firstLine(file, size);
    if (first.bytes === null && size > 0) {
      // INVARIANT: only a file that is a prefix of the header is truncated; no other file is.
      const isShort = size <= Buffer.byteLength(header, "utf8") + 1;
      if (!isShort || !this.#reading.isTornHeader(first.text, header))
        return this.#refused(this.#reading.standing(first.text, [], false));
      await file.truncate(0);
      size = 0;
    }
    if (size === 0) {
      const bytes = Buffer.from(`${header}\n`, "utf8");
      await append(file, bytes);
      await file.datasync();
      await flushFolder(dirname(this.#path));
      this.#sure = null;
      this.#size = bytes.length;
      return this.#refused(this.#reading.standing(header, [], true));
    }
    const known = this.#reading.standing(first.text, [], true);
    if (!known.ok) return this.#refused(known);
    const start = first.bytes ?? 0;
    if (sure?.ino === found.ino && sure.size >= start && sure.size < size) {
      await file.truncate(sure.size);
      size = sure.size;
    }
    const from = Math.max(start, size - windowBytes);
    const window = await read(file, from, size - from);
    const end = from + wholeBytes(window);
    const lines = window
      .toString("utf8", 0, end - from)
      .split("\n")
      .slice(0, -1);
    const isAll = from === start;
    const standing = this.#reading.standing(first.text, isAll ? lines : lines.slice(1), isAll);
    // A refused file is left unchanged.
    if (!standing.ok) return this.#refused(standing);
    if (end < size) await file.truncate(end);
    await file.datasync();
    this.#sure = null;
    this.#size = end;
    return standing;
  }

  /** `bytes`: including the line end; null if there is no complete line. */
  async #firstLine(file: FileHandle, size: number): Promise<{ readonly text: string; readonly bytes: number | null }> {
    const window = await read(file, 0, Math.min(size, windowBytes));
    const end = window.indexOf(LINE_END);
    const text = window.toString("utf8", 0, end < 0 ? window.length : end);
    return { text, bytes: end < 0 ? null : end + 1 };
  }

  #refused(standing: SinkResult<SinkPosition>): SinkResult<SinkPosition> {
    return standing.ok ? standing : { ok: false, message: `${this.#path} ${standing.message}` };
  }

  #failed(error: unknown): Failure {
    const code = errorCode(error);
    const what = CODES.get(code ?? "") ?? `cannot be written (${code})`;
    return { ok: false, message: `${this.#path} ${what}` };
  }
}

const CODES: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "cannot be written: no space left on device"],
  ["EDQUOT", "cannot be written: the disk quota is exceeded"],
  ["ELOOP", "is a symbolic link: configure the path it leads to"],
  ["ENXIO", "is not a regular file"],
  ["EISDIR", "is a folder"],
]);

/** Up to the end of the last complete line. A line with a zero byte was never written: power failed before. */
function wholeBytes(window: Buffer): number {
  const hole = window.indexOf(0);
  return window.lastIndexOf(LINE_END, hole < 0 ? window.length : hole) + 1;
}

async function read(file: FileHandle, from: number, bytes: number): Promise<Buffer> {
  const window = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(window, at, bytes - at, from + at);
    if (bytesRead === 0) return window.subarray(0, at);
    at += bytesRead;
  }
  return window;
}

async function append(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    if (bytesWritten === 0) throw new Error("no bytes could be written");
    at += bytesWritten;
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
