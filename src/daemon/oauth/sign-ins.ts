// Sign-ins at MCP servers: tokens are kept as secrets, bound to the host of their server, and refreshed one at a time.
// INVARIANT: a token goes to the host it is for, by the broker, and nowhere else: not to a client, a sandbox, a message or the log.
import { randomBytes } from "node:crypto";
import type { Url } from "../../core/authority/axes/url.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import { type Answer, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import type { SignInView } from "../../core/ports/daemon/server-messages.ts";
import type { FetchSecret } from "../../core/ports/instruments.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SettingStore } from "../../core/ports/stores/secret-store.ts";
import { sha256 } from "../../platform/digest.ts";
import type { Vault } from "../parts.ts";
import type { CatalogServer } from "../servers/server-catalog.ts";
import { hostText } from "../servers/server-run.ts";
import type { FetchLike, OAuthTokens, SignInFacts, StartedSignIn } from "./sign-in-flow.ts";
import {
  addressOf,
  factsOf,
  readSignIn,
  type StoredSignIn,
  secretName,
  signInSetting,
  signInView,
  type TokenKind,
  tokenTool,
  tokenUrl,
} from "./sign-in-record.ts";

export interface SignInsOptions {
  readonly settings: Pick<SettingStore, "get" | "set">;
  readonly vault: Pick<Vault, "set" | "delete">;
  /** The value of a stored secret for one use; null where it cannot be used. */
  secret(name: string, use: { readonly tool: string; readonly url: Url }): Promise<Uint8Array | null>;
  /** Requests to the server's own host and to these; `refused` is told why one was not sent. */
  fetch(one: CatalogServer, hosts: readonly string[], refused: (why: FetchRefusal) => void): FetchLike;
  entry(outcome: string, more: JsonObject): LogEntry;
  secretEntry(outcome: string, name: string): LogEntry;
  now(): number;
}

/** `host`: a person has to allow it first. */
export type FetchRefusal = { readonly host: string } | { readonly message: string };

/** The token for one request; its version says later whether it is still the current one. */
export interface SignInToken {
  readonly secret: FetchSecret;
  readonly version: number;
}

export interface SignInOptions {
  readonly redirect: string;
  /** Hosts that the person allowed, `name:port`. */
  readonly hosts: readonly string[];
  readonly clientId: string | null;
  readonly clientSecret: string | null;
}

export type SignInStep =
  | { readonly page: string; readonly issuer: string; readonly scope: string | null }
  | { readonly host: string };

/** What became of the tokens at the authorization server. */
export type Revocation = ControlMessages["servers.logout"]["answers"]["revocation"];

interface PendingSignIn {
  readonly one: CatalogServer;
  readonly wish: SignInOptions;
  readonly started: StartedSignIn;
  readonly since: number;
}

const pendingMax = 16;
const pendingMilliseconds = 600_000;
/** A token that ends sooner is refreshed before it is sent. */
const earlyMilliseconds = 30_000;
const hostsMax = 8;
const tokenCharactersMax = 16_384;
const challengesMax = 64;
const challengeCharactersMax = 4_096;
/** It is sent in a header. */
const TOKEN = /^[\x21-\x7e]+$/;

export class SignIns {
  readonly #options: SignInsOptions;
  /** By the digest of its state. */
  readonly #pending = new Map<string, PendingSignIn>();
  /** By server: how it last asked for a sign-in, or for one that allows more. */
  readonly #challenges = new Map<string, string>();
  /** Refreshes that run, by server: a refresh token is used once. */
  readonly #refreshing = new Map<string, Promise<string | null>>();

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  view(one: CatalogServer): SignInView | null {
    const stored = this.#stored(one);
    return stored === null ? null : signInView(stored, this.#options.now());
  }

  /** The page that a person opens, or a host that they have to allow first. */
  async start(one: CatalogServer, wish: SignInOptions): Promise<Answer<SignInStep>> {
    const { endpoint, name } = one.server;
    if (endpoint.kind !== "http")
      return refusal("invalid_input", `${name} is a program: a sign-in is for servers with a \`url\``);
    if (endpoint.address.includes("{{") || endpoint.headers.some(([header]) => /^authorization$/i.test(header)))
      return refusal("invalid_input", `${name} has a credential in its entry: remove it first`);
    if (wish.hosts.length > hostsMax) return refusal("invalid_input", `a sign-in has at most ${hostsMax} hosts`);
    const { startSignIn, signInFault } = await flow();
    const state = randomBytes(32).toString("base64url");
    let refused: FetchRefusal | null = null;
    const fetch = this.#options.fetch(one, wish.hosts, (why) => {
      refused ??= why;
    });
    const heard = this.#challenges.get(signInSetting(one)) ?? null;
    const before = this.#stored(one)?.facts ?? null;
    const asked = { address: endpoint.address, state, fetch, heard, before, ...wish };
    const begun = await startSignIn(asked).catch((error: unknown) => ({ message: signInFault(error) }));
    const why = refused as FetchRefusal | null;
    if (why !== null) return "host" in why ? { ok: true, value: why } : unavailable(name, why.message);
    if (begun === null) return refusal("not_available", `${name} does not require a sign-in`);
    if ("message" in begun) return unavailable(name, begun.message);
    // A person opens it in a browser.
    if (!isSafe(begun.page)) return unavailable(name, "the page of its authorization server is not an https address");
    this.#sweep();
    if (this.#pending.size >= pendingMax) return refusal("not_available", "too many sign-ins are open");
    this.#pending.set(sha256(state), { one, wish, started: begun, since: this.#options.now() });
    return { ok: true, value: { page: begun.page, issuer: begun.issuer, scope: begun.scope } };
  }

