// Sources of the secret store's key, and the status of the current one.

export const KEY_SOURCES = ["file", "passphrase", "keychain", "age", "reference"] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

export type NewKey =
  | { readonly source: "file" }
  | { readonly source: "passphrase"; readonly passphrase: string }
  /** `bus`: address of the user's session bus, if it is not the default. */
  | { readonly source: "keychain"; readonly bus: string | null }
  /** Without an identity file the store stays locked until one is named. */
  | { readonly source: "age"; readonly recipient: string; readonly identity: string | null }
  /** `value`: of an environment variable that only the requesting process can see. */
  | { readonly source: "reference"; readonly reference: string; readonly value: string | null };

/** What a person provides to unlock the store. */
export interface KeyInput {
  readonly passphrase: string | null;
  /** Path of an age identity file. */
  readonly identity: string | null;
  readonly bus: string | null;
}

export interface KeyStatus {
  /** `unknown` if the stored key description cannot be parsed. */
  readonly source: KeySource | "unknown";
  /** The key file, the identity file, or the reference. */
  readonly where: string | null;
  /** The key is sealed for this age recipient. */
  readonly recipient: string | null;
  /** Null before the key exists. */
  readonly keyId: string | null;
  readonly isLocked: boolean;
  /** Why secrets are locked, and how to unlock them. */
  readonly problem: string | null;
  readonly fix: string | null;
}
