// Secrets: set, bound, rotated, and opened on use. Changes run one at a time, and are durable or refused.
import { parseTool } from "../core/authority/axes/name.ts";
import { SerialQueue } from "../core/base/serial-queue.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { ControlMessages, SecretView } from "../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { KeyInput, KeyStatus } from "../core/ports/secret-key.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SealedSecret, SecretBinding, SecretStore, SettingStore } from "../core/ports/stores/secret-store.ts";
import { seal } from "./envelope.ts";
import type { StateKey } from "./key.ts";
import { Keyring, type Keys } from "./keyring.ts";
import { KEY_SETTING, previousMax, recordText, wrapPrevious } from "./record.ts";
import { invalid, secretRefused, unavailable } from "./refusals.ts";
import {
  answerOf,
  notAUsername,
  type OpenedSecret,
  openSecret,
  partOf,
  secretView,
  unsealValue,
} from "./secret-rows.ts";
import { type KeySourceEnvironment, KeySources, keySourceEnvironment } from "./sources.ts";

export interface VaultDeps {
  readonly secrets: SecretStore;
  readonly settings: SettingStore;
  /** The state folder; the key is in `keys/secrets.key` below it. */
  readonly state: string;
  readonly now: Clock;
  /** Key sources other than the key file; by default without a home folder. */
  readonly places?: KeySourceEnvironment;
  /** Why a value cannot be redacted and is therefore refused; null if it can. */
  refusesValue(bytes: Uint8Array): string | null;
  /** Why these hosts cannot be bound; null if they can. */
  refusesHosts(hosts: readonly string[]): string | null;
}

type VaultRequest<K extends keyof ControlMessages> = Omit<ControlMessages[K]["asks"], "presence">;

const bindingsMax = 64;
const usesMax = 1_000_000_000;

export class SecretVault {
  readonly #parts: VaultDeps;
  readonly #sources: KeySources;
  readonly #keyring: Keyring;
  readonly #queue = new SerialQueue();

  constructor(parts: VaultDeps) {
    this.#parts = parts;
    this.#sources = new KeySources(parts.state, parts.places ?? keySourceEnvironment(null));
    this.#keyring = new Keyring(parts.settings, this.#sources, parts.now);
  }

  get isLocked(): boolean {
    return this.#keyring.isLocked;
  }

  /** The source of the key, and why it is not available if it is not. */
  source(): KeyStatus {
    return this.#keyring.shown();
  }

  /** Fetches the key if that is due. At most one attempt. */
  ready(): Promise<void> {
    return this.#queue.run(() => this.#keyring.reach());
  }

  list(): readonly SecretView[] {
    return this.#parts.secrets.all().map(secretView);
  }

