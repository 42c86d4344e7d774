// What serves the two sockets, and what answers on them: the messages' meaning is on one side of this, bytes on the other.
import type { Json, JsonObject } from "../authority/json.ts";
import type { Refusal } from "../ports/exchange.ts";

/** Which door somebody came through. */
export type Door = "call" | "control";

/** The process on the other side, as the kernel has it. */
export interface Peer {
  readonly pid: number;
  readonly uid: number;
  /** In the kernel's own count, so that a number given out again is another process. */
  readonly start: string;
  /** Itself first, then its parent and so on, with their starts. */
  readonly ancestors: readonly ProcessMark[];
  /** Whether it has a terminal. */
  readonly terminal: boolean;
}

export interface ProcessMark {
  readonly pid: number;
  readonly start: string;
  /** The process session it is in, the device number of its controlling terminal (0: none) and its name, where they are known. */
  readonly session?: number;
  readonly terminal?: number;
  readonly name?: string;
  /** The account it runs as, where it is known. */
  readonly uid?: number | null;
}

/** Not found: it has ended, or does not show. `isWhole`: its ancestors are known up to the first one. */
export type Looked =
  | { readonly isFound: true; readonly peer: Peer; readonly isWhole: boolean }
  | { readonly isFound: false };

/** One connection; what belongs to it ends with it. */
export interface Connected {
  readonly door: Door;
  readonly peer: Peer;
  onClose(ring: () => void): void;
  /** Something the other side did not ask for just now: `{event}`. False where it could not be sent. */
  tell(event: JsonObject): boolean;
  close(): void;
}

/** One question that is being answered. */
export interface Exchange {
  readonly connected: Connected;
  readonly name: string;
  readonly value: JsonObject;
  /** Rings once, when the asker has stopped asking or is gone. */
  onStop(ring: () => void): void;
  readonly isStopped: boolean;
  /** As if the asker had stopped asking: what goes on for it ends. */
  stop(): void;
  /** On the way to the answer. */
  tell(event: Json): void;
  /** Resolves when there is room for more; what is sent to somebody who is gone goes nowhere. */
  send(channel: number, bytes: Uint8Array): Promise<void>;
  /** What the asker sends along, until it says that this was all. */
  readonly input: AsyncIterable<Uint8Array>;
}

/** Resolves to the answer; whatever it throws is a mistake of ours and is told as `not_available`, without details. */
export type Answering = (exchange: Exchange) => Promise<{ readonly ok: true; readonly value: object } | Refusal>;

export type Doors = Readonly<Record<Door, ReadonlyMap<string, Answering>>>;
