// The transport to an MCP server, a process or an HTTP endpoint: messages out, texts in, within limits.
import type { JsonObject } from "../../core/base/json.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";

/** Results of more than this are refused anyway. */
export const serverLineBytesMax = 8_388_608;

export interface ServerListener {
  /** `text` is null for a message over the limit. Returns false to drop everything that follows. */
  heard(text: string | null): boolean;
  /** A request that cannot be answered any more; the connection itself goes on. */
  failed(id: number, message: string, code?: "sign_in_required"): void;
  /** Whether a request was not answered yet. */
  isOpen(id: number): boolean;
  /** The server is heard again: something may have changed that it could not say. */
  missed(): void;
}

export interface ServerConnection {
  /** Why it has ended, once it has. */
  readonly ended: Promise<string>;
  readonly isOver: boolean;
  /** For a person: the end of the server's error output. */
  readonly complaint: string;
  readonly enforcement: readonly Enforcement[];
  /** An address: no process of this machine. */
  readonly isRemote: boolean;
  /** Whether notifications of the server are received now, such as that its lists changed. */
  readonly isReceiving: boolean;
  /** From now on the server is heard between requests, where it offers that. */
  listen(): void;
  hear(listener: ServerListener): void;
  /** False where the message cannot be sent. */
  say(message: JsonObject): boolean;
  /** From now on messages are of this version of the protocol. */
  speak(protocol: string): void;
  /** `why`: what the server did; null where it did nothing wrong. */
  end(why: string | null): void;
}
