// The control messages about shared stores.
import type { Json, JsonObject } from "../../base/json.ts";
import type { StoreItem } from "../stores/shared-store.ts";

/** One change of a store, as the log has it. */
export interface StoreChange {
  /** The log entry. */
  readonly id: string;
  readonly at: number;
  readonly change: "put" | "delete" | "define";
  readonly key: string | null;
  readonly revision: number | null;
  readonly by: string;
  /** Of the value as JSON. */
  readonly digest: string | null;
  /** Null: removed, or too long for the log. */
  readonly value: Json;
}

export interface StoreView {
  readonly store: string;
  readonly class: string;
  readonly about: string;
  readonly schema: JsonObject | null;
  readonly items: number;
  readonly revision: number;
}

export type StoreMessages = {
  readonly "store.list": {
    readonly asks: { readonly workspace: string };
    readonly answers: { readonly stores: readonly StoreView[] };
  };
  readonly "store.get": {
    readonly asks: { readonly workspace: string; readonly store: string; readonly key: string | null };
    readonly answers: { readonly revision: number; readonly items: readonly StoreItem[] };
  };
  /** `value` null with `isRemoved` removes the item. */
  readonly "store.put": {
    readonly asks: {
      readonly workspace: string;
      readonly store: string;
      readonly key: string;
      readonly value: Json;
      readonly isRemoved: boolean;
      readonly revision: number;
    };
    readonly answers: { readonly revision: number };
  };
  readonly "store.define": {
    readonly asks: { readonly workspace: string; readonly store: string; readonly schema: JsonObject };
    readonly answers: object;
  };
  /** The newest first. */
  readonly "store.history": {
    readonly asks: {
      readonly workspace: string;
      readonly store: string;
      readonly key: string | null;
      readonly count: number;
    };
    readonly answers: { readonly changes: readonly StoreChange[] };
  };
};
