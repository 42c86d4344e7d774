// What the world outside offers to a call, each behind one small type: files, processes, network, secrets, memory.
import type { Destination } from "../authority/destination.ts";
import type { Enforcement } from "./enforcement.ts";

export type PortFailure = { readonly ok: false; readonly code: string; readonly message: string };
export type PortResult<T> = { readonly ok: true; readonly value: T } | PortFailure;

export interface Files {
  read(path: readonly string[], bytesMax: number): Promise<PortResult<Uint8Array>>;
  write(path: readonly string[], content: Uint8Array): Promise<PortResult<null>>;
  remove(path: readonly string[]): Promise<PortResult<null>>;
  list(path: readonly string[]): Promise<PortResult<readonly string[]>>;
}

export interface Run {
  readonly status: number | null;
  readonly signal: string | null;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
  readonly enforcement: readonly Enforcement[];
}

export interface Spawner {
  run(argv: readonly string[], root: readonly string[], mode: "ro" | "rw"): Promise<PortResult<Run>>;
}

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
