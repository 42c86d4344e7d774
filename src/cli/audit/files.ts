// Exports on disk: read line by line however long they are, and written whole or not at all.

import { closeSync, createReadStream, fsyncSync, linkSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { errorCode } from "../../core/base/error-code.ts";
import type { Failure } from "../../core/base/result.ts";

export type FileWriteResult = { readonly ok: true } | Failure;

/**
 * Every line without its end. A line over the limit is truncated, so that it does not parse. `torn`: what
 * stands behind the last line's end.
 */
export async function readLines(
  path: string,
  charactersMax: number,
  line: (text: string) => void,
  torn: (text: string) => void = line,
): Promise<FileWriteResult> {
  let rest = "";
  let isCut = false;
  const take = (text: string): void => {
    // Nothing of what is too long is kept, or a file without line ends would be read whole.
    if (!isCut) rest += text;
    isCut ||= rest.length > charactersMax;
    if (isCut) rest = rest.slice(0, charactersMax + 1);
  };
  try {
    for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
      const lines = (chunk as string).split("\n");
      for (const [at, text] of lines.entries()) {
        take(text);
        if (at === lines.length - 1) continue;
        line(rest);
        rest = "";
        isCut = false;
      }
    }
    if (rest !== "") torn(rest);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: `cannot read ${path} (${errorCode(error)})` };
  }
}

/** The beginning of a file, for what is one short text. */
export function readShort(path: string, bytesMax: number): string | null {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(bytesMax);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytesMax, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** A file that grows under another name and gets its own when it is whole. Never over another file. */
export class NewFile {
  readonly #path: string;
  readonly #draft: string;
  #file: number | null = null;
  #problem: string | null = null;

  constructor(path: string) {
    this.#path = path;
    this.#draft = `${path}.${process.pid}.draft`;
    this.#attempt(() => {
      this.#file = openSync(this.#draft, "wx", 0o600);
    });
  }

  write(text: string): void {
    const file = this.#file;
    if (file === null || this.#problem !== null) return;
    this.#attempt(() => {
      let rest: Uint8Array = Buffer.from(text, "utf8");
      while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
    });
  }

  /** With its name, or without a trace where that is not wanted or something went wrong. */
  end(isWanted: boolean): FileWriteResult {
    const file = this.#file;
    if (file !== null) {
      this.#attempt(() => {
        if (isWanted && this.#problem === null) {
          fsyncSync(file);
          linkSync(this.#draft, this.#path);
        }
      });
      closeSync(file);
      this.#file = null;
      rmSync(this.#draft, { force: true });
    }
    return this.#problem === null ? { ok: true } : { ok: false, message: this.#problem };
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      const code = errorCode(error);
      this.#problem ??= code === "EEXIST" ? `${this.#path} already exists` : `cannot write ${this.#path} (${code})`;
    }
  }
}