  /** Once for each state. */
  async finish(asked: {
    readonly state: string;
    readonly code: string;
    readonly iss: string | null;
  }): Promise<Answer<{ readonly one: CatalogServer; readonly view: SignInView }>> {
    this.#sweep();
    const id = sha256(asked.state);
    const pending = this.#pending.get(id);
    if (pending === undefined)
      return refusal("unknown_state", "no sign-in with this state is open", "ambit mcp login NAME");
    this.#pending.delete(id);
    const { one, wish, started } = pending;
    const { finishSignIn, signInFault } = await flow();
    let refused: FetchRefusal | null = null;
    const fetch = this.#options.fetch(one, wish.hosts, (why) => {
      refused ??= why;
    });
    const tokens = await finishSignIn(started, { ...asked, redirect: wish.redirect, fetch }).catch(
      (error: unknown) => ({
        message: signInFault(error),
      }),
    );
    const { name } = one.server;
    const why = refused as FetchRefusal | null;
    if (why !== null) return unavailable(name, refusedText(why));
    if ("message" in tokens) return unavailable(name, tokens.message);
    const version = (this.#stored(one)?.version ?? 0) + 1;
    const failed = await this.#keep(
      one,
      { facts: factsOf(started), hosts: wish.hosts, version },
      started.client,
      tokens,
    );
    if (failed !== null) return unavailable(name, failed);
    this.#challenges.delete(signInSetting(one));
    return { ok: true, value: { one, view: this.view(one) as SignInView } };
  }

  /** A server refused a request: what it wants is asked for at the next sign-in. */
  challenged(one: CatalogServer, text: string): void {
    if (text.length > challengeCharactersMax || !/^[\x20-\x7e]+$/.test(text)) return;
    const key = signInSetting(one);
    this.#challenges.delete(key);
    this.#challenges.set(key, text);
    for (const oldest of this.#challenges.keys())
      if (this.#challenges.size > challengesMax) this.#challenges.delete(oldest);
  }

  /** Deletes the tokens, and revokes them where the authorization server can. False where there was no sign-in. */
  async remove(
    one: CatalogServer,
  ): Promise<
    Answer<{ readonly wasSignedIn: boolean; readonly issuer: string | null; readonly revocation: Revocation }>
  > {
    const stored = this.#stored(one);
    if (stored === null)
      return { ok: true, value: { wasSignedIn: false, issuer: null, revocation: "nothing to revoke" } };
    const { settings, entry } = this.#options;
    // Without the record no token is used any more.
    const gone = await settings.set(signInSetting(one), null, entry("server_signed_out", { server: one.server.name }));
    if (!gone.ok) return refusal(gone.code, gone.message);
    this.#challenges.delete(signInSetting(one));
    const revocation = await this.#revoked(one, stored).catch((): Revocation => "failed");
    await this.#forget(one, stored);
    return { ok: true, value: { wasSignedIn: true, issuer: stored.facts.issuer, revocation } };
  }

  /** The refresh token first: others can be had with it. */
  async #revoked(one: CatalogServer, stored: StoredSignIn): Promise<Revocation> {
    if (stored.ended !== null) return "nothing to revoke";
    const { revokeToken, revocationEndpoint } = await flow();
    if (revocationEndpoint(stored.facts.metadata) === null) return "not offered";
    const facts = { ...stored.facts, client: clientOf(stored, await this.#read(one, stored, "client")) };
    const fetch = this.#options.fetch(one, stored.hosts, () => undefined);
    const revoked = async (kind: "refresh" | "access"): Promise<boolean> => {
      const token = await this.#read(one, stored, kind);
      const hint = `${kind}_token` as const;
      return token !== null && (await revokeToken(facts, { token, hint }, fetch).catch(() => false)) === true;
    };
    const isEnded = !stored.has.refresh || (await revoked("refresh"));
    const isAccessEnded = await revoked("access");
    if (isEnded && isAccessEnded) return "revoked";
    // Many authorization servers cannot take back an access token that resource servers check by themselves.
    return isEnded && stored.has.refresh ? "refresh token revoked" : "failed";
  }

  /** Null without a sign-in; a text where it does not hold any more, or cannot be used now. */
  async token(one: CatalogServer): Promise<SignInToken | string | null> {
    const stored = this.#stored(one);
    if (stored === null) return null;
    const { expires, has, version, ended } = stored;
    if (ended !== null) return ended;
    if (expires !== null && expires - this.#options.now() < earlyMilliseconds && has.refresh) {
      const failed = await this.#refreshed(one, version);
      if (failed !== null && expires <= this.#options.now()) return failed;
    }
    const current = this.#stored(one);
    if (current === null || current.ended !== null) return current?.ended ?? "the sign-in has ended";
    const { url } = addressOf(one);
    const value = await this.#options.secret(secretName(one, "access"), { tool: tokenTool(one, "access"), url });
    if (value === null) return "its token cannot be used: the secrets are locked, or it was deleted";
    const hosts = [hostText(url)];
    return { secret: { name: secretName(one, "access"), value, hosts, isSignOnly: false }, version: current.version };
  }

  /** After the server refused a token: whether there is another one by now. */
  async renew(one: CatalogServer, version: number): Promise<boolean> {
    const stored = this.#stored(one);
    if (stored === null || stored.ended !== null) return false;
    if (stored.version !== version) return true;
    if (!stored.has.refresh) {
      await this.#end(one, stored, "its token was refused, and there is no refresh token");
      return false;
    }
    return (await this.#refreshed(one, version)) === null;
  }

  /** Null where the token of this version was replaced; why it was not otherwise. */
  #refreshed(one: CatalogServer, version: number): Promise<string | null> {
    const key = signInSetting(one);
    const running = this.#refreshing.get(key);
    if (running !== undefined) return running;
    const mine = this.#refresh(one, version)
      .catch(() => "the token could not be refreshed")
      .finally(() => this.#refreshing.delete(key));
    this.#refreshing.set(key, mine);
    return mine;
  }

  async #refresh(one: CatalogServer, version: number): Promise<string | null> {
    const stored = this.#stored(one);
    if (stored === null || stored.version !== version) return stored === null ? "the sign-in has ended" : null;
    const [token, client] = [await this.#read(one, stored, "refresh"), await this.#read(one, stored, "client")];
    if (token === null || (stored.has.client && client === null))
      return "its token cannot be refreshed: the secrets are locked, or it was deleted";
    const { refreshSignIn, isEnded, signInFault } = await flow();
    const { facts } = stored;
    const information = clientOf(stored, client);
    let refused: FetchRefusal | null = null;
    const fetch = this.#options.fetch(one, stored.hosts, (why) => {
      refused ??= why;
    });
    try {
      const tokens = await refreshSignIn({ ...facts, client: information }, token, fetch);
      // A person may have signed out, or in again, meanwhile: these tokens are of the sign-in before.
      if (this.#stored(one)?.version !== version) return "the sign-in has ended";
      return await this.#keep(one, { ...stored, version: version + 1 }, information, tokens);
    } catch (error) {
      const why = refused as FetchRefusal | null;
      if (why !== null) return refusedText(why);
      const message = `its token could not be refreshed: ${signInFault(error)}`;
      if (isEnded(error) && this.#stored(one)?.version === version) await this.#end(one, stored, message);
      return message;
    }
  }

  /** The refresh token first: it is the one that cannot be had again. */
  async #keep(
    one: CatalogServer,
    { facts, hosts, version }: Pick<StoredSignIn, "facts" | "hosts" | "version">,
    client: SignInFacts["client"],
    tokens: OAuthTokens,
  ): Promise<string | null> {
    const { access_token: access, refresh_token: refresh, token_type: type, expires_in: seconds } = tokens;
    if (!/^bearer$/i.test(type)) return "its token type is not supported";
    const { client_secret: secret } = client;
    const kept: readonly (readonly [TokenKind, string | undefined])[] = [
      ["refresh", refresh],
      ["client", secret],
      ["access", access],
    ];
    const odd = kept.some(
      ([, value]) => value !== undefined && (value.length > tokenCharactersMax || !TOKEN.test(value)),
    );
    if (odd) return "its tokens have invalid characters, or are too long";
    for (const [kind, value] of kept) {
      if (value === undefined) continue;
      const name = secretName(one, kind);
      const binding = { tools: [tokenTool(one, kind)], hosts: [hostText(tokenUrl(one, facts, kind))], uses: null };
      const wish = { name, value, binding, username: null, isCanary: false, isRotation: false };
      const stored = await this.#options.vault.set(wish, this.#options.secretEntry("set", name));
      if (!stored.ok) return `its token cannot be stored: ${stored.message}`;
    }
    const method = (client as { readonly token_endpoint_auth_method?: unknown }).token_endpoint_auth_method;
    const record: StoredSignIn = {
      ...{ facts, hosts, version, clientId: client.client_id, ended: null },
      authMethod: typeof method === "string" ? method : null,
      expires: seconds === undefined ? null : this.#options.now() + seconds * 1000,
      has: { refresh: refresh !== undefined, client: secret !== undefined },
    };
    return this.#write(one, record, version === 1 ? "server_signed_in" : "server_token_refreshed");
  }

  async #write(one: CatalogServer, record: StoredSignIn, outcome: string): Promise<string | null> {
    const { settings, entry } = this.#options;
    const { facts, hosts, expires, ended } = record;
    const more = { server: one.server.name, issuer: facts.issuer, scope: facts.scope, hosts, expires, ended };
    const stored = await settings.set(signInSetting(one), JSON.stringify(record), entry(outcome, more));
    return stored.ok ? null : stored.message;
  }

  /** It stays known that there was one, so that calls say what to do. */
  async #end(one: CatalogServer, stored: StoredSignIn, ended: string): Promise<void> {
    const has = { refresh: false, client: false };
    await this.#write(one, { ...stored, ended, has, version: stored.version + 1 }, "server_sign_in_ended");
    await this.#forget(one, stored);
  }

  async #forget(one: CatalogServer, { has }: StoredSignIn): Promise<void> {
    const kinds: readonly TokenKind[] = [
      "access",
      ...(has.refresh ? (["refresh"] as const) : []),
      ...(has.client ? (["client"] as const) : []),
    ];
    for (const kind of kinds) {
      const name = secretName(one, kind);
      await this.#options.vault.delete(name, this.#options.secretEntry("deleted", name));
    }
  }

  async #read(one: CatalogServer, { facts, has }: StoredSignIn, kind: TokenKind): Promise<string | null> {
    if (kind !== "access" && !has[kind]) return null;
    const use = { tool: tokenTool(one, kind), url: tokenUrl(one, facts, kind) };
    const value = await this.#options.secret(secretName(one, kind), use);
    if (value === null) return null;
    const text = Buffer.from(value).toString("utf8");
    value.fill(0);
    return text;
  }

  #stored(one: CatalogServer): StoredSignIn | null {
    return readSignIn(this.#options.settings.get(signInSetting(one)));
  }

  #sweep(): void {
    const now = this.#options.now();
    for (const [id, { since }] of this.#pending) if (now - since > pendingMilliseconds) this.#pending.delete(id);
  }
}

function clientOf({ clientId, authMethod }: StoredSignIn, secret: string | null): SignInFacts["client"] {
  return {
    client_id: clientId,
    ...(secret === null ? {} : { client_secret: secret }),
    ...(authMethod === null ? {} : { token_endpoint_auth_method: authMethod }),
  };
}

function isSafe(page: string): boolean {
  const { protocol, hostname } = new URL(page);
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "[::1]"].includes(hostname));
}

function refusedText(why: FetchRefusal): string {
  return "host" in why ? `${why.host} was not allowed at the sign-in` : why.message;
}

function unavailable(name: string, message: string): Refusal {
  return refusal("not_available", `no sign-in at ${name}: ${message}`);
}

/** The protocol's library is loaded when it is first needed. */
function flow(): Promise<typeof import("./sign-in-flow.ts")> {
  return import("./sign-in-flow.ts");
}
