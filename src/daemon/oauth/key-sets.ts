// Public keys of authorization servers, as they publish them. INVARIANT: only addresses that the user named are asked, or addresses
// at the same origin as an issuer that the user named.

import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { Failure } from "../../core/base/result.ts";
import type { WrittenIssuer } from "../../core/notation/config/oauth-setting.ts";
import type { DocumentResult } from "./document.ts";

export interface KeySetsOptions {
  document(address: string): Promise<DocumentResult>;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
}

export type KeySetResult = { readonly ok: true; readonly keys: readonly JsonObject[] } | Failure;

/** How long keys count that were read: a key that its server withdrew is refused after this time. */
const keysMilliseconds = 600_000;
/** A server is not asked again sooner, whatever tokens name. */
const pauseMilliseconds = 10_000;
const keysMax = 64;
const setsMax = 16;
/** Asymmetric keys; other types are shared secrets. */
const KINDS: readonly unknown[] = ["RSA", "EC", "OKP"];

interface KeySet {
  keys: readonly JsonObject[] | null;
  /** When the keys were read. */
  read: number;
  /** When they were last asked for, and why that failed. */
  asked: number;
  problem: string;
  asking: Promise<void> | null;
}

export class KeySets {
  readonly #options: KeySetsOptions;
  readonly #sets = new Map<string, KeySet>();

  constructor(options: KeySetsOptions) {
    this.#options = options;
  }

  /** The keys of this id; none where the server has no such key. */
  async named(issuer: WrittenIssuer, kid: string): Promise<KeySetResult> {
    const { elapsed } = this.#options;
    const set = this.#setOf(issuer);
    const fresh = (): readonly JsonObject[] | null => (elapsed() - set.read < keysMilliseconds ? set.keys : null);
    const isKnown = fresh()?.some((key) => member(key, "kid") === kid) === true;
    if (!isKnown && elapsed() - set.asked >= pauseMilliseconds) set.asking ??= this.#ask(issuer, set);
    if (!isKnown && set.asking !== null) await set.asking;
    const keys = fresh();
    if (keys === null) return { ok: false, message: `the keys of ${issuer.issuer} cannot be read: ${set.problem}` };
    return { ok: true, keys: keys.filter((key) => member(key, "kid") === kid) };
  }

  #setOf({ issuer, jwks }: WrittenIssuer): KeySet {
    const id = JSON.stringify([issuer, jwks]);
    const never = Number.NEGATIVE_INFINITY;
    const set = this.#sets.get(id) ?? { keys: null, read: never, asked: never, problem: "", asking: null };
    this.#sets.delete(id);
    this.#sets.set(id, set);
    for (const oldest of this.#sets.keys()) if (this.#sets.size > setsMax) this.#sets.delete(oldest);
    return set;
  }

  async #ask(issuer: WrittenIssuer, set: KeySet): Promise<void> {
    const found = await this.#read(issuer).catch(() => "its response cannot be parsed");
    set.asked = this.#options.elapsed();
    set.asking = null;
    // Keys that were read before go on counting until they are old.
    if (typeof found === "string") set.problem = found;
    else [set.keys, set.read, set.problem] = [found, set.asked, ""];
  }

  async #read(issuer: WrittenIssuer): Promise<readonly JsonObject[] | string> {
    const address = issuer.jwks ?? (await this.#keysAddress(issuer.issuer));
    if (typeof address !== "string") return address.message;
    const document = await this.#options.document(address);
    if (!document.ok) return document.message;
    const keys = member(document.value, "keys");
    if (!isJsonList(keys)) return "it has no list of keys";
    if (keys.length > keysMax) return `it has more than ${keysMax} keys`;
    return keys.flatMap((key: Json) => (isJsonObject(key) && KINDS.includes(member(key, "kty")) ? [key] : []));
  }

  /** By the metadata of RFC 8414, or of OpenID Connect. */
  async #keysAddress(issuer: string): Promise<string | { readonly message: string }> {
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, "");
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      ...(path === "" ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
    ];
    let problem = "";
    for (const place of places) {
      const document = await this.#options.document(place);
      if (!document.ok) {
        problem = document.message;
        continue;
      }
      if (member(document.value, "issuer") !== issuer) return { message: "its metadata names another issuer" };
      const address = member(document.value, "jwks_uri");
      const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : null;
      if (url === null) return { message: "its metadata names no keys" };
      if (url.origin !== origin) return { message: `its keys are at ${url.origin}: set \`jwks\` if that is correct` };
      return url.href;
    }
    return { message: `it has no metadata: ${problem}` };
  }
}
