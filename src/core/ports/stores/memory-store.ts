// Storage of agents and tools: values by key, and observations. Both record whether they are trusted.
import type { CodedFailure } from "../../base/result.ts";
import type { Durable } from "./durable.ts";
import type { AgentName } from "./link-store.ts";

/** Owner of the keys: an agent, one session, a tool, or a whole workspace. */
export type Namespace =
  | { readonly kind: "agent"; readonly name: AgentName }
  | { readonly kind: "session"; readonly session: string }
  | { readonly kind: "tool"; readonly tool: string; readonly workspace: string | null }
  | { readonly kind: "shared"; readonly workspace: string | null };

export interface MemoryValue {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly at: number;
  readonly expires: number | null;
  /** Written while the session had read nothing untrusted. */
  readonly isClean: boolean;
  readonly writer: AgentName;
}

export type MemoryWriteResult =
  | { readonly ok: true; readonly version: number }
  /** `version_conflict`: a concurrent write. `quota`: too many keys or bytes. */
  | CodedFailure<"version_conflict" | "quota">;

export interface MemoryWrite {
  readonly namespace: Namespace;
  readonly key: string;
  readonly value: string;
  /** Expected version; 0 requires that the key does not exist; null accepts any. */
  readonly version: number | null;
  readonly expires: number | null;
  readonly isClean: boolean;
  readonly writer: AgentName;
  readonly at: number;
}

export interface MemoryStore {
  get(namespace: Namespace, key: string, now: number): Durable<MemoryValue | null>;
  set(write: MemoryWrite): Durable<MemoryWriteResult>;
  delete(namespace: Namespace, key: string, version: number | null): Durable<boolean>;
  /** Sorted by key, after the given key; `text`: words that appear in key or value. */
  list(
    namespace: Namespace,
    asked: {
      readonly prefix: string;
      readonly text: string | null;
      readonly after: string | null;
      readonly count: number;
    },
    now: number,
  ): Durable<readonly MemoryValue[]>;
  /** Removes expired values. */
  sweep(now: number): Durable<number>;
}

export interface Observation {
  readonly id: string;
  readonly name: AgentName;
  readonly session: string | null;
  readonly at: number;
  readonly text: string;
  readonly tags: readonly string[];
  readonly isClean: boolean;
}

export interface ObservationStore {
  append(observation: Observation): Durable<null>;
  /** Of these agents, newest first. */
  query(asked: {
    readonly of: readonly AgentName[];
    readonly text: string | null;
    readonly tag: string | null;
    readonly since: number | null;
    readonly before: string | null;
    readonly count: number;
  }): Durable<readonly Observation[]>;
}
