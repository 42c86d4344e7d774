// Parses a TLS client hello for its server name. Parses to the last byte, or refuses.

export interface ClientHello {
  /** As written; null where the extension is missing. */
  readonly serverName: string | null;
  /** An encrypted hello is enclosed (ECH). A decoy of the same shape cannot be distinguished from a real one. */
  readonly enclosed: boolean;
}

const SERVER_NAME = 0;
const ENCRYPTED_CLIENT_HELLO = 0xfe0d;
/** Draft numbers of the extension; a server that still supports one would follow it. */
const ENCRYPTED_SERVER_NAME = 0xffce;
const DRAFTS = [0xfe08, 0xfe09, 0xfe0a, 0xfe0b, 0xfe0c];
const serverNameBytesMax = 254;

export function readClientHello(body: Uint8Array): ClientHello | null {
  const reader = new Reader(body);
  const version = reader.number(2);
  if (version === null || version >> 8 !== 3) return null;
  const random = reader.bytes(32);
  const session = reader.list(1);
  const suites = reader.list(2);
  const compressions = reader.list(1);
  const extensions = reader.list(2);
  if (random === null || session === null || suites === null || compressions === null) return null;
  if (session.length > 32 || suites.length < 2 || suites.length % 2 !== 0 || compressions.length < 1) return null;
  // A hello without extensions ends here: it names no server.
  if (extensions === null) return reader.missing === 2 ? { serverName: null, enclosed: false } : null;
  return reader.isDone ? readExtensions(extensions) : null;
}

function readExtensions(bytes: Uint8Array): ClientHello | null {
  const reader = new Reader(bytes);
  const seen = new Set<number>();
  let serverName: string | null = null;
  let enclosed = false;
  while (!reader.isDone) {
    const type = reader.number(2);
    const data = reader.list(2);
    // A duplicate extension: two servers could use different ones.
    if (type === null || data === null || seen.has(type)) return null;
    seen.add(type);
    if (type === ENCRYPTED_CLIENT_HELLO || type === ENCRYPTED_SERVER_NAME || DRAFTS.includes(type)) enclosed = true;
    if (type !== SERVER_NAME) continue;
    serverName = readServerName(data);
    if (serverName === null) return null;
  }
  return { serverName, enclosed };
}

/** A list of exactly one host name. */
function readServerName(data: Uint8Array): string | null {
  const outer = new Reader(data);
  const list = outer.list(2);
  if (list === null || !outer.isDone) return null;
  const inner = new Reader(list);
  const type = inner.number(1);
  const name = inner.list(2);
  if (type !== 0 || name === null || !inner.isDone) return null;
  if (name.length === 0 || name.length > serverNameBytesMax) return null;
  return name.every((byte) => byte > 0x20 && byte < 0x7f) ? String.fromCharCode(...name) : null;
}

/** Reads numbers and length-prefixed lists; null past the end. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** The size of a number that was read past the end. */
  missing = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(size: 1 | 2): number | null {
    if (this.isDone) this.missing = size;
    const bytes = this.bytes(size);
    if (bytes === null) return null;
    return size === 1 ? (bytes[0] as number) : ((bytes[0] as number) << 8) | (bytes[1] as number);
  }

  list(size: 1 | 2): Uint8Array | null {
    const length = this.number(size);
    return length === null ? null : this.bytes(length);
  }

  bytes(length: number): Uint8Array | null {
    const end = this.#at + length;
    if (end > this.#bytes.length) return null;
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}
