// Secrets as they are kept: sealed. The store never sees a value.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

/** For whom a secret may be used, besides the agent's own grant: the tools and hosts it is bound to. */
export interface SecretBinding {
  readonly tools: readonly string[];
  readonly hosts: readonly string[];
  /** Uses altogether; null is not counted. */
  readonly uses: number | null;
}

export interface SealedSecret {
  readonly name: string;
  readonly version: number;
  /** Envelope: the value under a key of its own, and that key under the key of the state, base64. */
  readonly sealed: string;
  readonly keyId: string;
  readonly binding: SecretBinding;
  readonly username: string | null;
  /** An alarm is raised where it appears anywhere. Never handed out. */
  readonly isCanary: boolean;
  readonly used: number;
  readonly at: number;
}

export interface SecretStore {
  put(secret: SealedSecret, entry: LogEntry): Durable<null>;
  get(name: string): SealedSecret | null;
  all(): readonly SealedSecret[];
  delete(name: string, entry: LogEntry): Durable<boolean>;
  /** Counts one use; false where none is left. */
  use(name: string, version: number, entry: LogEntry): Durable<boolean>;
}

/** Small values of the state itself: verifiers of passphrases, key ids, settings. */
export interface SettingStore {
  get(name: string): string | null;
  set(name: string, value: string | null, entry: LogEntry): Durable<null>;
}
