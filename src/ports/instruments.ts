// What the world outside offers to a call, each behind one small type: network, secrets, memory.
import type { Destination } from "../authority/destination.ts";

export type PortFailure = { readonly ok: false; readonly code: string; readonly message: string };
export type PortResult<T> = { readonly ok: true; readonly value: T } | PortFailure;

export interface Network {
  connect(to: Destination, port: number): Promise<PortResult<AsyncIterable<Uint8Array>>>;
}

export interface Secrets {
  /** Whether the secret is there; its value never passes through here. */
  has(name: readonly string[]): Promise<boolean>;
}

export interface Memory {
  get(key: readonly string[]): Promise<PortResult<string | null>>;
  set(key: readonly string[], value: string): Promise<PortResult<null>>;
}
