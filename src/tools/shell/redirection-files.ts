// Files of redirections as streams: read in chunks, written in order. They are opened by the session's file worker,
// never by the process that runs the script.
import type { FilePath, FileRefusal, FileResult } from "../../core/ports/files.ts";
import type { BufferBudget } from "./buffer-budget.ts";
import { pieceBytesMax, pipeBytesMax, pipeBytesUsual } from "./language/limits.ts";

/** Each operation is decided anew, so a revoked grant takes effect during the script. */
export interface RedirectionFiles {
  read(path: FilePath, offset: number, bytesMax: number): Promise<FileResult<Uint8Array>>;
  /** Creates or truncates it. */
  empty(path: FilePath): Promise<FileResult<null>>;
  /** Creates it if it does not exist. */
  append(path: FilePath, bytes: Uint8Array): Promise<FileResult<null>>;
}

export type OpenResult<T> = { readonly ok: true; readonly value: T } | FileRefusal;

/** Opened by reading its first chunk. Throws if a later chunk cannot be read. */
export async function fileSource(
  files: RedirectionFiles,
  path: FilePath,
): Promise<OpenResult<AsyncIterable<Uint8Array>>> {
  const first = await files.read(path, 0, pieceBytesMax);
  return first.ok ? { ok: true, value: pieces(files, path, first.value) } : first;
}

async function* pieces(files: RedirectionFiles, path: FilePath, first: Uint8Array): AsyncGenerator<Uint8Array> {
  let piece = first;
  for (let offset = 0; piece.length > 0; ) {
    yield piece;
    offset += piece.length;
    const next = await files.read(path, offset, pieceBytesMax);
    if (!next.ok) throw new Error(next.reason);
    piece = next.value;
  }
}

export class FileSink {
  readonly #files: RedirectionFiles;
  readonly #path: FilePath;
  readonly #room: BufferBudget;
  readonly #failed: (refused: FileRefusal) => void;
  #bytes = 0;
  #waiting: Uint8Array[] = [];
  #writing: Promise<void> | null = null;
  #isFailed = false;

  private constructor(
    files: RedirectionFiles,
    path: FilePath,
    room: BufferBudget,
    failed: (refused: FileRefusal) => void,
  ) {
    this.#files = files;
    this.#path = path;
    this.#room = room;
    this.#failed = failed;
  }

  /** `failed`: called once, when a write failed. */
  static async open(
    files: RedirectionFiles,
    path: FilePath,
    append: boolean,
    room: BufferBudget,
    failed: (refused: FileRefusal) => void,
  ): Promise<OpenResult<FileSink>> {
    const opened = append ? await files.append(path, new Uint8Array(0)) : await files.empty(path);
    return opened.ok ? { ok: true, value: new FileSink(files, path, room, failed) } : opened;
  }

  /** A promise is backpressure: write again once it resolves. */
  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#isFailed) return;
    if (this.#bytes + bytes.length > pipeBytesMax || !this.#room.take(bytes.length)) {
      this.#fail(TOO_FAST);
      return;
    }
    this.#bytes += bytes.length;
    this.#waiting.push(bytes);
    this.#writing ??= this.#write();
    if (this.#bytes >= pipeBytesUsual) return this.#writing;
  }

  /** Resolves when everything is written, or nothing more will be. */
  async end(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isFailed) {
      const written = await this.#files.append(this.#path, this.#next());
      if (!written.ok) this.#fail(written);
    }
    this.#waiting = [];
    this.#taken(this.#bytes);
    this.#writing = null;
  }

  #fail(refused: FileRefusal): void {
    if (this.#isFailed) return;
    this.#isFailed = true;
    this.#failed(refused);
  }

  #taken(bytes: number): void {
    this.#bytes -= bytes;
    this.#room.give(bytes);
  }

  /** At least one chunk, and as many as one write takes. */
  #next(): Uint8Array {
    let [count, bytes] = [0, 0];
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > pieceBytesMax) break;
      bytes += length;
      count++;
    }
    this.#taken(bytes);
    return Buffer.concat(this.#waiting.splice(0, count));
  }
}

const TOO_FAST: FileRefusal = {
  ok: false,
  code: "not_available",
  reason: "more data is written at once than can be buffered",
};
