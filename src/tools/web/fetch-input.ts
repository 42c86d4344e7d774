// Parses one call of web_fetch: what to send where, and which secrets go with it.

import type { ToAscii } from "../../core/authority/axes/destination.ts";
import { parseName, parseTool } from "../../core/authority/axes/name.ts";
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { methodVerb } from "../../core/notation/request/request.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import { WEB_FETCH, WEB_FETCH_DEFINITION, type WebFormat, type WebMethod } from "./definition.ts";
import { headersMax, millisecondsUsual, responseBytesUsual, secretsMax } from "./limits.ts";

export interface WebCall {
  readonly url: Url;
  readonly address: string;
  readonly method: WebMethod;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | null;
  readonly format: WebFormat;
  readonly bytesMax: number;
  readonly milliseconds: number;
  /** Names of the secrets it uses, each once. */
  readonly secrets: readonly string[];
}

/** Names of secrets in a text, found by the same rule that inserts their values. */
export type FindHandles = (text: string, place: "query" | "header" | "plain") => readonly string[];

export type ReadWebCall = (input: JsonObject) => Result<WebCall>;

export function webCallReader(toAscii: ToAscii, handles: FindHandles): ReadWebCall {
  const acceptor = inputParser(WEB_FETCH_DEFINITION.input);
  return (input) => {
    const accepted = acceptor.accept(input);
    if (accepted.ok) return webCall(input, toAscii, handles);
    const [issue] = accepted.issues;
    return refuse(
      "bad_value",
      issue === undefined ? "the arguments do not match the tool's input" : `${issue.at} ${issue.message}`.trim(),
    );
  };
}

/** INVARIANT: the input passed the tool's own schema, so each member has its type. */
function webCall(input: JsonObject, toAscii: ToAscii, handles: FindHandles): Result<WebCall> {
  const address = String(member(input, "url"));
  const url = parseUrl(address, toAscii);
  if (!url.ok) return url;
  const given = member(input, "headers");
  const headers = Object.entries(isJsonObject(given) ? given : {}).map(
    ([name, value]) => [name, String(value)] as const,
  );
  if (headers.length > headersMax) return refuse("too_long", `at most ${headersMax} headers go with one request`);
  const body = textOr(input, "body", null);
  const { path, query } = partsOf(url.value);
  if (handles(path, "query").length > 0)
    return refuse("bad_value", "a secret stands in a header, in the query or in the body, not in the path");
  const secrets = new Set([
    ...handles(query, "query"),
    ...headers.flatMap(([, value]) => handles(value, "header")),
    ...handles(body ?? "", "plain"),
  ]);
  if (secrets.size > secretsMax) return refuse("too_long", `at most ${secretsMax} secrets go with one request`);
  return done({
    url: url.value,
    address,
    method: textOr(input, "method", "GET") as WebMethod,
    headers,
    body,
    format: textOr(input, "format", "markdown") as WebFormat,
    bytesMax: numberOr(input, "bytesMax", responseBytesUsual),
    milliseconds: numberOr(input, "milliseconds", millisecondsUsual),
    secrets: [...secrets],
  });
}

/** The method's verb on the host, and one use for each secret. */
export function webRequests({ method, url, secrets }: WebCall, tool: string = WEB_FETCH): Result<readonly Request[]> {
  const verb = methodVerb(method);
  if (verb === null) return refuse("bad_value", `nobody can be granted ${method}`);
  const uses = secrets.map((name) => secretRequest(name, url, tool));
  const understood = uses.filter((one) => one !== null);
  if (understood.length !== uses.length) return refuse("bad_value", "a secret has no such name");
  return done([{ verb, values: [url.host, url.port], scheme: url.scheme }, ...understood]);
}

/** `tool`: the one that fetches; a secret is bound to it. */
export function secretRequest(name: string, { host }: Url, tool: string = WEB_FETCH): Request | null {
  const verb = verbEntry("secret.use");
  const [secret, by] = [parseName(name), parseTool(tool)];
  return verb === null || !secret.ok || !by.ok ? null : { verb, values: [secret.value, by.value, host] };
}

/** The fragment is not sent, and therefore ignored. */
function partsOf({ rest }: Url): { readonly path: string; readonly query: string } {
  const [whole = "/"] = rest.split("#", 1);
  const mark = whole.indexOf("?");
  return mark < 0 ? { path: whole, query: "" } : { path: whole.slice(0, mark), query: whole.slice(mark) };
}

function textOr<T>(input: JsonObject, key: string, otherwise: T): string | T {
  const value = member(input, key);
  return typeof value === "string" ? value : otherwise;
}

function numberOr(input: JsonObject, key: string, otherwise: number): number {
  const value = member(input, key);
  return typeof value === "number" ? value : otherwise;
}
