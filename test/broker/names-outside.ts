// A DNS resolver on loopback for tests: it returns configured answers and counts queries.
import dgram from "node:dgram";
import { once } from "node:events";

/** Each query for the name takes the next answer; the last one is repeated. Addresses with colons are IPv6. */
export type Answers = readonly (readonly string[])[];

export class NamesOutside {
  readonly names: Map<string, Answers> = new Map<string, Answers>();
  /** Number of A queries by name. */
  readonly asked: Map<string, number> = new Map<string, number>();
  readonly #socket = dgram.createSocket("udp4");

  async start(): Promise<string> {
    this.#socket.on("message", (bytes, from) => this.#socket.send(this.#answer(bytes), from.port, from.address));
    this.#socket.bind(0, "127.0.0.1");
    await once(this.#socket, "listening");
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  stop(): void {
    this.#socket.close();
  }

  #answer(bytes: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = bytes[at] as number; length > 0; length = bytes[at] as number) {
      labels.push(bytes.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join(".").toLowerCase();
    const isOlder = bytes.readUInt16BE(at + 1) === 1;
    const answers = this.names.get(name);
    const count = this.asked.get(name) ?? 0;
    if (isOlder) this.asked.set(name, count + 1);
    const found = (answers?.[Math.min(count, answers.length - 1)] ?? []).filter((one) => one.includes(":") !== isOlder);
    const header = Buffer.from(bytes.subarray(0, 12));
    header.writeUInt16BE(answers === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, bytes.subarray(12, at + 5), ...found.map(record)]);
  }
}

/** A TTL of zero, so that answers are never cached. */
function record(address: string): Buffer {
  const isOlder = !address.includes(":");
  const data = isOlder ? Buffer.from(address.split(".").map(Number)) : wide(address);
  return Buffer.concat([Buffer.from([0xc0, 12, 0, isOlder ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
}

/** Accepts at most one `::`, and a dotted quad only at the end. */
function wide(address: string): Buffer {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((word) => word.toString(16)).join(":"),
  );
  const [left, right] = plain.split("::").map((half) => (half === "" ? [] : half.split(":"))) as [string[], string[]?];
  const missing = new Array<string>(8 - left.length - (right?.length ?? 0)).fill("0");
  const words = right === undefined ? left : [...left, ...missing, ...right];
  return Buffer.concat(words.map((word) => Buffer.from(word.padStart(4, "0"), "hex")));
}
