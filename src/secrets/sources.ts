// The sources of a state key: created there, fetched from there, and removed once nothing needs it.
import { isAbsolute, join } from "node:path";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { KeyInput, NewKey } from "../core/ports/secret-key.ts";
import { openWithIdentity, sealForRecipient } from "./age.ts";
import {
  COST,
  type Cost,
  isSame,
  keyBytes,
  keyOf,
  newKey,
  newSalt,
  notAPassphrase,
  passphraseCharactersMin,
  type StateKey,
  stretchPassphrase,
  verifierOf,
} from "./key.ts";
import { readKeyFile, removeKeyFile, writeKeyFile } from "./key-file.ts";
import { Keychain } from "./keychain.ts";
import { type KeyDerivation, type KeyRecord, NO_PLACE } from "./record.ts";
import {
  expandReference,
  parseReference,
  type Reference,
  type ReferenceEnvironment,
  referenceText,
  resolveReference,
} from "./references.ts";
import { invalid, LOCKED, secretRefused, unavailable } from "./refusals.ts";

export interface KeySourceEnvironment {
  readonly platform: string;
  /** From the password database. */
  readonly home: string | null;
  /** Folders in which programs are searched: never a PATH. */
  readonly programs: readonly string[];
  /** Time limit for one answer of a foreign program. */
  readonly millisecondsMax: number;
  /** Where each user has a folder for sockets. */
  readonly runtime: string;
  /** Cost of guessing a passphrase. */
  readonly cost: Cost;
}

export const PROGRAMS: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export function keySourceEnvironment(home: string | null): KeySourceEnvironment {
  return {
    platform: process.platform,
    home,
    programs: PROGRAMS,
    millisecondsMax: 30_000,
    runtime: "/run/user",
    cost: COST,
  };
}

export interface CreatedKey {
  readonly key: StateKey;
  readonly record: KeyRecord;
}

export const NOTHING_GIVEN: KeyInput = { passphrase: null, identity: null, bus: null };

export class KeySources {
  readonly path: string;
  readonly #places: KeySourceEnvironment;
  readonly #keychain: Keychain;
  /** A session bus that has led to the right key; one that was only configured does not count. */
  #bus: string | null = null;

  constructor(state: string, places: KeySourceEnvironment) {
    this.path = join(state, "keys", "secrets.key");
    this.#places = places;
    this.#keychain = new Keychain(places);
  }

  /** INVARIANT: returns the recorded key, or none. */
  async fetch(record: KeyRecord, given: KeyInput): Promise<Answer<StateKey>> {
    const found = await this.#fetch(record, given);
    if (!found.ok) return found;
    const key = keyOf(found.value);
    if (found.value.length === keyBytes && key.id === record.keyId) {
      if (record.source === "keychain" && given.bus !== null) this.#bus = given.bus;
      return { ok: true, value: key };
    }
    found.value.fill(0);
    return secretRefused(`the key from ${placeOf(record)} is not the one that secrets are encrypted with`, null);
  }

  async #fetch(record: KeyRecord, { passphrase, identity, bus }: KeyInput): Promise<Answer<Buffer>> {
    switch (record.source) {
      case "file":
        return invalid("the key is in a file: there is nothing to unlock");
      case "passphrase":
        return passphrase === null ? LOCKED : fromText(passphrase, record.passphrase, "the passphrase is wrong");
      case "keychain":
        return this.#keychain.get(record.keyId, bus ?? this.#bus);
      case "age": {
        const path = identity ?? record.age?.identity ?? null;
        if (path === null) return secretRefused("no age identity was named", "ambit secrets unlock --identity FILE");
        return openWithIdentity(record.age?.sealed ?? "", path, this.#places.home);
      }
      case "reference": {
        if (record.reference === null) return LOCKED;
        const wrong = `the key from ${referenceText(record.reference)} is not the one that secrets are encrypted with`;
        const text =
          passphrase === null ? await this.#referenced(record.reference) : { ok: true as const, value: passphrase };
        return text.ok ? fromText(text.value, record.passphrase, wrong) : text;
      }
      default:
        return record.source satisfies never;
    }
  }

  /** Leaves existing keys alone: the previous key still opens everything. */
  async make(wanted: NewKey, current: StateKey | null): Promise<Answer<CreatedKey>> {
    switch (wanted.source) {
      case "file":
        return this.#file(current);
      case "passphrase": {
        const why = notAPassphrase(wanted.passphrase);
        if (why !== null) return invalid(why);
        const { key, stretching } = await this.#stretched(wanted.passphrase);
        return made(key, { source: "passphrase", passphrase: stretching });
      }
      case "keychain": {
        const key = newKey();
        const kept = await this.#keychain.put(key.id, key.bytes, wanted.bus);
        if (!kept.ok) return kept;
        if (wanted.bus !== null) this.#bus = wanted.bus;
        return made(key, { source: "keychain" });
      }
      case "age":
        return this.#age(wanted.recipient, wanted.identity);
      case "reference":
        return this.#reference(wanted.reference, wanted.value);
      default:
        return wanted satisfies never;
    }
  }

