// The keys the state has at hand: one that seals, and those before it while anything is still sealed by them. Locked means
// that none is in memory.
import type { Clock } from "../ports/clock.ts";
import type { Answer, Refusal } from "../ports/exchange.ts";
import type { SettingStore } from "../ports/secret-store.ts";
import { WrongTries } from "./presence-tries.ts";
import { isSame, keyOf, newKey, type StateKey, stretched, verifierOf } from "./sealing-key.ts";
import { readKeyFile, writeKeyFile } from "./sealing-key-file.ts";
import { KEY_SETTING, type KeyRecord, previousKeys, readRecord } from "./sealing-record.ts";

export interface Keys {
  readonly current: StateKey;
  readonly previous: readonly StateKey[];
}

export class Keyring {
  readonly #settings: SettingStore;
  readonly #path: string;
  readonly #tries: WrongTries;
  #keys: Keys | null = null;

  constructor(settings: SettingStore, path: string, now: Clock) {
    this.#settings = settings;
    this.#path = path;
    this.#tries = new WrongTries(now);
  }

  /** Null before anything was ever said about it: a key file then. */
  record(): KeyRecord | null | "unreadable" {
    const text = this.#settings.get(KEY_SETTING);
    return text === null ? null : (readRecord(text) ?? "unreadable");
  }

  get isLocked(): boolean {
    return this.#keys === null && this.record() !== null && !this.#isFile();
  }

  /** `mayCreate`: nothing is sealed yet, so a key that is not there cannot be missed by anything. */
  keys(mayCreate: boolean): Answer<Keys> {
    if (this.#keys !== null) return { ok: true, value: this.#keys };
    if (!this.#isFile()) return LOCKED;
    const record = this.record();
    const found = readKeyFile(this.#path);
    if (!found.ok && !(found.isMissing && mayCreate && record === null)) return unavailable(found.message);
    const made = found.ok ? found.keys : [newKey()];
    if (!found.ok) {
      const problem = writeKeyFile(this.#path, made, true);
      if (problem !== null) return unavailable(problem);
    }
    const wanted = record === null || record === "unreadable" ? made[0] : made.find(({ id }) => id === record.keyId);
    if (wanted === undefined) return unavailable(`${this.#path} does not hold the key that secrets are sealed with`);
    const previous = record === null || record === "unreadable" ? [] : previousKeys(record, wanted);
    return { ok: true, value: this.hold({ current: wanted, previous }) };
  }

  async unlock(passphrase: string): Promise<Answer<object>> {
    const record = this.record();
    if (record === "unreadable") return unavailable("what is kept about the key does not read");
    if (record?.passphrase == null) return invalid("the key is in a file: there is no passphrase");
    const wait = this.#tries.begin("");
    if (wait > 0) return secretRefused("too many wrong answers", `wait ${Math.ceil(wait / 1000)} seconds`);
    const { salt, cost, verifier } = record.passphrase;
    const bytes = await stretched(passphrase, Buffer.from(salt, "base64"), cost);
    if (!isSame(verifierOf(bytes), Buffer.from(verifier, "base64"))) {
      bytes.fill(0);
      return secretRefused("the passphrase is wrong", null);
    }
    this.#tries.right("");
    const current = keyOf(bytes);
    this.hold({ current, previous: previousKeys(record, current) });
    return { ok: true, value: {} };
  }

  lock(): Answer<object> {
    if (this.#isFile())
      return {
        ...invalid("the key is in a file: there is nothing to lock it with"),
        fix: "ambit secrets key --passphrase",
      };
    this.#wipe();
    return { ok: true, value: {} };
  }

  hold(keys: Keys): Keys {
    if (this.#keys !== null && this.#keys !== keys) this.#keys = null;
    this.#keys = keys;
    return keys;
  }

  #isFile(): boolean {
    const record = this.record();
    return record === null || (record !== "unreadable" && record.source === "file");
  }

  #wipe(): void {
    for (const key of this.#keys === null ? [] : [this.#keys.current, ...this.#keys.previous]) key.bytes.fill(0);
    this.#keys = null;
  }
}

export const LOCKED: Refusal = secretRefused("the store is locked", "ambit secrets unlock");

export function secretRefused(message: string, fix: string | null): Refusal {
  return { ok: false, code: "secret_refused", message, fix };
}

export function unavailable(message: string): Refusal {
  return { ok: false, code: "not_available", message, fix: null };
}

export function invalid(message: string): Refusal {
  return { ok: false, code: "invalid_input", message, fix: null };
}
