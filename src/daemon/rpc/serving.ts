// The interface between the socket transport and the message handlers.
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Refusal } from "../../core/ports/daemon/exchange.ts";

/** The socket a client connected to. */
export type SocketName = "call" | "control";

/** The client process, as the kernel reports it. */
export interface Peer {
  readonly pid: number;
  readonly uid: number;
  /** Start time in kernel ticks, so that a reused pid is another process. */
  readonly start: string;
  /** Itself first, then its parent and so on, with their start times. */
  readonly ancestors: readonly ProcessMark[];
  /** Whether it has a terminal. */
  readonly terminal: boolean;
}

export interface ProcessMark {
  readonly pid: number;
  readonly start: string;
  /** Its process session, the device number of its controlling terminal (0: none) and its name, if known. */
  readonly session?: number;
  readonly terminal?: number;
  readonly name?: string;
  /** The account it runs as, where it is known. */
  readonly uid?: number | null;
  /** What its standard input is. */
  readonly input?: "channel" | "terminal" | "other" | "unknown";
  /** Its executable, where the file belongs to the system. */
  readonly program?: string | null;
}

/** Not found: it has ended, or is not visible. `isWhole`: its ancestors are known up to the first process. */
export type ProcessLookup =
  | { readonly isFound: true; readonly peer: Peer; readonly isWhole: boolean }
  | { readonly isFound: false };

/** One connection; its resources end with it. */
export interface ClientConnection {
  readonly socketName: SocketName;
  readonly peer: Peer;
  onClose(listener: () => void): void;
  /** Sends an unsolicited event: `{event}`. False if it could not be sent. */
  tell(event: JsonObject): boolean;
  close(): void;
}

/** One request in progress. */
export interface Exchange {
  readonly connected: ClientConnection;
  readonly name: string;
  readonly value: JsonObject;
  /** Aborts when the client has cancelled or disconnected, unless the request is answered. */
  readonly signal: AbortSignal;
  /** Cancels it as if the client had: its work ends. */
  stop(): void;
  /** Sends an event before the response. */
  tell(event: Json): void;
  /** Resolves when there is room for more; output to a disconnected client is dropped. */
  send(channel: number, bytes: Uint8Array): Promise<void>;
  /** The client's input, until its end. */
  readonly input: AsyncIterable<Uint8Array>;
}

/** Resolves to the response; an exception is an internal error and is reported as `not_available`, without details. */
export type MessageHandler = (exchange: Exchange) => Promise<{ readonly ok: true; readonly value: object } | Refusal>;

export type MessageHandlers = Readonly<Record<SocketName, ReadonlyMap<string, MessageHandler>>>;
