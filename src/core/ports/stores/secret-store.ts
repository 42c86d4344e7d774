// Storage of sealed secrets. The store never sees a plain value.
import type { Durable } from "./durable.ts";
import type { LogEntry } from "./log.ts";

/** Restrictions on a secret besides the agent's own grant: the tools and hosts it is bound to. */
export interface SecretBinding {
  readonly tools: readonly string[];
  readonly hosts: readonly string[];
  /** Total uses; null means uncounted. */
  readonly uses: number | null;
  /** The value signs requests, and is never sent. */
  readonly isSignOnly?: true;
}

export interface SealedSecret {
  readonly name: string;
  readonly version: number;
  /** Envelope: the value under its own key, and that key under the state key, base64. */
  readonly sealed: string;
  readonly keyId: string;
  readonly binding: SecretBinding;
  readonly username: string | null;
  /** An alarm is raised if it appears anywhere. Never handed out. */
  readonly isCanary: boolean;
  readonly used: number;
  readonly at: number;
}

export interface SecretStore {
  put(secret: SealedSecret, entry: LogEntry): Durable<null>;
  get(name: string): SealedSecret | null;
  all(): readonly SealedSecret[];
  delete(name: string, entry: LogEntry): Durable<boolean>;
  /** Counts one use; false if none is left. */
  use(name: string, version: number, entry: LogEntry): Durable<boolean>;
}

/** Small values of the state itself: passphrase verifiers, key ids, settings. */
export interface SettingStore {
  get(name: string): string | null;
  set(name: string, value: string | null, entry: LogEntry): Durable<null>;
}
