// Where the key of the state's secrets is to come from, and what is told of where it comes from now.

export const KEY_SOURCES = ["file", "passphrase", "keychain", "age", "reference"] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

export type NewKey =
  | { readonly source: "file" }
  | { readonly source: "passphrase"; readonly passphrase: string }
  /** `bus`: the address of the asking person's session bus, where it is not at the usual place. */
  | { readonly source: "keychain"; readonly bus: string | null }
  /** Without an identity's file nobody opens it until one is named. */
  | { readonly source: "age"; readonly recipient: string; readonly identity: string | null }
  /** `value`: of a variable, which only the process that asks can see. */
  | { readonly source: "reference"; readonly reference: string; readonly value: string | null };

/** What a person hands over so that a locked store opens. */
export interface KeyGiven {
  readonly passphrase: string | null;
  /** The file of an age identity. */
  readonly identity: string | null;
  readonly bus: string | null;
}

export interface KeyShown {
  /** Unknown where what is kept about the key does not read. */
  readonly source: KeySource | "unknown";
  /** The key's file, the identity's file, or the reference. */
  readonly where: string | null;
  /** The key is sealed for this age recipient. */
  readonly recipient: string | null;
  /** Null before there is one. */
  readonly keyId: string | null;
  readonly isLocked: boolean;
  /** Why no secret can be opened now, and what to do about it. */
  readonly problem: string | null;
  readonly fix: string | null;
}
