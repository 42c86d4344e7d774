// The keys in memory: one that seals, and its predecessors while anything is still sealed with them. Locked means that
// no key is in memory.
import type { Clock } from "../core/ports/clock.ts";
import type { Answer, Refusal } from "../core/ports/daemon/exchange.ts";
import type { KeyInput, KeyStatus } from "../core/ports/secret-key.ts";
import type { SettingStore } from "../core/ports/stores/secret-store.ts";
import { FailedAttempts } from "../platform/failed-attempts.ts";
import { newKey, type StateKey } from "./key.ts";
import { readKeyFile, writeKeyFile } from "./key-file.ts";
import { KEY_SETTING, type KeyRecord, previousKeys, readRecord } from "./record.ts";
import { referenceText } from "./references.ts";
import { invalid, LOCKED, secretRefused, unavailable } from "./refusals.ts";
import { type KeySources, NOTHING_GIVEN } from "./sources.ts";

/** A keychain may prompt the user: not for every call that fails. */
const againMilliseconds = 60_000;

export interface Keys {
  readonly current: StateKey;
  readonly previous: readonly StateKey[];
}

export class Keyring {
  readonly #settings: SettingStore;
  readonly #sources: KeySources;
  readonly #now: Clock;
  readonly #tries: FailedAttempts;
  #keys: Keys | null = null;
  /** Why the last attempt to fetch the key failed, and when it was. */
  #trouble: Refusal | null = null;
  #asked: number | null = null;
  /** A user locked it: only a user unlocks it again. */
  #isHeld = false;

  constructor(settings: SettingStore, sources: KeySources, now: Clock) {
    this.#settings = settings;
    this.#sources = sources;
    this.#now = now;
    this.#tries = new FailedAttempts(now);
  }

  /** Null before a source was ever chosen: then the key is in a file. */
  record(): KeyRecord | null | "unreadable" {
    const text = this.#settings.get(KEY_SETTING);
    return text === null ? null : (readRecord(text) ?? "unreadable");
  }

  get isLocked(): boolean {
    return this.#keys === null && this.record() !== null && !this.#isFile();
  }

