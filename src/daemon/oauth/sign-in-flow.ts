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
  readonly fetch: FetchLike;
}

export type { FetchLike, OAuthTokens };

/** Null where the server does not ask for a sign-in. */
export async function startSignIn(wish: SignInStart): Promise<StartedSignIn | null> {
  const { address, redirect, state, clientId, fetch } = wish;
  const challenged = await fetch(address, PROBE);
  await challenged.text();
  if (challenged.ok) return null;
  const { resourceMetadataUrl, scope: wanted } = extractWWWAuthenticateParams(challenged);
  const found = await discoverOAuthServerInfo(address, {
    fetchFn: fetch,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = found;
  const authorizationServer = String(found.authorizationServerUrl);
  // Throws where the metadata is of another resource.
  await selectResourceURL(address, {} as Parameters<typeof selectResourceURL>[1], resourceMetadata);
  const resource = resourceMetadata?.resource ?? null;
  const scope = scopeOf(wanted ?? resourceMetadata?.scopes_supported?.join(" "), metadata);
  const client =
    clientId === null
      ? await registerClient(authorizationServer, {
          ...(metadata === undefined ? {} : { metadata }),
          clientMetadata: clientMetadata(redirect, metadata),
          ...(scope === null ? {} : { scope }),
          fetchFn: fetch,
        })
      : { client_id: clientId };
  const started = await startAuthorization(authorizationServer, {
    ...(metadata === undefined ? {} : { metadata }),
    ...{ clientInformation: client, redirectUrl: redirect, state },
    ...(scope === null ? {} : { scope }),
    ...(resource === null ? {} : { resource }),
  });
  return {
    ...{ authorizationServer, client, resource, scope, metadata: metadata ?? null },
    issuer: metadata?.issuer ?? authorizationServer,
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
  if (error instanceof IssuerMismatchError)
    return "the answer is of another authorization server than the one that was asked";
  if (error instanceof RegistrationRejectedError)
    return "the authorization server does not register ambit as a client: register one there, and name it with --client-id";
  const message = error instanceof Error ? error.message : "";
  if (message.includes("dynamic client registration"))
    return "the authorization server registers no clients: register one there, and name it with --client-id";
  if (message.startsWith("Incompatible auth server"))
    return "the authorization server does not support codes with PKCE (S256)";
  if (message.startsWith("Protected resource")) return "its metadata is of another resource than this server";
  return "its metadata, or an answer of its authorization server, cannot be understood";
}

const PROBE = {
  method: "POST",
  headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
  body: JSON.stringify({
    ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "ambit", version: VERSION } },
  }),
};

function requestFacts(facts: SignInFacts, fetchFn: FetchLike) {
  const { metadata, client, resource } = facts;
  return {
    ...(metadata === null ? {} : { metadata }),
    clientInformation: client,
    ...(resource === null ? {} : { resource }),
    fetchFn,
  };
}

/** `offline_access` where the server has it: without it there may be no refresh token. */
function scopeOf(wanted: string | undefined, metadata: AuthorizationServerMetadata | undefined): string | null {
  if (wanted === undefined || wanted === "") return null;
  const isOffered = metadata?.scopes_supported?.includes("offline_access") === true;
  return isOffered && !wanted.split(" ").includes("offline_access") ? `${wanted} offline_access` : wanted;
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