  /** An existing name gets a new version. Rotating keeps the binding. */
  set(asked: VaultRequest<"secrets.set">, entry: LogEntry): Promise<Answer<SecretView>> {
    return this.#queue.run(async () => {
      const { name, value, isRotation } = asked;
      if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
        return invalid("the name of a secret has letters, digits, `.`, `_` and `-`, and at most 64 of them");
      const before = this.#parts.secrets.get(name);
      if (isRotation && before === null) return invalid(`no secret called ${name}`);
      const { binding, username, isCanary } = isRotation && before !== null ? before : asked;
      const why = this.#notABinding(binding) ?? notAUsername(username);
      if (why !== null) return invalid(why);
      const bytes = Buffer.from(value);
      try {
        const problem = this.#parts.refusesValue(bytes);
        if (problem !== null) return invalid(problem);
        await this.#keyring.reach();
        const keys = this.#keys();
        if (!keys.ok) return keys;
        const label = { name, version: (before?.version ?? 0) + 1, binding, username, isCanary };
        return await this.#put({ ...label, used: 0, at: this.#parts.now() }, bytes, keys.value.current, entry);
      } finally {
        bytes.fill(0);
      }
    });
  }

  /** The value stays; its binding is sealed with it, so it is sealed again. */
  policy({ name, binding }: VaultRequest<"secrets.policy">, entry: LogEntry): Promise<Answer<SecretView>> {
    return this.#queue.run(async () => {
      const why = this.#notABinding(binding);
      if (why !== null) return invalid(why);
      await this.#keyring.reach();
      const keys = this.#keys();
      if (!keys.ok) return keys;
      const secret = this.#parts.secrets.get(name);
      if (secret === null) return invalid(`no secret called ${name}`);
      const value = unsealValue(secret, keys.value);
      if (!value.ok) return value;
      try {
        return await this.#put({ ...secret, binding, at: this.#parts.now() }, value.value, keys.value.current, entry);
      } finally {
        value.value.fill(0);
      }
    });
  }

  delete(name: string, entry: LogEntry): Promise<Answer<object>> {
    return this.#queue.run(async () => {
      const gone = answerOf(await this.#parts.secrets.delete(name, entry));
      if (!gone.ok) return gone;
      return gone.value ? { ok: true, value: {} } : invalid(`no secret called ${name}`);
    });
  }

  /** For one use, which is counted elsewhere. A canary is never opened. */
  open(name: string): Answer<OpenedSecret> {
    const secret = this.#parts.secrets.get(name);
    if (secret === null || secret.isCanary) return secretRefused(`no secret called ${name} that may be used`, null);
    const keys = this.#keys();
    return keys.ok ? openSecret(secret, keys.value) : keys;
  }

  /** All secrets, canaries included: for redaction only. */
  openAll(): Answer<{ readonly secrets: readonly OpenedSecret[]; readonly damaged: readonly string[] }> {
    const all = this.#parts.secrets.all();
    if (all.length === 0) return { ok: true, value: { secrets: [], damaged: [] } };
    const keys = this.#keys();
    if (!keys.ok) return keys;
    const found = all.map((secret) => ({ name: secret.name, one: openSecret(secret, keys.value) }));
    return {
      ok: true,
      value: {
        secrets: found.flatMap(({ one }) => (one.ok ? [one.value] : [])),
        // A secret that cannot be opened must not keep the others from being redacted.
        damaged: found.flatMap(({ name, one }) => (one.ok ? [] : [name])),
      },
    };
  }

  unlock(given: KeyInput): Promise<Answer<object>> {
    return this.#queue.run(() => this.#keyring.unlock(given));
  }

  lock(): Promise<Answer<object>> {
    return this.#queue.run(async () => this.#keyring.lock());
  }

  /** Interrupted at any point, everything still opens: the new key seals the previous one until nothing needs it. */
  rekey({ key: wanted }: VaultRequest<"secrets.key">, entry: LogEntry): Promise<Answer<object>> {
    return this.#queue.run(async () => {
      await this.#keyring.reach();
      const { settings, secrets } = this.#parts;
      const found = this.#keys();
      // If nothing is sealed, nothing is lost with a key that is no longer available.
      if (!found.ok && secrets.all().length > 0) return found;
      const old = found.ok ? [found.value.current, ...found.value.previous] : [];
      const recorded = this.#keyring.record();
      const made = await this.#sources.make(wanted, old[0] ?? null);
      if (!made.ok) return made;
      const { key, record } = made.value;
      const resealed = found.ok ? this.#resealed(found.value, key) : { ok: true as const, value: [] };
      if (!resealed.ok) return resealed;
      const inUse = new Set(secrets.all().map(({ keyId }) => keyId));
      const previous = old.filter(({ id }) => inUse.has(id));
      if (previous.length > previousMax) return unavailable("too many keys are in use at once");
      const first = { ...record, previous: previous.map((one) => wrapPrevious(one, key)) };
      const kept = answerOf(await settings.set(KEY_SETTING, recordText(first), entry));
      if (!kept.ok) return kept;
      this.#keyring.hold({ current: key, previous });
      const puts = resealed.value.map((secret, at) => secrets.put(secret, partOf(entry, at + 1, secret.name)));
      for (const put of await Promise.all(puts)) if (!put.ok) return { ...put, fix: null };
      const last = answerOf(await settings.set(KEY_SETTING, recordText(record), partOf(entry, 0, null)));
      if (!last.ok) return last;
      this.#keyring.hold({ current: key, previous: [] });
      for (const { bytes } of old) bytes.fill(0);
      const left = await this.#sources.settle(recorded === "unreadable" ? null : recorded, made.value);
      return left === null ? { ok: true, value: {} } : unavailable(`all secrets are re-encrypted, but ${left}`);
    });
  }

  #keys(): Answer<Keys> {
    return this.#keyring.keys(this.#parts.secrets.all().length === 0);
  }

  #resealed(keys: Keys, key: StateKey): Answer<readonly SealedSecret[]> {
    const list: SealedSecret[] = [];
    for (const secret of this.#parts.secrets.all()) {
      const value = unsealValue(secret, keys);
      if (!value.ok) return value;
      list.push({ ...secret, sealed: seal(value.value, secret, key), keyId: key.id });
      value.value.fill(0);
    }
    return { ok: true, value: list };
  }

  async #put(
    secret: Omit<SealedSecret, "sealed" | "keyId">,
    value: Buffer,
    key: StateKey,
    entry: LogEntry,
  ): Promise<Answer<SecretView>> {
    const sealed: SealedSecret = { ...secret, sealed: seal(value, secret, key), keyId: key.id };
    const kept = answerOf(await this.#parts.secrets.put(sealed, entry));
    return kept.ok ? { ok: true, value: secretView(sealed) } : kept;
  }

  #notABinding({ tools, hosts, uses }: SecretBinding): string | null {
    if (tools.length > bindingsMax || hosts.length > bindingsMax)
      return `a secret is bound to at most ${bindingsMax} tools and ${bindingsMax} hosts`;
    const odd = tools.find((tool) => !parseTool(tool).ok);
    if (odd !== undefined) return `${JSON.stringify(odd)} is not a tool`;
    if (uses !== null && (!Number.isInteger(uses) || uses < 1 || uses > usesMax))
      return `uses are a whole number from 1 to ${usesMax}`;
    return this.#parts.refusesHosts(hosts);
  }
}
