// Messages between a tool host and whoever started it: four bytes of length, then JSON. What is longer than it may be, or
// is no JSON, ends the conversation.

/** A use with the largest file in it still fits. */
export const frameBytesMax = 33_554_432;
const headBytes = 4;

/** Null for what is too long to be said. */
export function toolFrame(message: object): Buffer | null {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  if (body.length > frameBytesMax) return null;
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
}

export class ToolFrames {
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** The messages that are whole by now; null where what came is none, and nothing that follows can be. */
  take(chunk: Uint8Array): readonly unknown[] | null {
    this.#pieces.push(chunk);
    this.#length += chunk.length;
    const messages: unknown[] = [];
    for (;;) {
      const wanted = this.#wanted();
      if (wanted === null) return null;
      if (wanted === 0 || this.#length < wanted) return messages;
      const all = this.#joined();
      try {
        messages.push(JSON.parse(all.toString("utf8", headBytes, wanted)));
      } catch {
        return null;
      }
      const rest = all.subarray(wanted);
      this.#pieces = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
    }
  }

  /** Bytes of the frame that is coming in, its head included; nought while that is not known. */
  #wanted(): number | null {
    if (this.#length < headBytes) return 0;
    const first = this.#pieces[0] as Uint8Array;
    const head = first.length >= headBytes ? first : this.#joined();
    const length = Buffer.from(head.buffer, head.byteOffset, head.byteLength).readUInt32LE(0);
    return length > frameBytesMax ? null : headBytes + length;
  }

  #joined(): Buffer {
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
