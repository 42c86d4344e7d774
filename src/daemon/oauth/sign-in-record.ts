// What is stored about a sign-in at an MCP server: everything but the tokens, which are secrets of their own.
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import { isJsonObject, type Json } from "../../core/base/json.ts";
import type { SignInView } from "../../core/ports/daemon/server-messages.ts";
import { sha256 } from "../../platform/digest.ts";
import { toAscii } from "../../sandbox/network/names/ascii.ts";
import type { CatalogServer } from "../servers/server-catalog.ts";
import type { SignInFacts } from "./sign-in-flow.ts";

export interface StoredSignIn {
  readonly facts: Omit<SignInFacts, "client">;
  readonly clientId: string;
  /** How the client proves itself, as it was registered. */
  readonly authMethod: string | null;
  readonly hosts: readonly string[];
  readonly expires: number | null;
  readonly version: number;
  readonly has: { readonly refresh: boolean; readonly client: boolean };
  /** Why it cannot be refreshed any more; null while it can. */
  readonly ended: string | null;
}

export type TokenKind = "access" | "refresh" | "client";

/** Null for a text that is no sign-in. */
export function readSignIn(text: string | null): StoredSignIn | null {
  try {
    const value = JSON.parse(text ?? "null") as Json;
    return isJsonObject(value) && typeof value["version"] === "number" ? (value as unknown as StoredSignIn) : null;
  } catch {
    return null;
  }
}

export function signInView({ facts, hosts, expires, ended, has }: StoredSignIn, now: number): SignInView {
  const isOver = ended !== null || (!has.refresh && expires !== null && expires <= now);
  return { state: isOver ? "expired" : "signed in", issuer: facts.issuer, scope: facts.scope, expires, hosts };
}

/** INVARIANT: another address, or another project's server of this name, has another key: it gets no token of this one. */
export function signInSetting({ server, workspace }: CatalogServer): string {
  return `mcp.sign-in ${digestOf(server, workspace)}`;
}

function digestOf(server: CatalogServer["server"], workspace: CatalogServer["workspace"]): string {
  const address = server.endpoint.kind === "http" ? server.endpoint.address : "";
  const facts = [server.level, server.level === "user" ? null : workspace, server.name, address];
  return sha256(JSON.stringify(facts)).slice(0, 16);
}

export function secretName({ server, workspace }: CatalogServer, kind: TokenKind): string {
  return `mcp-${server.name.slice(0, 32)}-${digestOf(server, workspace).slice(0, 12)}.${kind}`;
}

/** A tool that no file can name: no entry of a server sends these secrets by a handle. */
export function tokenTool({ server }: CatalogServer, kind: TokenKind): string {
  return `mcp.${server.name}.${kind}`;
}

export function addressOf({ server }: CatalogServer): { readonly url: Url } {
  if (server.endpoint.kind !== "http") throw new Error("a server that is a program has no sign-in");
  return server.endpoint;
}

/** Of the metadata, what later requests need. */
export function factsOf({
  authorizationServer,
  issuer,
  metadata,
  resource,
  scope,
}: SignInFacts): StoredSignIn["facts"] {
  const kept = [
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "response_types_supported",
    "token_endpoint_auth_methods_supported",
    "revocation_endpoint",
  ];
  const part =
    metadata === null ? null : Object.fromEntries(Object.entries(metadata).filter(([key]) => kept.includes(key)));
  return { authorizationServer, issuer, resource, scope, metadata: part as SignInFacts["metadata"] };
}

/** Where a token is sent: the access token to the server, the others to the authorization server. */
export function tokenUrl(
  one: CatalogServer,
  { authorizationServer, metadata }: StoredSignIn["facts"],
  kind: TokenKind,
): Url {
  const own = addressOf(one).url;
  if (kind === "access") return own;
  const endpoint = parseUrl(metadata?.token_endpoint ?? new URL("/token", authorizationServer).href, toAscii);
  return endpoint.ok ? endpoint.value : own;
}
