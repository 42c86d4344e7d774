// A resolver on loopback that knows one name, with a TTL of a minute, as real ones have.
import dgram from "node:dgram";
import { once } from "node:events";

const rememberedSeconds = 60;

export class OneName {
  readonly #socket = dgram.createSocket("udp4");
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Its address. */
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
    for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) {
      labels.push(bytes.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const isKnown = labels.join(".").toLowerCase() === this.#name;
    const hasAddress = isKnown && bytes.readUInt16BE(at + 1) === 1;
    const header = Buffer.from(bytes.subarray(0, 12));
    header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(hasAddress ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, rememberedSeconds, 0, 4, 127, 0, 0, 1]);
    return Buffer.concat([header, bytes.subarray(12, at + 5), ...(hasAddress ? [record] : [])]);
  }
}