  /**
   * Removes the previous key from its source once nothing is sealed with it. Returns what could not be removed, as a
   * sentence.
   */
  async settle(before: KeyRecord | null, { key, record }: CreatedKey): Promise<string | null> {
    const left = record.source === "file" ? writeKeyFile(this.path, [key], false) : removeKeyFile(this.path);
    if (left !== null || before?.source !== "keychain") return left;
    const dropped = await this.#keychain.drop(before.keyId, this.#bus);
    return dropped.ok ? null : `the old key is still in the keychain: ${dropped.message}`;
  }

  /** The old key stays in the file until nothing needs it. */
  #file(current: StateKey | null): Answer<CreatedKey> {
    const key = newKey();
    const found = readKeyFile(this.path);
    if (!found.ok && !found.isMissing) return unavailable(found.message);
    const kept = found.ok ? found.keys.filter(({ id }) => id === current?.id) : [];
    const problem = writeKeyFile(this.path, [...kept, key], !found.ok);
    return problem === null ? made(key, { source: "file" }) : unavailable(problem);
  }

  async #age(recipient: string, named: string | null): Promise<Answer<CreatedKey>> {
    const { home } = this.#places;
    const identity = named?.startsWith("~/") === true && home !== null ? join(home, named.slice(2)) : named;
    if (identity !== null && !isAbsolute(identity)) return invalid("an identity file needs an absolute path");
    const key = newKey();
    const sealed = await sealForRecipient(key.bytes, recipient);
    if (!sealed.ok) return sealed;
    // A key that could not be opened again must not seal anything.
    const opened = identity === null ? null : await openWithIdentity(sealed.value, identity, home);
    if (opened !== null && !opened.ok) return opened;
    opened?.value.fill(0);
    return made(key, { source: "age", age: { recipient, identity, sealed: sealed.value } });
  }

  async #reference(text: string, value: string | null): Promise<Answer<CreatedKey>> {
    const parsed = parseReference(text);
    if (parsed === null) return invalid("a reference is env:NAME, file:PATH or cmd:PROGRAM with its arguments");
    const reference = expandReference(parsed, this.#context());
    if (reference === null)
      return invalid(`${text} was not found; programs are searched in ${this.#places.programs.join(", ")}`);
    const found = value === null ? await this.#referenced(reference) : { ok: true as const, value };
    if (!found.ok) return found;
    if ([...found.value].length < passphraseCharactersMin)
      return invalid(`the value from ${referenceText(reference)} has fewer than ${passphraseCharactersMin} characters`);
    const { key, stretching } = await this.#stretched(found.value);
    return made(key, { source: "reference", passphrase: stretching, reference });
  }

  /** A variable is in the environment of the client, and the daemon has no client's environment. */
  async #referenced(reference: Reference): Promise<Answer<string>> {
    if (reference.kind === "env")
      return secretRefused(
        `the daemon has no access to your environment, so ${reference.name} must be passed to it`,
        `where ${reference.name} is set, run: ambit secrets unlock`,
      );
    const found = await resolveReference(reference, this.#context());
    if (!found.ok) return secretRefused(`${referenceText(reference)}: ${found.message}`, "ambit secrets unlock");
    const text = found.value.toString("utf8");
    const isText = Buffer.from(text).equals(found.value);
    found.value.fill(0);
    return isText ? { ok: true, value: text } : secretRefused(`${referenceText(reference)} does not return text`, null);
  }

  #context(): ReferenceEnvironment {
    const { home, programs, millisecondsMax } = this.#places;
    const own = home === null ? {} : { HOME: home };
    return { environment: { PATH: programs.join(":"), LANG: "C.UTF-8", ...own }, home, programs, millisecondsMax };
  }

  async #stretched(text: string): Promise<{ readonly key: StateKey; readonly stretching: KeyDerivation }> {
    const { cost } = this.#places;
    const salt = newSalt();
    const key = keyOf(await stretchPassphrase(text, salt, cost));
    const verifier = verifierOf(key.bytes).toString("base64");
    return { key, stretching: { salt: salt.toString("base64"), cost, verifier } };
  }
}

function made(key: StateKey, place: Pick<KeyRecord, "source"> & Partial<KeyRecord>): Answer<CreatedKey> {
  return { ok: true, value: { key, record: { ...NO_PLACE, ...place, keyId: key.id } } };
}

async function fromText(text: string, how: KeyDerivation | null, wrong: string): Promise<Answer<Buffer>> {
  if (how === null) return LOCKED;
  const bytes = await stretchPassphrase(text, Buffer.from(how.salt, "base64"), how.cost);
  if (isSame(verifierOf(bytes), Buffer.from(how.verifier, "base64"))) return { ok: true, value: bytes };
  bytes.fill(0);
  return secretRefused(wrong, null);
}

function placeOf({ source, reference }: KeyRecord): string {
  return reference === null ? `the ${source}` : referenceText(reference);
}
