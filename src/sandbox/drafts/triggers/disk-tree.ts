// The real tree on this machine's disk, each name read once. What was read is recorded as snapshots: while none of them
// has changed, reading again would give the same.
import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import type { ListedName, RealTree, TreeEntry } from "../../plan/triggers/real-tree.ts";

type Path = readonly string[];

/** The state of a path. `facts`: null where nothing existed. */
export interface PathSnapshot {
  readonly facts: Stats | null;
  /** Whether its names or its text were read: then its times count as well. */
  isRead: boolean;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** What Node puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

export class DiskTree implements RealTree {
  readonly #entries = new Map<string, TreeEntry | null>();
  readonly #witnesses = new Map<string, PathSnapshot>();

  /** Every path that was read, with its state then. INVARIANT: taken before its content was read. */
  get witnesses(): ReadonlyMap<string, PathSnapshot> {
    return this.#witnesses;
  }

  at(path: Path): TreeEntry | null {
    const text = textOf(path);
    const known = this.#entries.get(text);
    if (known !== undefined) return known;
    const { facts } = this.#look(text, false);
    const entry = facts === null ? null : entryOf(text, facts);
    this.#entries.set(text, entry);
    return entry;
  }

  list(path: Path, namesMax: number): readonly ListedName[] | null {
    const text = textOf(path);
    if (this.#look(text, true).facts?.isDirectory() !== true) return null;
    try {
      const names = readdirSync(onDisk(text), { withFileTypes: true });
      if (names.length > namesMax) return null;
      if (names.some(({ name }) => name.includes(REPLACEMENT))) return listedBytes(text);
      return names.map((one) => ({ name: one.name, kind: kindOf(one) }));
    } catch {
      return null;
    }
  }

  text(path: Path, charactersMax: number): string | null {
    const text = textOf(path);
    const { facts } = this.#look(text, true);
    if (facts === null || !facts.isFile() || facts.size > charactersMax) return null;
    try {
      return decoded(readFileSync(onDisk(text)));
    } catch {
      return null;
    }
  }

  #look(text: string, isRead: boolean): PathSnapshot {
    const witness = this.#witnesses.get(text) ?? { facts: factsAt(text), isRead };
    witness.isRead ||= isRead;
    this.#witnesses.set(text, witness);
    return witness;
  }
}

/** Of the name itself, where it is a link; null where nothing exists, or it cannot be read. */
export function factsAt(path: string): Stats | null {
  try {
    return lstatSync(onDisk(path), { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function entryOf(path: string, facts: Stats): TreeEntry {
  return {
    kind: kindOf(facts),
    target: facts.isSymbolicLink() ? targetOf(path) : null,
    identity: facts.nlink > 1 && facts.isFile() ? identityAt(path) : "",
    links: facts.nlink,
    isExecutable: (facts.mode & 0o111) !== 0,
  };
}

/** Inode numbers of some file systems exceed the range of a number. */
function identityAt(path: string): string {
  try {
    const { dev, ino } = lstatSync(onDisk(path), { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return "";
  }
}

function targetOf(path: string): string | null {
  try {
    return decoded(readlinkSync(onDisk(path), { encoding: "buffer" }));
  } catch {
    return null;
  }
}

function kindOf(facts: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): TreeEntry["kind"] {
  return facts.isSymbolicLink() ? "link" : facts.isDirectory() ? "folder" : facts.isFile() ? "file" : "other";
}

function textOf(path: Path): string {
  return `/${path.join("/")}`;
}

function listedBytes(path: string): readonly ListedName[] {
  const names = readdirSync(onDisk(path), { withFileTypes: true, encoding: "buffer" });
  return names.map((one) => ({ name: decoded(one.name), kind: kindOf(one) }));
}

const ESCAPED_BYTE = /[\udc80-\udcff]/u;

/** The bytes of a path with bytes that are not UTF-8. */
function onDisk(path: string): string | Buffer {
  if (!ESCAPED_BYTE.test(path)) return path;
  const parts = [...path].map((sign) =>
    ESCAPED_BYTE.test(sign) ? Buffer.of(sign.charCodeAt(0) - 0xdc00) : Buffer.from(sign),
  );
  return Buffer.concat(parts);
}

/** A comment or a name may be in another encoding: such bytes become single surrogates, and the text around them stays as it is. */
function decoded(bytes: Buffer): string {
  if (isUtf8(bytes)) return UTF8.decode(bytes);
  let text = "";
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    text += isUtf8(line) ? UTF8.decode(line) : escaped(line);
    start = end;
  }
  return text;
}

const NEWLINE = 0x0a;
const sequenceBytesMax = 4;

function escaped(line: Buffer): string {
  let text = "";
  for (let at = 0; at < line.length; ) {
    let length = 1;
    while (length < sequenceBytesMax && !isUtf8(line.subarray(at, at + length))) length++;
    const part = line.subarray(at, at + length);
    const isText = isUtf8(part);
    text += isText ? UTF8.decode(part) : String.fromCharCode(0xdc00 + (line[at] as number));
    at += isText ? part.length : 1;
  }
  return text;
}
