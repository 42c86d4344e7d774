// TLS on 443: the server name of every client hello must be the connected name.
import type { Destination } from "../../../core/authority/axes/destination.ts";
import { helloBytesMax, retryBytesMax } from "../limits.ts";
import { readClientHello } from "./client-hello.ts";
import { readHandshake } from "./handshake.ts";
import { HELD, type Inspection, type InspectionStep, refusedStep, sameHost, spokenHost } from "./inspection.ts";

const CLIENT_HELLO = 1;
const SERVER_HELLO = 2;
const HANDSHAKE = 22;
const recordHeaderBytes = 5;
/** The state between the two hellos. */
const recordsPassedOverMax = 64;

/** The random value of a HelloRetryRequest. A second hello follows unencrypted. */
const RETRY = Buffer.from("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c", "hex");

type State = "hello" | "answer" | "again" | "settled";

/**
 * After its hello an honest client waits for the server, so buffering later bytes costs nothing. Otherwise a client
 * could send a second hello with another name before the server asks for one.
 */
export class TlsInspection implements Inspection {
  readonly #host: Destination;
  #state: State = "hello";
  #held: Uint8Array = new Uint8Array(0);
  /** Fewer bytes than this cannot be parsed further. */
  #needed = 0;
  #answered: Uint8Array = new Uint8Array(0);

  constructor(host: Destination) {
    this.#host = host;
  }

  get settled(): boolean {
    return this.#state === "settled";
  }

  push(bytes: Uint8Array): InspectionStep {
    switch (this.#state) {
      case "settled":
        return { kind: "pass", bytes: [bytes] };
      case "hello":
        this.#held = joined(this.#held, bytes);
        return this.#hello();
      case "answer":
        this.#held = joined(this.#held, bytes);
        return this.#held.length > retryBytesMax ? refusedStep("protocol") : HELD;
      case "again":
        this.#held = joined(this.#held, bytes);
        return this.#again();
      default:
        return this.#state satisfies never;
    }
  }

  answer(bytes: Uint8Array): InspectionStep {
    if (this.#state !== "answer") return HELD;
    this.#answered = joined(this.#answered, bytes);
    const read = readHandshake(this.#answered, retryBytesMax);
    // The random value comes first: the rest of a long server flight need not be awaited.
    if (read.kind === "more" && this.#answered.length < retryBytesMax) {
      const early = isRetryRequest(firstFragment(this.#answered));
      if (early === null) return HELD;
      return early ? this.#retry() : this.#settle();
    }
    const isRetry = read.kind === "message" && read.type === SERVER_HELLO && hasRetry(read.body);
    const isRetryInFront = read.kind === "malformed" && isRetryRequest(firstFragment(this.#answered)) === true;
    return isRetry || isRetryInFront ? this.#retry() : this.#settle();
  }

  #hello(): InspectionStep {
    if (this.#held.length < this.#needed) return HELD;
    const read = readHandshake(this.#held, helloBytesMax);
    if (read.kind === "more") return this.#wait(read.needed);
    const refused = this.#refusal(read);
    if (refused !== null) return refused;
    this.#state = "answer";
    this.#needed = 0;
    const hello = this.#held.subarray(0, read.kind === "message" ? read.used : 0);
    this.#held = this.#held.subarray(hello.length);
    if (this.#held.length > retryBytesMax) return refusedStep("protocol");
    return { kind: "pass", bytes: [hello] };
  }

  /** Null: the hello names the host. */
  #refusal(read: ReturnType<typeof readHandshake>): InspectionStep | null {
    if (read.kind !== "message" || read.type !== CLIENT_HELLO) return refusedStep("protocol");
    const hello = readClientHello(read.body);
    if (hello === null) return refusedStep("protocol");
    if (hello.enclosed) return refusedStep("name_hidden");
    // A literal address is not allowed in a hello; a client omits the name instead.
    if (hello.serverName === null) return this.#host.name === null ? null : refusedStep("name_missing");
    const spoken = spokenHost(hello.serverName);
    if (spoken !== null && sameHost(spoken, this.#host)) return null;
    return refusedStep("name_differs", spoken);
  }

  #retry(): InspectionStep {
    this.#state = "again";
    return this.#again();
  }

  /** Skips what may precede the second hello: a compatibility byte, early data that the server rejects. */
  #again(): InspectionStep {
    if (this.#held.length > retryBytesMax) return refusedStep("protocol");
    if (this.#held.length < this.#needed) return HELD;
    let at = 0;
    for (let passed = 0; this.#held[at] !== HANDSHAKE; passed++) {
      if (passed > recordsPassedOverMax) return refusedStep("protocol");
      if (at + recordHeaderBytes > this.#held.length) return this.#wait(at + recordHeaderBytes);
      at += recordHeaderBytes + (((this.#held[at + 3] as number) << 8) | (this.#held[at + 4] as number));
    }
    const read = readHandshake(this.#held.subarray(at), helloBytesMax);
    if (read.kind === "more") return this.#wait(at + read.needed);
    return this.#refusal(read) ?? this.#settle();
  }

  #wait(needed: number): InspectionStep {
    this.#needed = needed;
    return HELD;
  }

  #settle(): InspectionStep {
    this.#state = "settled";
    const bytes = this.#held;
    this.#held = new Uint8Array(0);
    this.#answered = new Uint8Array(0);
    return bytes.length === 0 ? HELD : { kind: "pass", bytes: [bytes] };
  }
}

/** The bytes of the first record so far. */
function firstFragment(bytes: Uint8Array): Uint8Array {
  if (bytes.length < recordHeaderBytes) return bytes.subarray(bytes.length);
  const length = ((bytes[3] as number) << 8) | (bytes[4] as number);
  return bytes.subarray(recordHeaderBytes, recordHeaderBytes + length);
}

/** Null: incomplete. Type, length, version, then the random value. */
function isRetryRequest(fragment: Uint8Array): boolean | null {
  if (fragment.length < 38) return null;
  return fragment[0] === SERVER_HELLO && hasRetry(fragment.subarray(4));
}

function hasRetry(body: Uint8Array): boolean {
  return body.length >= 34 && RETRY.equals(body.subarray(2, 34));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
