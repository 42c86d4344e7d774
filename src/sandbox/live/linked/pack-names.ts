// Which objects the packs of a repository have, from their index files: a private git folder stages no object again that the
// person's repository has.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { ID_BYTES, type ObjectFormat } from "../../plan/drafts/git/object-id.ts";

const magic = 0xff744f63;
const headerBytes = 8;
const fanoutBytes = 1_024;

interface OpenIndex {
  readonly descriptor: number;
  readonly fanout: Buffer;
  /** Nanoseconds. */
  readonly changed: bigint;
}

export class PackNames {
  readonly #idBytes: number;
  /** Newest first: what is asked for was mostly added last. */
  readonly #indexes: readonly OpenIndex[];

  private constructor(idBytes: number, indexes: readonly OpenIndex[]) {
    this.#idBytes = idBytes;
    this.#indexes = indexes;
  }

  /** `objects`: the folder of objects of the person's repository. An index that cannot be read names no object. */
  static open(objects: string, format: ObjectFormat): PackNames {
    const folder = join(objects, "pack");
    const found = namesIn(folder).flatMap((name) => openIndex(join(folder, name)) ?? []);
    return new PackNames(
      ID_BYTES[format],
      found.sort((left, right) => (left.changed > right.changed ? -1 : 1)),
    );
  }

  has(id: string): boolean {
    const wanted = Buffer.from(id, "hex");
    return wanted.length === this.#idBytes && this.#indexes.some((one) => this.#isIn(one, wanted));
  }

  close(): void {
    for (const { descriptor } of this.#indexes) closeSync(descriptor);
  }

  #isIn({ descriptor, fanout }: OpenIndex, wanted: Buffer): boolean {
    const first = wanted[0] ?? 0;
    let low = first === 0 ? 0 : fanout.readUInt32BE((first - 1) * 4);
    let high = fanout.readUInt32BE(first * 4);
    const found = Buffer.alloc(this.#idBytes);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const at = headerBytes + fanoutBytes + middle * this.#idBytes;
      if (readSync(descriptor, found, 0, this.#idBytes, at) !== this.#idBytes) return false;
      const order = found.compare(wanted);
      if (order === 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".idx"));
  } catch {
    return [];
  }
}

/** Null for anything but version 2. */
function openIndex(path: string): OpenIndex | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  const head = Buffer.alloc(headerBytes + fanoutBytes);
  const isRead = readSync(descriptor, head, 0, head.length, 0) === head.length;
  if (isRead && head.readUInt32BE(0) === magic && head.readUInt32BE(4) === 2)
    return { descriptor, fanout: head.subarray(headerBytes), changed: fstatSync(descriptor, { bigint: true }).mtimeNs };
  closeSync(descriptor);
  return null;
}
