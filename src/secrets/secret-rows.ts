// Operations of the vault on one row: open it, show it without its value, make its log entries.
import type { SecretView } from "../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { DurableResult } from "../core/ports/stores/durable.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SealedSecret, SecretBinding } from "../core/ports/stores/secret-store.ts";
import { unseal } from "./envelope.ts";
import type { Keys } from "./keyring.ts";
import { secretRefused } from "./refusals.ts";

export interface OpenedSecret {
  readonly name: string;
  readonly version: number;
  /** The caller wipes it. */
  readonly value: Buffer;
  readonly binding: SecretBinding;
  readonly username: string | null;
  readonly isCanary: boolean;
}

export function unsealValue(secret: SealedSecret, { current, previous }: Keys): Answer<Buffer> {
  const key = [current, ...previous].find(({ id }) => id === secret.keyId);
  const value = key === undefined ? null : unseal(secret.sealed, secret, key);
  return value === null
    ? secretRefused(`${secret.name} cannot be decrypted: it was encrypted with another key, or was changed`, null)
    : { ok: true, value };
}

export function openSecret(secret: SealedSecret, keys: Keys): Answer<OpenedSecret> {
  const value = unsealValue(secret, keys);
  if (!value.ok) return value;
  const { name, version, binding, username, isCanary } = secret;
  return { ok: true, value: { name, version, value: value.value, binding, username, isCanary } };
}

export function secretView({ name, version, binding, username, isCanary, used, at }: SealedSecret): SecretView {
  return { name, version, binding, username, isCanary, used, at };
}

export function notAUsername(username: string | null): string | null {
  return username === null || /^[\x21-\x39\x3b-\x7e]{1,256}$/.test(username)
    ? null
    : "a username has no blanks and no colon, and at most 256 characters";
}

/** One user action recorded in several entries: each has its own id and refers to the first. */
export function partOf(entry: LogEntry, number: number, secret: string | null): LogEntry {
  return { ...entry, id: `${entry.id}.${number}`, of: entry.id, outcome: "resealed", more: { ...entry.more, secret } };
}

export function answerOf<T>(kept: DurableResult<T>): Answer<T> {
  return kept.ok ? kept : { ...kept, fix: null };
}
