// web_fetch: one request, its redirects, and the text of what comes back.

import { destinationText } from "../../core/authority/axes/destination.ts";
import { type HeaderLine, requestFault, secretsIn } from "../../core/authority/axes/http-request.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import { refuse } from "../../core/base/result.ts";
import type { RequestsResult } from "../../core/gate/known-tool.ts";
import type { Context } from "../../runtime/context/context.ts";
import { fetchVerb } from "../../runtime/context/fetch-request.ts";
import { secretsPerFetchMax } from "../../runtime/context/limits.ts";
import { type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, type CallReading, requestsFor } from "../../runtime/tool/builtin.ts";
import { contentOf } from "./content.ts";
import { WEB_FETCH_DEFINITION, type WebFormat, type WebMethod } from "./definition.ts";
import { headersMax, millisecondsUsual, responseBytesUsual } from "./limits.ts";
import { type WebResult, webResultData } from "./result.ts";

/** One request, as the tools of this folder and the search tool make it. */
export interface WebRequest {
  readonly url: string;
  readonly method?: WebMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly format?: WebFormat;
  readonly bytesMax?: number;
  readonly milliseconds?: number;
}

export const WEB_FETCH_TOOL: BuiltinTool = {
  ...WEB_FETCH_DEFINITION,
  verbs: [],
  anyVerb: ["net.get", "net.post", "net.put", "net.delete"],
  requests: (input, reading) => webRequests(input as unknown as WebRequest, reading),
  execute: async (input, context) => {
    const fetched = await fetchText(input as unknown as WebRequest, context);
    return fetched.ok ? useResult(webResultData(fetched.value)) : fetched;
  },
};

/** The method's verb on the host, and one use for each secret. What cannot be sent is refused before anything is charged. */
export function webRequests(request: WebRequest, reading: CallReading): RequestsResult {
  const { method = "GET", body = null } = request;
  const verb = fetchVerb(method);
  if (verb === null) return refuse("bad_value", `${method} cannot be granted`);
  const url = parseUrl(request.url, reading.toAscii);
  if (!url.ok) return url;
  const headers = headersOf(request);
  if (headers.length > headersMax) return refuse("too_long", `at most ${headersMax} headers go with one request`);
  const fault = requestFault(method, url.value, headers, body !== null);
  if (fault !== null) return refuse("bad_value", fault);
  const secrets = secretsIn(url.value, headers, body);
  if (secrets.length > secretsPerFetchMax)
    return refuse("too_long", `at most ${secretsPerFetchMax} secrets go with one request`);
  const host = destinationText(url.value.host);
  const uses = secrets.map((name) => ({ verb: "secret.use", name, host }) as const);
  return requestsFor(reading, { verb, url: request.url }, ...uses);
}

export async function fetchText(request: WebRequest, { net }: Context): Promise<UseResult<WebResult>> {
  const { url, method, body, format = "markdown", bytesMax = responseBytesUsual } = request;
  const fetched = await net.fetch(url, {
    ...{ method, body, bytesMax, truncate: true },
    headers: headersOf(request),
    millisecondsMax: request.milliseconds ?? millisecondsUsual,
  });
  if (!fetched.ok) return fetched;
  const { status, url: final, redirects, truncated, headers } = fetched.value;
  const bytes = await fetched.value.bytes();
  const content = contentOf(headers.get("content-type"), bytes, truncated);
  if (!content.ok) {
    const size = truncated ? `more than ${bytesMax}` : String(bytes.length);
    const type = content.type ?? "of unknown type";
    return useDenial("not_available", null, `the response is not text: ${type}, ${size} bytes`);
  }
  const isPending = format !== "raw" && content.kind !== "text" && content.text !== "";
  return useResult({
    ...{ status, url: final, hops: redirects, contentType: content.type, text: content.text },
    more: truncated,
    bytes: bytes.length,
    ...(isPending ? { pending: { kind: content.kind, format } } : {}),
  });
}

function headersOf({ headers }: WebRequest): readonly HeaderLine[] {
  return Object.entries(headers ?? {});
}
