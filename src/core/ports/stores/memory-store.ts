// What agents and tools keep: values by key, and observations. Both carry whether they may be believed.
import type { Durable } from "./durable.ts";
import type { AgentName } from "./link-store.ts";

/** Whose keys: of an agent, of one session, of a tool, or shared by a workspace. */
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

export type MemoryWritten =
  | { readonly ok: true; readonly version: number }
  /** `version_conflict`: somebody else wrote in between. `quota`: too many keys or bytes. */
  | { readonly ok: false; readonly code: "version_conflict" | "quota"; readonly message: string };

export interface MemoryWrite {
  readonly namespace: Namespace;
  readonly key: string;
  readonly value: string;
  /** Only if this is the version there; 0 is "only if there is none"; null is whatever there is. */
  readonly version: number | null;
  readonly expires: number | null;
  readonly isClean: boolean;
  readonly writer: AgentName;
  readonly at: number;
}

export interface MemoryStore {
  get(namespace: Namespace, key: string, now: number): Durable<MemoryValue | null>;
  set(write: MemoryWrite): Durable<MemoryWritten>;
  delete(namespace: Namespace, key: string, version: number | null): Durable<boolean>;
  /** By key, in order, after the key given; `text`: words that stand in key or value. */
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
  /** Removes what is past its time. */
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
