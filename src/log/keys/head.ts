// The last signed end of the log, beside the keys and outside the database: two slots that are written in turn, so that
// one is complete after any interruption. The reader decides by the signatures which of them counts.
import { closeSync, constants, fdatasync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE, readOwn, writeOnce } from "./key-files.ts";

/** The longest possible note. */
const slotBytes = 1024;
const NAME = "head";

export class HeadFile {
  readonly #folder: string;
  #file: number | null = null;
  #slot = 0;

  /** `folder`: the folder of the keys. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The stored notes; none if the file does not exist. Throws if the file exists and is not trustworthy. */
  read(): readonly string[] {
    const read = readOwn(join(this.#folder, NAME), 0o077);
    if (!read.ok && read.isThere) throw new Error(read.message);
    if (!read.ok) return [];
    const notes = [0, 1].map((slot) => slotText(Buffer.from(read.text, "utf8"), slot));
    if (notes.every((note) => note === "")) throw new Error(`${join(this.#folder, NAME)} is empty`);
    return notes;
  }

  /** The slot that is kept when the next note is written. */
  keep(slot: number): void {
    this.#slot = slot;
  }

  /** Writes the other slot. The kernel has it when this returns, the disk after `flush`. */
  write(note: string): void {
    const bytes = slotOf(note);
    this.#file ??= this.#open(bytes);
    const slot = 1 - this.#slot;
    for (let from = 0; from < slotBytes; ) {
      const written = writeSync(this.#file, bytes, from, slotBytes - from, slot * slotBytes + from);
      if (written === 0) throw new Error(`${join(this.#folder, NAME)} cannot be written to the end`);
      from += written;
    }
    this.#slot = slot;
  }

  /** On disk when it resolves; false if that failed. */
  flush(): Promise<boolean> {
    const file = this.#file;
    return file === null
      ? Promise.resolve(true)
      : new Promise((done) => fdatasync(file, (error) => done(error === null)));
  }

  close(): void {
    if (this.#file === null) return;
    try {
      fdatasyncSync(this.#file);
    } finally {
      closeSync(this.#file);
      this.#file = null;
    }
  }

  /** Created atomically, with its first note in both slots. */
  #open(first: Buffer): number {
    writeOnce(this.#folder, NAME, Buffer.concat([first, first]).toString("utf8"), PRIVATE);
    return openSync(join(this.#folder, NAME), constants.O_RDWR | constants.O_NOFOLLOW);
  }
}

function slotOf(note: string): Buffer {
  const bytes = Buffer.alloc(slotBytes);
  if (Buffer.byteLength(note) > slotBytes) throw new TypeError("a checkpoint is longer than its slot");
  bytes.write(note, "utf8");
  return bytes;
}

/** Slots are measured in bytes: a note has one character that takes three. */
function slotText(bytes: Buffer, slot: number): string {
  const text = bytes.toString("utf8", slot * slotBytes, (slot + 1) * slotBytes);
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}
