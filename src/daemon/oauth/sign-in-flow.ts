// The steps of a sign-in at an MCP server, by the helpers of the protocol's own client. Loaded when a server is signed in at, and not
// before: its schemas are large. Every request goes through the `fetch` it is given.
import {
  type AuthorizationServerMetadata,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type FetchLike,
  IssuerMismatchError,
  type OAuthClientInformationMixed,
  OAuthError,
  type OAuthTokens,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  selectClientAuthMethod,
  selectResourceURL,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { VERSION } from "../../core/base/version.ts";

/** What a sign-in needs from its first request to its last refresh. */
export interface SignInFacts {
  readonly authorizationServer: string;
  readonly issuer: string;
  /** Null for a server of the oldest version of the protocol, which has none. */
  readonly metadata: AuthorizationServerMetadata | null;
  readonly client: OAuthClientInformationMixed;
  /** The resource that tokens are for. */
  readonly resource: string | null;
  readonly scope: string | null;
}

export interface StartedSignIn extends SignInFacts {
  /** The address that a person opens. */
  readonly page: string;
  readonly verifier: string;
}

export interface SignInStart {
  readonly address: string;
  readonly redirect: string;
  readonly state: string;
  /** A client that was registered elsewhere; null: ambit registers itself. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** What the server last answered a call with that it refused, as its `WWW-Authenticate`; null for nothing. */
  readonly heard: string | null;
  /** The sign-in before: what it was allowed is asked for again. */
  readonly before: { readonly issuer: string; readonly scope: string | null } | null;
  readonly fetch: FetchLike;
}

export type { FetchLike, OAuthTokens };

/** Null where the server does not ask for a sign-in. */
export async function startSignIn(wish: SignInStart): Promise<StartedSignIn | null> {
  const { address, redirect, state, clientId, clientSecret, heard, before, fetch } = wish;
  const probed = await challengeOf(address, fetch);
  const told = heard === null ? null : challengeIn(heard);
  if (probed === null && told === null) return null;
  const resourceMetadataUrl = probed?.resourceMetadataUrl ?? told?.resourceMetadataUrl;
  const found = await discoverOAuthServerInfo(address, {
    fetchFn: fetch,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = found;
  const authorizationServer = String(found.authorizationServerUrl);
  // Throws where the metadata is of another resource.
  await selectResourceURL(address, {} as Parameters<typeof selectResourceURL>[1], resourceMetadata);
  const resource = resourceMetadata?.resource ?? null;
  const issuer = metadata?.issuer ?? authorizationServer;
  const first = probed?.scope ?? told?.scope ?? resourceMetadata?.scopes_supported?.join(" ");
  const granted = before?.issuer === issuer ? (before.scope ?? undefined) : undefined;
  const scope = scopeOf([first, granted, told?.scope], metadata);
  const client =
    clientId === null
      ? await registerClient(authorizationServer, {
          ...(metadata === undefined ? {} : { metadata }),
          clientMetadata: clientMetadata(redirect, metadata),
          ...(scope === null ? {} : { scope }),
          fetchFn: fetch,
        })
      : { client_id: clientId, ...(clientSecret === null ? {} : { client_secret: clientSecret }) };
  const started = await startAuthorization(authorizationServer, {
    ...(metadata === undefined ? {} : { metadata }),
    ...{ clientInformation: client, redirectUrl: redirect, state },
    ...(scope === null ? {} : { scope }),
    ...(resource === null ? {} : { resource }),
  });
  return {
    ...{ authorizationServer, issuer, client, resource, scope, metadata: metadata ?? null },
    page: started.authorizationUrl.href,
    verifier: started.codeVerifier,
  };
}

/** Refuses an `iss` that is not the issuer that the sign-in started at. */
export function finishSignIn(
  started: StartedSignIn,
  {
    code,
    iss,
    redirect,
    fetch,
  }: { readonly code: string; readonly iss: string | null; readonly redirect: string; readonly fetch: FetchLike },
): Promise<OAuthTokens> {
  return exchangeAuthorization(started.authorizationServer, {
    ...requestFacts(started, fetch),
    ...{ authorizationCode: code, codeVerifier: started.verifier, redirectUri: redirect },
    ...(iss === null ? {} : { iss }),
  });
}

export function refreshSignIn(facts: SignInFacts, refreshToken: string, fetch: FetchLike): Promise<OAuthTokens> {
  return refreshAuthorization(facts.authorizationServer, { ...requestFacts(facts, fetch), refreshToken });
}

/** Whether the refresh token is of no use any more; false for what may pass. */
export function isEnded(error: unknown): boolean {
  return error instanceof OAuthError && ["invalid_grant", "invalid_client", "unauthorized_client"].includes(error.code);
}

/** INVARIANT: no text that a server wrote, which may repeat a token. */
export function signInFault(error: unknown): string {
  if (error instanceof OAuthError)
    return `the authorization server refuses (${/^[a-z_]{1,64}$/.test(error.code) ? error.code : "an error"})`;
  if (error instanceof IssuerMismatchError) return "the response is from a different authorization server";
  if (error instanceof RegistrationRejectedError)
    return "the authorization server does not register ambit as a client: register one there, and name it with --client-id";
  const message = error instanceof Error ? error.message : "";
  if (message.includes("dynamic client registration"))
    return "the authorization server registers no clients: register one there, and name it with --client-id";
  if (message.startsWith("Incompatible auth server"))
    return "the authorization server does not support codes with PKCE (S256)";
  if (message.startsWith("Protected resource")) return "its metadata describes a different resource";
  return "its metadata, or a response of its authorization server, cannot be parsed";
}

/**
 * RFC 7009. Whether the authorization server says that the token is of no use any more; null where it offers no such thing at the
 * place where it gives tokens out.
 */
export async function revokeToken(
  { metadata, client }: SignInFacts,
  { token, hint }: { readonly token: string; readonly hint: "access_token" | "refresh_token" },
  fetch: FetchLike,
): Promise<boolean | null> {
  const endpoint = revocationEndpoint(metadata);
  if (endpoint === null) return null;
  const { client_id: id, client_secret: secret } = client;
  const method = selectClientAuthMethod(client, metadata?.token_endpoint_auth_methods_supported ?? []);
  const isBasic = method === "client_secret_basic" && secret !== undefined;
  const body = new URLSearchParams({ token, token_type_hint: hint });
  if (!isBasic) body.set("client_id", id);
  if (method === "client_secret_post" && secret !== undefined) body.set("client_secret", secret);
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    ...(isBasic ? { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` } : {}),
  };
  const answer = await fetch(endpoint, { method: "POST", headers, body });
  await answer.text();
  return answer.ok;
}

/** INVARIANT: a token is shown to no other host than the one that gave it out. */
export function revocationEndpoint(metadata: SignInFacts["metadata"]): string | null {
  const { revocation_endpoint: endpoint, token_endpoint: giving } = (metadata ?? {}) as {
    readonly revocation_endpoint?: unknown;
    readonly token_endpoint?: unknown;
  };
  if (typeof endpoint !== "string" || typeof giving !== "string") return null;
  return URL.canParse(endpoint) && new URL(endpoint).origin === new URL(giving).origin ? endpoint : null;
}

const VERSION_ASKED = "2025-11-25";

function probe(method: string, params: object, headers: Readonly<Record<string, string>> = {}) {
  return {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: method, method, params }),
  };
}

const BEGIN = { protocolVersion: VERSION_ASKED, capabilities: {}, clientInfo: { name: "ambit", version: VERSION } };

type Challenge = ReturnType<typeof extractWWWAuthenticateParams>;

/** How the server asks for a sign-in; null where it does not. Many let everybody begin, and ask afterwards. */
async function challengeOf(address: string, fetch: FetchLike): Promise<Challenge | null> {
  const begun = await fetch(address, probe("initialize", BEGIN));
  await begun.text();
  if (!begun.ok) return extractWWWAuthenticateParams(begun);
  const session = begun.headers.get("mcp-session-id");
  const headers = {
    "MCP-Protocol-Version": VERSION_ASKED,
    ...(session === null || session.includes("{{") ? {} : { "Mcp-Session-Id": session }),
  };
  const listed = await fetch(address, probe("tools/list", {}, headers));
  await listed.text();
  if (session !== null) await fetch(address, { method: "DELETE", headers }).then((answer) => answer.text());
  return listed.status === 401 || listed.status === 403 ? extractWWWAuthenticateParams(listed) : null;
}

function challengeIn(heard: string): Challenge {
  return extractWWWAuthenticateParams(new Response(null, { status: 401, headers: { "www-authenticate": heard } }));
}

function requestFacts(facts: SignInFacts, fetchFn: FetchLike) {
  const { metadata, client, resource } = facts;
  return {
    ...(metadata === null ? {} : { metadata }),
    clientInformation: client,
    ...(resource === null ? {} : { resource }),
    fetchFn,
  };
}

const scopesMax = 64;
/** RFC 6749, appendix A.4; without what is a handle of a secret here. */
const SCOPE = /^(?!.*\{\{)[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

/** Each once, and `offline_access` where the server has it: without it there may be no refresh token. */
function scopeOf(
  texts: readonly (string | undefined)[],
  metadata: AuthorizationServerMetadata | undefined,
): string | null {
  const wanted = [...new Set(texts.flatMap((text) => (text ?? "").split(" ")).filter((one) => one !== ""))];
  if (wanted.length === 0) return null;
  if (wanted.length > scopesMax || !wanted.every((one) => SCOPE.test(one)))
    throw new Error("its scopes cannot be parsed");
  const isOffered = metadata?.scopes_supported?.includes("offline_access") === true;
  const all = isOffered && !wanted.includes("offline_access") ? [...wanted, "offline_access"] : wanted;
  return all.join(" ");
}

function clientMetadata(redirect: string, metadata: AuthorizationServerMetadata | undefined) {
  const methods = metadata?.token_endpoint_auth_methods_supported ?? ["none"];
  const method = ["none", "client_secret_basic", "client_secret_post"].find((one) => methods.includes(one)) ?? "none";
  return {
    redirect_uris: [redirect],
    client_name: "ambit",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
    application_type: "native",
  };
}
