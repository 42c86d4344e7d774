// Passphrases by which people confirm their presence. Only verifiers are stored; a check takes equally long for an
// unknown name.
import { SerialQueue } from "../../core/base/serial-queue.ts";
import { isPersonName } from "../../core/notation/config/approvers.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Presence } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SettingStore } from "../../core/ports/stores/secret-store.ts";
import { FailedAttempts } from "../../platform/failed-attempts.ts";
import {
  COST,
  type Cost,
  isCost,
  isSame,
  newSalt,
  notAPassphrase,
  stretchPassphrase,
  verifierOf,
} from "../../secrets/key.ts";

const SETTING = "presence";
const peopleMax = 64;
/** Checks run one at a time, each with its own memory; at most this many wait. */
const checksWaitingMax = 16;

interface StoredVerifier {
  readonly salt: string;
  readonly cost: Cost;
  readonly verifier: string;
}

type People = Readonly<Record<string, StoredVerifier>>;

export class PresenceVerifiers {
  readonly #settings: SettingStore;
  readonly #tries: FailedAttempts;
  readonly #cost: Cost;
  readonly #queue = new SerialQueue();
  #waiting = 0;

  constructor(settings: SettingStore, now: Clock, cost: Cost = COST) {
    this.#settings = settings;
    this.#tries = new FailedAttempts(now);
    this.#cost = cost;
  }

  names(): readonly string[] {
    return Object.keys(this.#people() ?? {}).sort();
  }

  /** The same message whether the name or the passphrase is wrong. */
  async check({ name, passphrase }: Presence): Promise<Answer<object>> {
    const kept = this.#people()?.[name];
    // All unknown names share one counter: an attacker can invent as many as they like.
    const counted = kept === undefined ? "" : name;
    if (this.#waiting >= checksWaitingMax) return refused("too many attempts at once", "try again in a moment");
    const wait = this.#tries.begin(counted);
    if (wait > 0) return refused("too many wrong passphrases", `wait ${Math.ceil(wait / 1000)} seconds`);
    if (notAPassphrase(passphrase) !== null) return WRONG;
    const salt = kept === undefined ? newSalt() : Buffer.from(kept.salt, "base64");
    const key = await this.#inTurn(() => stretchPassphrase(passphrase, salt, kept?.cost ?? this.#cost));
    const isRight = isSame(verifierOf(key), Buffer.from(kept?.verifier ?? "", "base64"));
    key.fill(0);
    if (!isRight || kept === undefined) return WRONG;
    this.#tries.right(counted);
    return { ok: true, value: {} };
  }

  async set(name: string, passphrase: string, entry: LogEntry): Promise<Answer<object>> {
    if (!isPersonName(name))
      return invalid("the name of a person has letters, digits, `.`, `_`, `@` and `-`, and at most 64 of them");
    const why = notAPassphrase(passphrase);
    if (why !== null) return invalid(why);
    const salt = newSalt();
    return this.#inTurn(async () => {
      const key = await stretchPassphrase(passphrase, salt, this.#cost);
      const verifier = verifierOf(key).toString("base64");
      key.fill(0);
      const people = this.#people();
      if (people === null) return invalid("the stored presence data cannot be parsed");
      if (people[name] === undefined && Object.keys(people).length >= peopleMax)
        return invalid(`there are at most ${peopleMax} people`);
      return this.#keep({ ...people, [name]: { salt: salt.toString("base64"), cost: this.#cost, verifier } }, entry);
    });
  }

  delete(name: string, entry: LogEntry): Promise<Answer<object>> {
    return this.#inTurn(async () => {
      const { [name]: gone, ...rest } = this.#people() ?? {};
      if (gone === undefined) return invalid("no person has this name");
      this.#tries.right(name);
      return this.#keep(rest, entry);
    });
  }

  async #keep(people: People, entry: LogEntry): Promise<Answer<object>> {
    const kept = await this.#settings.set(SETTING, JSON.stringify(people), entry);
    return kept.ok ? { ok: true, value: {} } : { ...kept, fix: null };
  }

  /** Null if it cannot be parsed: no person is known then, and the file is not overwritten. */
  #people(): People | null {
    const text = this.#settings.get(SETTING);
    if (text === null) return Object.create(null) as People;
    try {
      const people = JSON.parse(text) as People;
      const isRead = Object.values(people).every(({ cost }) => isCost(cost));
      return isRead ? Object.assign(Object.create(null) as object, people) : null;
    } catch {
      return null;
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    try {
      return await this.#queue.run(work);
    } finally {
      this.#waiting--;
    }
  }
}

const WRONG: Refusal = refused("the name or the passphrase is wrong", null);

function refused(message: string, fix: string | null): Refusal {
  return { ok: false, code: "control_refused", message, fix };
}

function invalid(message: string): Refusal {
  return { ok: false, code: "invalid_input", message, fix: null };
}
