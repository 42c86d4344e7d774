// Shared stores of a workspace: named collections of JSON values that agents read as files and the daemon alone writes. Each
// write is one durable commit together with its log entry.

import type { Json, JsonObject } from "../../base/json.ts";
import type { CodedFailure } from "../../base/result.ts";
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

export interface StoreKey {
  readonly workspace: string;
  readonly store: string;
}

/** A store that a person defined, with the JSON Schema of its values. */
export interface StoreDefinition extends StoreKey {
  readonly schema: JsonObject;
  readonly at: number;
}

export interface StoreItem {
  readonly key: string;
  readonly value: Json;
  /** Of the store when the item was written last: it grows with every write, and no item has one twice. */
  readonly revision: number;
  readonly at: number;
  /** An agent, or the account of a person. */
  readonly writer: string;
  /** Written while its session had read nothing untrusted. */
  readonly isClean: boolean;
}

export interface StoreContent {
  readonly revision: number;
  /** Sorted by key. */
  readonly items: readonly StoreItem[];
}

export interface StoreWrite extends StoreKey {
  readonly key: string;
  /** Undefined removes the item. */
  readonly value: Json | undefined;
  /** The revision of the item that is replaced; 0: there is none. */
  readonly revision: number;
  readonly at: number;
  readonly writer: string;
  readonly isClean: boolean;
  /** What is wrong with the value, by the schema that is in effect in this commit; null: of a store that no person defined. */
  check(schema: JsonObject | null): string | null;
}

export type StoreRefusal = CodedFailure<"version_conflict" | "quota" | "invalid_input">;

export type StoreWriteResult = { readonly ok: true; readonly revision: number } | StoreRefusal;

export interface SharedStores {
  definitions(workspace: string): Durable<readonly StoreDefinition[]>;
  /** `check`: what is wrong with an item that is there already. Refused with the first such item. */
  define(
    definition: StoreDefinition,
    check: (item: StoreItem) => string | null,
    entry: LogEntry,
  ): Durable<{ readonly ok: true } | StoreRefusal>;
  /** Stores of this workspace that were defined or written, also those without items. */
  inUse(workspace: string): Durable<readonly string[]>;
  content(place: StoreKey): Durable<StoreContent>;
  write(write: StoreWrite, entry: (revision: number) => LogEntry): Durable<StoreWriteResult>;
}
