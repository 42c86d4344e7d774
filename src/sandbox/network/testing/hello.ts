// TLS client hellos as programs write them, for tests.

function behindLength(size: 1 | 2 | 3, bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(size);
  length.writeUIntBE(bytes.length, 0, size);
  return Buffer.concat([length, bytes]);
}

export function extension(type: number, data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), behindLength(2, data)]);
}

/** One entry for each name. */
export function serverNames(...names: readonly string[]): Buffer {
  const entries = names.map((name) => Buffer.concat([Buffer.from([0]), behindLength(2, Buffer.from(name, "latin1"))]));
  return extension(0, behindLength(2, Buffer.concat(entries)));
}

/** Unknown values (GREASE) where honest clients put them. */
export const GREASE: Buffer = extension(0x1a1a, new Uint8Array(0));
export const ENCLOSED: Buffer = extension(0xfe0d, Buffer.alloc(40, 1));

/** No extension block at all, rather than an empty one. */
export function helloBody(...extensions: readonly Uint8Array[]): Buffer {
  return Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    behindLength(1, Buffer.alloc(32, 9)),
    behindLength(2, Buffer.from([0x1a, 0x1a, 0x13, 0x01])),
    behindLength(1, Buffer.from([0])),
    ...(extensions.length === 0 ? [] : [behindLength(2, Buffer.concat(extensions))]),
  ]);
}

export function handshake(type: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type]), behindLength(3, body)]);
}

/** The message split into records of this many bytes. */
export function records(message: Uint8Array, bytes = 16_384, type = 22): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += bytes)
    parts.push(Buffer.concat([Buffer.from([type, 3, 1]), behindLength(2, message.subarray(at, at + bytes))]));
  return Buffer.concat(parts);
}

export function helloTo(name: string): Buffer {
  return records(handshake(1, helloBody(GREASE, serverNames(name))));
}

export const RETRY_HELLO: Buffer = records(
  handshake(
    2,
    Buffer.concat([
      Buffer.from([3, 3]),
      Buffer.from("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c", "hex"),
      Buffer.from([0, 0x13, 0x01, 0, 0, 0]),
    ]),
  ),
);

export const SERVER_HELLO: Buffer = records(
  handshake(2, Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32, 5), Buffer.from([0, 0x13, 0x01, 0, 0, 0])])),
);