  /** The keys in memory. `mayCreate`: nothing is sealed yet, so a missing key is no loss and a new one may be made. */
  keys(mayCreate: boolean): Answer<Keys> {
    if (this.#keys !== null) return { ok: true, value: this.#keys };
    if (!this.#isFile()) return this.#refusal();
    const record = this.record();
    const { path } = this.#sources;
    const found = readKeyFile(path);
    if (!found.ok && !(found.isMissing && mayCreate && record === null)) return unavailable(found.message);
    const made = found.ok ? found.keys : [newKey()];
    if (!found.ok) {
      const problem = writeKeyFile(path, made, true);
      if (problem !== null) return unavailable(problem);
    }
    const wanted = record === null || record === "unreadable" ? made[0] : made.find(({ id }) => id === record.keyId);
    if (wanted === undefined) return unavailable(`${path} does not contain the key that secrets are encrypted with`);
    const previous = record === null || record === "unreadable" ? [] : previousKeys(record, wanted);
    return { ok: true, value: this.hold({ current: wanted, previous }) };
  }

  /** Fetches the key from its source, if that needs no user input and was not tried just now. */
  async reach(): Promise<void> {
    if (this.#isHeld || !this.isLocked) return;
    const record = this.record();
    if (record === null || record === "unreadable" || !opensItself(record)) return;
    if (this.#asked !== null && this.#now() - this.#asked < againMilliseconds) return;
    await this.#fetch(record, NOTHING_GIVEN);
  }

  async unlock(given: KeyInput): Promise<Answer<object>> {
    const record = this.record();
    if (record === "unreadable") return unavailable("the stored key metadata cannot be parsed");
    if (record === null || record.source === "file") return invalid("the key is in a file: there is nothing to unlock");
    if (given.passphrase !== null && record.passphrase === null)
      return invalid(`the key comes from the ${record.source}: there is no passphrase`);
    if (given.identity !== null && record.age === null) return invalid("the key is not sealed for an age recipient");
    const wait = given.passphrase === null ? 0 : this.#tries.begin("");
    if (wait > 0) return secretRefused("too many wrong passphrases", `wait ${Math.ceil(wait / 1000)} seconds`);
    const found = await this.#fetch(record, given);
    if (!found.ok) return found;
    if (given.passphrase !== null) this.#tries.right("");
    return { ok: true, value: {} };
  }

  lock(): Answer<object> {
    if (this.#isFile())
      return {
        ...invalid("the key is in a file, so the store cannot be locked"),
        fix: "ambit secrets key --passphrase",
      };
    this.#wipe();
    this.#isHeld = true;
    this.#trouble = null;
    return { ok: true, value: {} };
  }

  hold(keys: Keys): Keys {
    this.#keys = keys;
    this.#trouble = null;
    this.#isHeld = false;
    return keys;
  }

  /** Changes nothing: a key file is only inspected. */
  shown(): KeyStatus {
    const record = this.record();
    const why = this.#problem(record);
    const told = { isLocked: this.isLocked, problem: why?.message ?? null, fix: why?.fix ?? null };
    if (record === "unreadable") return { source: "unknown", where: null, recipient: null, keyId: null, ...told };
    if (record === null)
      return {
        source: "file",
        where: this.#sources.path,
        recipient: null,
        keyId: this.#keys?.current.id ?? null,
        ...told,
      };
    const { source, keyId, age, reference } = record;
    const place = reference === null ? (age?.identity ?? null) : referenceText(reference);
    const where = source === "file" ? this.#sources.path : place;
    return { source, where, recipient: age?.recipient ?? null, keyId, ...told };
  }

  #problem(record: KeyRecord | null | "unreadable"): Refusal | null {
    if (this.#keys !== null) return null;
    if (record === "unreadable") return UNREADABLE;
    if (this.isLocked) return this.#refusal();
    const found = readKeyFile(this.#sources.path);
    if (found.ok) {
      for (const { bytes } of found.keys) bytes.fill(0);
      const isThere = record === null || found.keys.some(({ id }) => id === record.keyId);
      return isThere
        ? null
        : unavailable(`${this.#sources.path} does not contain the key that secrets are encrypted with`);
    }
    return found.isMissing && record === null ? null : unavailable(found.message);
  }

  async #fetch(record: KeyRecord, given: KeyInput): Promise<Answer<StateKey>> {
    const found = await this.#sources.fetch(record, given);
    this.#asked = this.#now();
    if (found.ok) this.hold({ current: found.value, previous: previousKeys(record, found.value) });
    // A wrong passphrase concerns only the user who typed it; a failure of the key's own source is remembered for all.
    else if (opensItself(record) && given.passphrase === null && given.identity === null) this.#trouble = found;
    return found;
  }

  #refusal(): Refusal {
    const record = this.record();
    if (record === "unreadable") return UNREADABLE;
    if (this.#trouble === null) return record === null ? LOCKED : waitingFor(record);
    const { message, fix } = this.#trouble;
    return secretRefused(`the store is locked: ${message}`, fix ?? LOCKED.fix);
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

const UNREADABLE: Refusal = unavailable("the stored key metadata cannot be parsed");

/** What the user has to do if nothing was tried. */
function waitingFor({ age, reference }: KeyRecord): Refusal {
  if (age !== null && age.identity === null)
    return secretRefused("the store is locked: no age identity was named", "ambit secrets unlock --identity FILE");
  if (reference?.kind !== "env") return LOCKED;
  const { name } = reference;
  const message = `the store is locked: the daemon has no access to your environment, so ${name} must be passed to it`;
  return secretRefused(message, `where ${name} is set, run: ambit secrets unlock`);
}

/** Without a user who types a passphrase or names a file. */
function opensItself({ source, age, reference }: KeyRecord): boolean {
  if (source === "age") return age?.identity != null;
  return source === "keychain" || (source === "reference" && reference?.kind !== "env");
}
