// Access tokens of authorization servers that the user named: checked by jose, and mapped to one agent as the user's configuration says.
// INVARIANT: nothing of a token but the claims that were checked is kept, and no part of one is in a message or in the log.
import { createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import type { JsonObject } from "../../core/base/json.ts";
import type { Config } from "../../core/notation/config/config.ts";
import type { WrittenIssuer, WrittenOauth, WrittenOauthClient } from "../../core/notation/config/oauth-setting.ts";
import type { ResourceView } from "../../core/ports/daemon/daemon-calls.ts";
import { type Answer, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Digest } from "../../core/ports/digest.ts";
import { type DocumentPorts, readDocument } from "./document.ts";
import { KeySets } from "./key-sets.ts";

/** Who presents a token: everything that a session of theirs is opened with. */
export interface OauthClient {
  /** The same for every token of this client: a session goes on when the token is a newer one. */
  readonly id: string;
  readonly agent: string;
  readonly cwd: string;
  readonly user: string | null;
  readonly expires: number;
}

export interface AccessTokensOptions {
  /** As the user's configuration is now; null where it names nothing. */
  setting(): WrittenOauth | null;
  readonly keys: Pick<KeySets, "named">;
  readonly digest: Digest;
  now(): number;
}

interface OpenOptions extends DocumentPorts {
  user(): Pick<Config, "broken" | "oauth"> | null;
  readonly digest: Digest;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
}

/** An edit of the configuration applies within a second. */
const freshMilliseconds = 300;
const tokenCharactersMax = 8_192;
const clientsMax = 1_024;
const toleranceSeconds = 5;
/** Asymmetric algorithms only: a key that verifies cannot sign. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** Not the token of a log-out, of a proof, or of anything else that the same keys sign. */
const TYPES: readonly unknown[] = [undefined, "JWT", "jwt", "at+jwt", "application/at+jwt"];
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

interface KnownClient {
  readonly client: OauthClient;
  readonly claims: JWTPayload;
}

/** By the user's configuration, with keys that come through the broker. */
export function openAccessTokens({ user, ...ports }: OpenOptions): AccessTokens {
  const { elapsed, digest, now } = ports;
  let read = { at: Number.NEGATIVE_INFINITY, setting: null as WrittenOauth | null };
  const setting = (): WrittenOauth | null => {
    if (elapsed() - read.at < freshMilliseconds) return read.setting;
    const config = user();
    // An invalid configuration names no authorization server.
    read = { at: elapsed(), setting: config === null || config.broken ? null : config.oauth };
    return read.setting;
  };
  const keys = new KeySets({ elapsed, document: (address) => readDocument(ports, address) });
  return new AccessTokens({ setting, keys, digest, now });
}

export class AccessTokens {
  readonly #options: AccessTokensOptions;
  /** By id, with the latest expiry; the least recently presented first. */
  readonly #known = new Map<string, KnownClient>();

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /** Whether a text can be an access token; others are ambit's own tokens. */
  isOne(text: string): boolean {
    return text.length <= tokenCharactersMax && TOKEN.test(text) && this.#options.setting() !== null;
  }

  /** What clients are told about the authorization servers; null where there are none. */
  metadata(): ResourceView | null {
    const setting = this.#options.setting();
    if (setting === null) return null;
    const { resource, issuers } = setting;
    return {
      resource,
      issuers: issuers.map(({ issuer }) => issuer),
      scopes: [...new Set(issuers.flatMap(({ scopes }) => scopes))],
    };
  }

  async check(token: string): Promise<Answer<OauthClient>> {
    const setting = this.#options.setting();
    if (setting === null || !this.isOne(token)) return unknown("it is not a token of ambit");
    const claims = await this.#verified(token, setting);
    if (!claims.ok) return claims;
    const { issuer, payload } = claims.value;
    const missing = issuer.scopes.filter((scope) => !scopesOf(payload).includes(scope));
    if (missing.length > 0)
      return refusal("insufficient_scope", `the access token lacks the scope ${missing.join(" ")}`);
    const client = this.#clientOf(issuer, payload);
    if (!client.ok) return client;
    const expires = Math.max(client.value.expires, this.#known.get(client.value.id)?.client.expires ?? 0);
    this.#known.delete(client.value.id);
    this.#known.set(client.value.id, { client: { ...client.value, expires }, claims: payload });
    for (const oldest of this.#known.keys()) if (this.#known.size > clientsMax) this.#known.delete(oldest);
    return client;
  }

  /** Whether a client presented a token that has not expired, and the configuration still maps its claims to the same session. */
  isValid(id: string): boolean {
    const known = this.#known.get(id);
    const setting = this.#options.setting();
    if (known === undefined || setting === null || known.client.expires <= this.#options.now()) return false;
    const issuer = setting.issuers.find(({ issuer: name }) => name === known.claims.iss);
    const isOurs = [known.claims.aud].flat().includes(setting.resource);
    if (issuer?.scopes.every((scope) => scopesOf(known.claims).includes(scope)) === false) return false;
    const mapped = issuer === undefined || !isOurs ? null : this.#clientOf(issuer, known.claims);
    return mapped?.ok === true && mapped.value.id === id;
  }

  async #verified(
    token: string,
    { resource, issuers }: WrittenOauth,
  ): Promise<Answer<{ readonly issuer: WrittenIssuer; readonly payload: JWTPayload }>> {
    const [header, named] = [headerOf(token), issuerIn(token)];
    const issuer = issuers.find((one) => one.issuer === named);
    if (header === null) return unknown("it cannot be parsed");
    if (issuer === undefined) return unknown("its issuer is not in the configuration");
    const { kid, alg, typ } = header;
    if (typeof alg !== "string" || !ALGORITHMS.includes(alg)) return unknown("its algorithm is not accepted");
    if (!TYPES.includes(typ)) return unknown("it is not an access token");
    if (typeof kid !== "string" || kid === "") return unknown("it does not name its key");
    const set = await this.#options.keys.named(issuer, kid);
    if (!set.ok) return refusal("not_available", set.message);
    if (set.keys.length === 0) return unknown("its signing key is unknown");
    try {
      const { payload } = await jwtVerify(
        token,
        createLocalJWKSet({ keys: [...set.keys] } as unknown as JSONWebKeySet),
        {
          issuer: issuer.issuer,
          audience: resource,
          algorithms: ALGORITHMS,
          requiredClaims: ["exp"],
          clockTolerance: toleranceSeconds,
          currentDate: new Date(this.#options.now()),
        },
      );
      return { ok: true, value: { issuer, payload } };
    } catch (error) {
      return unknown(reasonOf(error));
    }
  }

  #clientOf(issuer: WrittenIssuer, payload: JWTPayload): Answer<OauthClient> {
    const [mapped, second] = issuer.clients.filter((one) => matches(one, payload));
    if (mapped === undefined || second !== undefined)
      return refusal(
        "not_mapped",
        `${mapped === undefined ? "no entry" : "more than one entry"} of \`oauth\` matches the claims of this access token`,
      );
    const expires = (payload.exp ?? 0) * 1000;
    // The tolerance is for clocks that are behind; what has expired by ours has expired.
    if (expires <= this.#options.now()) return unknown("it has expired");
    const { agent, cwd, user } = mapped;
    const facts = [issuer.issuer, payload.sub, payload["client_id"] ?? payload["azp"], agent, cwd, user];
    const id = `o_${this.#options.digest(JSON.stringify(facts.map((one) => one ?? null))).slice(0, 16)}`;
    return { ok: true, value: { id, agent, cwd, user, expires } };
  }
}

/** What a session of this client is opened with. */
export function openingOf(given: JsonObject, { agent, cwd, user }: OauthClient): JsonObject {
  // A user of the map without a record would have no ceiling.
  const needsUserRecord = user !== null || given["needsUserRecord"] === true;
  return { ...given, cwd, agent, user, needsUserRecord, token: null, caveats: null };
}

function matches({ claims }: WrittenOauthClient, payload: JWTPayload): boolean {
  return [...claims].every(([name, wanted]) => {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    return Array.isArray(value) ? value.includes(wanted) : value === wanted;
  });
}

/** `scope` of RFC 8693, or `scp` as some servers write it. */
function scopesOf(payload: JWTPayload): readonly unknown[] {
  const written = payload["scope"] ?? payload["scp"];
  if (typeof written === "string") return written.split(" ");
  return Array.isArray(written) ? written : [];
}

function headerOf(token: string): ReturnType<typeof decodeProtectedHeader> | null {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return null;
  }
}

/** Not checked yet: it only says by which issuer's keys the token is checked. */
function issuerIn(token: string): unknown {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null && Object.hasOwn(claims, "iss")
      ? (claims as { readonly iss: unknown }).iss
      : null;
  } catch {
    return null;
  }
}

/** Messages of jose may repeat what a token has. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error;
    if (claim === "aud") return "it is for another audience";
    if (claim === "nbf") return "it is not valid yet";
    return /^[a-z]{1,16}$/.test(claim)
      ? `its claim ${claim} is missing or is not accepted`
      : "its claims are not accepted";
  }
  return "its signature is not valid";
}

function unknown(why: string): Refusal {
  return refusal("unknown_token", `the access token is not accepted: ${why}`);
}
