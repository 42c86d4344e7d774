// Whose access tokens `ambit mcp serve --http` accepts, and which agent each of their holders gets. The user's to say.
import type { ToAscii } from "../../authority/axes/destination.ts";
import { pathText } from "../../authority/axes/path.ts";
import { parseUrl } from "../../authority/axes/url.ts";
import { PRINCIPAL_NAME } from "../../authority/principal.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { readRoot } from "../record/hoist.ts";
import { kindName, reportRefusal, type Text, textOf, textsOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../tree.ts";

export interface WrittenOauth {
  /** The address of the server as clients write it: the audience of every token. */
  readonly resource: string;
  readonly issuers: readonly WrittenIssuer[];
}

/** An authorization server. */
export interface WrittenIssuer {
  readonly issuer: string;
  /** Where its keys are; null: where its metadata says, at the same origin. */
  readonly jwks: string | null;
  /** Scopes that a token must have, all of them. */
  readonly scopes: readonly string[];
  readonly clients: readonly WrittenOauthClient[];
}

/** INVARIANT: a token whose claims match no entry, or more than one, is refused. */
export interface WrittenOauthClient {
  /** At least one; each is equal to the token's claim, or one of the texts in it. */
  readonly claims: ReadonlyMap<string, string>;
  readonly agent: string;
  /** The folder of its sessions. */
  readonly cwd: string;
  readonly user: string | null;
}

const issuersMax = 8;
const clientsMax = 256;
const claimsMax = 16;
const textCharactersMax = 1_024;
const KEYS: readonly string[] = ["resource", "issuers"];
const ISSUER_KEYS: readonly string[] = ["issuer", "jwks", "scopes", "clients"];
const CLIENT_KEYS: readonly string[] = ["claims", "agent", "in", "user"];
const EXAMPLE =
  "oauth: { resource: http://127.0.0.1:8484/mcp, issuers: [{ issuer: https://login.example.com, clients: [...] }] }";
const CLIENT_EXAMPLE = "{ claims: { sub: alice }, agent: scout, in: ~/project }";
/** RFC 6749: visible ASCII without quotation marks and backslashes. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

export function readOauth({ value }: Entry, reading: Reading, diagnostics: Diagnostics): WrittenOauth | null {
  const map = mapOf(value, "`oauth`", KEYS, EXAMPLE, diagnostics);
  if (map === null) return null;
  const resource = textAt(map, "resource", diagnostics);
  const issuers = entryOf(map, "issuers");
  if (resource === null || issuers === null || issuers.value.kind !== "list") {
    diagnostics.error(
      "missing_field",
      map.span,
      "`oauth` needs `resource`, the address clients use, and a list of `issuers`",
      { fix: EXAMPLE },
    );
    return null;
  }
  checkAddress(resource, "resource", reading.toAscii, diagnostics);
  if (!/^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}\/mcp$/.test(resource.text))
    diagnostics.error("bad_value", resource.span, "`resource` is the address that `ambit mcp serve --http` prints", {
      fix: "resource: http://127.0.0.1:8484/mcp",
    });
  const { items } = issuers.value;
  if (items.length > issuersMax)
    diagnostics.error("too_large", issuers.value.span, `\`issuers\` has more than ${issuersMax} entries`);
  const read = items.slice(0, issuersMax).flatMap((one) => readIssuer(one, reading, diagnostics) ?? []);
  const twice = read.find(({ issuer }, at) => read.findIndex((other) => other.issuer === issuer) !== at);
  if (twice !== undefined)
    diagnostics.error("bad_value", issuers.value.span, `the issuer ${quoteText(twice.issuer)} is written twice`);
  return { resource: resource.text, issuers: read };
}

function readIssuer(node: TreeNode, reading: Reading, diagnostics: Diagnostics): WrittenIssuer | null {
  const map = mapOf(node, "an issuer", ISSUER_KEYS, "{ issuer: https://login.example.com, clients: [] }", diagnostics);
  if (map === null) return null;
  const issuer = textAt(map, "issuer", diagnostics);
  if (issuer === null) {
    diagnostics.error("missing_field", map.span, "an issuer needs an address: `issuer`", {
      fix: "issuer: https://login.example.com",
    });
    return null;
  }
  checkAddress(issuer, "issuer", reading.toAscii, diagnostics);
  const jwks = textAt(map, "jwks", diagnostics);
  if (jwks !== null) checkAddress(jwks, "jwks", reading.toAscii, diagnostics, true);
  const scopes = entryOf(map, "scopes");
  const texts = scopes === null ? [] : (textsOf(scopes, diagnostics) ?? []);
  for (const { text, span } of texts)
    if (!SCOPE.test(text)) diagnostics.error("bad_value", span, `${quoteText(text)} is not a scope`);
  const clients = entryOf(map, "clients");
  const items = clients?.value.kind === "list" ? clients.value.items : null;
  if (items === null || items.length > clientsMax)
    diagnostics.error(
      items === null ? "missing_field" : "too_large",
      (clients?.value ?? map).span,
      `\`clients\` is a list of at most ${clientsMax}: which claims get which agent`,
      { fix: `clients: [${CLIENT_EXAMPLE}]` },
    );
  return {
    issuer: issuer.text,
    jwks: jwks?.text ?? null,
    scopes: texts.map(({ text }) => text),
    clients: (items ?? []).slice(0, clientsMax).flatMap((one) => readClient(one, reading, diagnostics) ?? []),
  };
}

function readClient(node: TreeNode, reading: Reading, diagnostics: Diagnostics): WrittenOauthClient | null {
  const map = mapOf(node, "a client", CLIENT_KEYS, CLIENT_EXAMPLE, diagnostics);
  if (map === null) return null;
  const [agent, folder, user] = (["agent", "in", "user"] as const).map((key) => textAt(map, key, diagnostics));
  const claims = entryOf(map, "claims");
  if (agent === undefined || agent === null || folder === undefined || folder === null || claims === null) {
    diagnostics.error("missing_field", map.span, "a client has `claims`, an `agent` and the folder `in`", {
      fix: CLIENT_EXAMPLE,
    });
    return null;
  }
  if (agent.text === "") diagnostics.error("bad_value", agent.span, "`agent` is empty", { fix: "agent: scout" });
  const root = readRoot(folder.text, reading);
  if (!root.ok) reportRefusal(root, folder.span, diagnostics);
  else if (!/^(?:\/|~)/.test(folder.text))
    diagnostics.error("bad_value", folder.span, "`in` is a whole path", { fix: "in: ~/project" });
  if (user !== undefined && user !== null && !PRINCIPAL_NAME.test(user.text))
    diagnostics.error("bad_value", user.span, "a user name has only letters, digits and . _ @ + -");
  const read = readClaims(claims, diagnostics);
  return root.ok && read !== null
    ? { claims: read, agent: agent.text, cwd: pathText(root.value), user: user?.text ?? null }
    : null;
}

function readClaims({ value }: Entry, diagnostics: Diagnostics): ReadonlyMap<string, string> | null {
  const entries = value.kind === "map" ? value.entries : [];
  const isText = (node: TreeNode): boolean =>
    node.kind === "scalar" &&
    typeof node.value === "string" &&
    node.value !== "" &&
    node.value.length <= textCharactersMax;
  const wrong = entries.find(({ value: written }) => !isText(written));
  if (entries.length === 0 || entries.length > claimsMax || wrong !== undefined) {
    const message = `\`claims\` has 1 to ${claimsMax} claims, each with its required value`;
    diagnostics.error("bad_value", (wrong?.value ?? value).span, message, { fix: 'claims: { sub: "alice" }' });
    return null;
  }
  return new Map(
    entries.map(({ key, value: written }) => [key, String(written.kind === "scalar" ? written.value : "")]),
  );
}

/** Without TLS another machine could give out keys of its own. */
function checkAddress(
  { text, span }: Text,
  key: string,
  toAscii: ToAscii,
  diagnostics: Diagnostics,
  hasQuery = false,
): void {
  const url = parseUrl(text, toAscii);
  if (!url.ok) {
    reportRefusal(url, span, diagnostics);
    return;
  }
  const { scheme, rest } = url.value;
  const fix = { fix: `${key}: https://login.example.com` };
  if ((hasQuery ? /#/ : /[?#]/).test(rest))
    diagnostics.error("bad_value", span, `\`${key}\` has no query and no fragment`, fix);
  if (key !== "resource" && scheme === "http" && !/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?:[:/?]|$)/.test(text))
    diagnostics.error("bad_value", span, `\`${key}\` is an https address, or one of 127.0.0.1 or [::1]`, fix);
}

function textAt(map: Mapping, key: string, diagnostics: Diagnostics): Text | null {
  const entry = entryOf(map, key);
  const written = entry === null ? null : textOf(entry, diagnostics);
  if (written !== null && written.text.length > textCharactersMax) {
    diagnostics.error("too_large", written.span, `\`${key}\` has more than ${textCharactersMax} characters`);
    return null;
  }
  return written;
}

function mapOf(
  node: TreeNode,
  what: string,
  keys: readonly string[],
  fix: string,
  diagnostics: Diagnostics,
): Mapping | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `${what} is a map, not ${kindName(node)}`, { fix });
    return null;
  }
  for (const { key, keySpan } of node.entries)
    if (!keys.includes(key))
      diagnostics.error("unknown_key", keySpan, `${what} has no ${quoteText(key)}`, {
        suggestion: nearestName(key, keys),
      });
  return node;
}
