// Tokens that clients of the HTTP server present. Each stands for one agent in one folder, for a limited time. The store has the
// digest of a token only: a copy of the state contains no token.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { optionalText } from "../core/base/fields.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import { SerialQueue } from "../core/base/serial-queue.ts";
import type { ClientTokenView } from "../core/ports/daemon/daemon-control.ts";
import { type Answer, refusal } from "../core/ports/daemon/exchange.ts";
import type { Digest } from "../core/ports/digest.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SettingStore } from "../core/ports/stores/secret-store.ts";

export interface ClientToken extends ClientTokenView {
  readonly digest: string;
  /** The user had a record when the token was added: without one its sessions are not opened. */
  readonly hasUserRecord: boolean;
}

export interface ClientTokensOptions {
  readonly settings: SettingStore;
  readonly digest: Digest;
  now(): number;
  id(): string;
}

const SETTING = "client.tokens";
const tokensMax = 256;
const tokenCharactersMax = 256;
const secretBytes = 32;
const TOKEN = /^ambit_(k_[a-z0-9]{16})_[A-Za-z0-9_-]{43}$/;

export class ClientTokens {
  readonly #options: ClientTokensOptions;
  #text: string | null = null;
  #tokens: readonly ClientToken[] = [];
  /** Changes are made one after another: none is lost. */
  readonly #queue = new SerialQueue();

  constructor(options: ClientTokensOptions) {
    this.#options = options;
  }

  /** Those that have not expired, the oldest first. */
  list(): readonly ClientToken[] {
    const { settings, now } = this.#options;
    const text = settings.get(SETTING);
    if (text !== this.#text) {
      this.#text = text;
      this.#tokens = text === null ? [] : readTokens(text);
    }
    const at = now();
    return this.#tokens.filter(({ expires }) => expires > at);
  }

  /** The token itself is in the answer and nowhere else. */
  add(
    facts: Pick<ClientToken, "agent" | "cwd" | "user" | "expires" | "hasUserRecord">,
    entry: (id: string) => LogEntry,
  ): Promise<Answer<{ readonly id: string; readonly token: string }>> {
    return this.#queue.run(async () => {
      const { id: newId, now, digest } = this.#options;
      const tokens = this.list();
      if (tokens.length >= tokensMax)
        return refusal("not_available", `there are already ${tokensMax} tokens`, "ambit tokens revoke ID");
      const id = newId();
      const token = `ambit_${id}_${randomBytes(secretBytes).toString("base64url")}`;
      const added = { id, ...facts, created: now(), digest: digest(token) };
      const stored = await this.#store([...tokens, added], entry(id));
      return stored.ok ? { ok: true, value: { id, token } } : stored;
    });
  }

  revoke(id: string, entry: LogEntry): Promise<Answer<object>> {
    return this.#queue.run(async () => {
      const tokens = this.list();
      const others = tokens.filter((one) => one.id !== id);
      return others.length === tokens.length
        ? refusal("unknown_token", "there is no token of this id", "ambit tokens list")
        : this.#store(others, entry);
    });
  }

  /** What a session with a token is opened with: its agent, folder and user are those of the token, whatever the client wrote. */
  opening(value: JsonObject): { readonly value: JsonObject; readonly id: string | null } | null {
    const bearer = optionalText(value, "bearer", tokenCharactersMax);
    if (bearer === null) return { value, id: null };
    const found = bearer === undefined ? null : this.find(bearer);
    if (found === null) return null;
    const { id, agent, cwd, user, hasUserRecord } = found;
    const needsUserRecord = hasUserRecord || value["needsUserRecord"] === true;
    return { value: { ...value, cwd, agent, user, needsUserRecord, token: null, caveats: null }, id };
  }

  /** Null for a text that is no token, a revoked one and an expired one alike. */
  find(text: string): ClientToken | null {
    const id = text.length <= tokenCharactersMax ? TOKEN.exec(text)?.[1] : undefined;
    const found = id === undefined ? undefined : this.list().find((one) => one.id === id);
    if (found === undefined) return null;
    const [given, known] = [Buffer.from(this.#options.digest(text)), Buffer.from(found.digest)];
    return given.length === known.length && timingSafeEqual(given, known) ? found : null;
  }

  isValid(id: string): boolean {
    return this.list().some((one) => one.id === id);
  }

  async #store(tokens: readonly ClientToken[], entry: LogEntry): Promise<Answer<object>> {
    const text = tokens.length === 0 ? null : JSON.stringify(tokens);
    const stored = await this.#options.settings.set(SETTING, text, entry);
    return stored.ok ? { ok: true, value: {} } : refusal(stored.code, stored.message);
  }
}

/** INVARIANT: a stored text that cannot be read is no token. */
function readTokens(text: string): readonly ClientToken[] {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return [];
  }
  return isJsonList(value) ? value.flatMap(readToken) : [];
}

function readToken(value: Json): readonly ClientToken[] {
  if (!isJsonObject(value)) return [];
  const [id, agent, cwd, digest] = (["id", "agent", "cwd", "digest"] as const).map((key) => member(value, key));
  const [user, created, expires] = [member(value, "user"), member(value, "created"), member(value, "expires")];
  if (typeof id !== "string" || typeof agent !== "string" || typeof cwd !== "string" || typeof digest !== "string")
    return [];
  if ((typeof user !== "string" && user !== null) || typeof created !== "number" || typeof expires !== "number")
    return [];
  return [{ id, agent, cwd, user, created, expires, digest, hasUserRecord: member(value, "hasUserRecord") === true }];
}
