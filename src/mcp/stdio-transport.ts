// The SDK's transport over stdio: bounded lines in, lines out, with backpressure in both directions. After the client closes
// its end, pending requests are still answered as long as the client can read.
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, member } from "../core/base/json.ts";
import { type Line, LineReader } from "../text/line-reader.ts";
import type { InboundMessages } from "./inbound-messages.ts";
import { isRequestId } from "./json-rpc.ts";
import { lineBytesMax, outputPendingBytesMax, requestsInFlightMax } from "./limits.ts";
import { LISTEN, type ListenedResources } from "./listened-resources.ts";

const clientCheckMilliseconds = 200;

export interface StdioTransportOptions {
  /** Starts reading. The reader reuses the chunk's memory after the callback returns. */
  openInput(onChunk: (chunk: Buffer) => void): Readable;
  readonly output: Writable;
  readonly inbound: InboundMessages;
  /** Absent where no resources are watched. */
  readonly listened?: ListenedResources;
  /** Whether the client process has ended, although the pipe does not show it yet. */
  isClientGone(): boolean;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  readonly #lines = new LineReader(lineBytesMax);
  #input: Readable | null = null;
  #outgoing = "";
  #isEnding = false;
  #isClosed = false;
  #clientCheck: ReturnType<typeof setInterval> | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { openInput, output } = this.#options;
    const input = openInput((chunk) => {
      this.#lines.push(chunk, this.#onLine);
      this.#applyBackpressure();
    });
    this.#input = input;
    input.on("end", () => {
      const rest = this.#lines.rest();
      if (rest !== null) this.#onLine(rest);
      this.finish();
    });
    input.on("error", () => this.finish());
    output.on("error", () => void this.close());
    output.on("drain", () => this.#applyBackpressure());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(JSON.stringify(message));
    const id = "method" in message ? undefined : message.id;
    if (!isRequestId(id)) return;
    this.#options.inbound.answered(id, "result" in message);
    this.#options.listened?.close(id);
    this.#continue();
  }

  /** Stops reading; closes when every pending request is answered. */
  finish(): void {
    if (this.#isEnding || this.#isClosed) return;
    this.#isEnding = true;
    this.#input?.pause();
    this.#clientCheck = setInterval(() => {
      if (this.#options.isClientGone()) void this.close();
    }, clientCheckMilliseconds);
    this.#continue();
  }

  /** The SDK cancels the calls that are still running. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#clientCheck);
    this.#flush();
    this.#input?.pause();
    this.#options.listened?.closeAll();
    this.onclose?.();
  }

  /** Returns false to stop reading lines. */
  readonly #onLine = (line: Line): boolean => {
    if (this.#isEnding || this.#isClosed) return false;
    const read = this.#options.inbound.read(line);
    switch (read.kind) {
      case "message":
        void this.#deliver(read.message);
        return true;
      case "response":
        this.#write(JSON.stringify(read.response));
        return true;
      case "end":
        if (read.response !== null) this.#write(JSON.stringify(read.response));
        this.finish();
        return false;
      case "ignore":
        return true;
      default:
        return read satisfies never;
    }
  };

  /** A subscription is delivered once it is known which of its resources are watched. */
  async #deliver(message: JsonObject): Promise<void> {
    const { listened } = this.#options;
    const [id, method, params] = [member(message, "id"), member(message, "method"), member(message, "params")];
    if (method === "notifications/cancelled" && isJsonObject(params)) listened?.close(member(params, "requestId"));
    const isListen = method === LISTEN && listened !== undefined && isRequestId(id);
    const delivered = isListen ? await listened.open(id, message) : message;
    if (delivered !== null && !this.#isClosed) this.onmessage?.(delivered as unknown as JSONRPCMessage);
    else if (isListen) listened.close(id);
  }

  #continue(): void {
    if (this.#isEnding && this.#options.inbound.inFlight === 0) void this.close();
    else this.#applyBackpressure();
  }

  #applyBackpressure(): void {
    const input = this.#input;
    if (this.#isEnding || this.#isClosed || input === null) return;
    const { output, inbound } = this.#options;
    const isFull = inbound.inFlight >= requestsInFlightMax || output.writableLength >= outputPendingBytesMax;
    if (isFull && !input.isPaused()) input.pause();
    else if (!isFull && input.isPaused()) input.resume();
  }

  /** Collects the lines of one event-loop turn into one write. */
  #write(line: string): void {
    if (this.#isClosed) return;
    if (this.#outgoing === "") setImmediate(this.#flush);
    this.#outgoing += `${line}\n`;
  }

  readonly #flush = (): void => {
    if (this.#outgoing === "") return;
    const text = this.#outgoing;
    this.#outgoing = "";
    this.#options.output.write(text);
  };
}
