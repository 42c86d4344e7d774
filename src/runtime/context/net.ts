// The network as a tool sees it: `fetch`. Every hop is parsed, decided, resolved, screened and pinned like the first one.

import { destinationText } from "../../core/authority/axes/destination.ts";
import {
  becomesGet,
  isIdentifying,
  isRedirect,
  originOf,
  redirectOf,
  targetOf,
  urlText,
} from "../../core/authority/axes/redirect.ts";
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import { utf8Bytes, utf8Text } from "../../core/base/bytes.ts";
import type { HttpPort, HttpResponse, SecretsPort, StopSignal } from "../../core/ports/instruments.ts";
import { closed } from "./closed.ts";
import { type FetchOptions, type FetchRequest, type Header, readFetch } from "./fetch-request.ts";
import type { Life } from "./life.ts";
import { fetchRequestsMax, secretsPerFetchMax } from "./limits.ts";
import { filled, secretsIn, withoutValues } from "./placeholder.ts";
import { type FetchedResponse, responseOf } from "./response.ts";
import { screen, screened } from "./screened.ts";
import type { UseGate } from "./use-gate.ts";
import { denialCodeOf, failed, invalid, type UseResult, unreadable, useDenial, useResult } from "./use-result.ts";

export interface NetInstrument {
  fetch(url: string, options?: FetchOptions): Promise<UseResult<FetchedResponse>>;
}

interface NetPorts {
  readonly fetching: HttpPort | null;
  readonly secrets: SecretsPort | null;
}

export function netInstrument(ports: NetPorts, asker: UseGate, life: Life): NetInstrument {
  return closed({
    fetch: (url: string, options?: FetchOptions) => life.use("net.get", () => follow(ports, asker, life, url, options)),
  });
}

async function follow(
  ports: NetPorts,
  asker: UseGate,
  life: Life,
  text: unknown,
  options: unknown,
): Promise<UseResult<FetchedResponse>> {
  const read = readFetch(options);
  if (!read.ok) return read;
  let asked = read.value;
  const first = typeof text === "string" ? parseUrl(text, asker.reading.toAscii) : null;
  if (first === null) return invalid(asked.verb, "the address is a text");
  if (!first.ok) return unreadable(asked.verb, first);
  let url: Url = first.value;
  for (let count = 0; count < fetchRequestsMax; count++) {
    // The call ended in between: the next hop is not tried.
    if (life.isOver) return useDenial("revoked", asked.verb, "the call this belonged to has ended");
    const answer = await hop(ports, asker, life.signal(), url, asked);
    if (!answer.ok) return answer;
    const { status, headers, body } = answer.value;
    const location = headers.find(([name]) => name.toLowerCase() === "location")?.[1];
    if (!isRedirect(status) || location === undefined || asked.redirect === "manual")
      return useResult(responseOf({ status, headers, body, url: urlText(url), redirected: count > 0 }));
    if (asked.redirect === "error") return useDenial("not_available", asked.verb, "the answer is a redirect");
    const next = redirectOf(location, url, asker.reading.toAscii);
    if (!next.ok)
      return useDenial(next.kind === "downgrade" ? "scope_violation" : "invalid_input", asked.verb, next.message);
    asked = afterRedirect(asked, status, originOf(url) === originOf(next.value));
    url = next.value;
  }
  return useDenial("not_available", asked.verb, `more than ${fetchRequestsMax} requests: the redirects do not end`);
}

function afterRedirect(asked: FetchRequest, status: number, isSameOrigin: boolean): FetchRequest {
  const { method } = asked;
  const isGet = becomesGet(status, method);
  const headers = asked.headers.filter(
    ([name, value]) =>
      (isSameOrigin || !(isIdentifying(name) || secretsIn(value).length > 0)) &&
      !(isGet && name.startsWith("content-")),
  );
  return isGet ? { ...asked, verb: "net.get", method: "GET", headers, body: null } : { ...asked, headers };
}

/** One request to one server. INVARIANT: nothing is resolved, opened or sent before it is decided. */
async function hop(
  { fetching, secrets }: NetPorts,
  asker: UseGate,
  stop: StopSignal,
  url: Url,
  asked: FetchRequest,
): Promise<UseResult<HttpResponse>> {
  const granted = asker.ask({ verb: asked.verb, url: `${originOf(url)}/` });
  if (!granted.ok) return granted;
  const host = destinationText(url.host);
  const names = secretNames(asked);
  if (names.length > secretsPerFetchMax)
    return invalid("secret.use", `more than ${secretsPerFetchMax} secrets in one request`);
  for (const name of names) {
    const open = asker.ask({ verb: "secret.use", name, host });
    if (!open.ok) return open;
  }
  if (fetching === null) return useDenial("not_available", asked.verb, "there is no network here");
  const addresses = await screened(asker, granted.value, url, fetching.resolve);
  if (!addresses.ok) return addresses;
  const values = await openSecrets(secrets, names, { tool: asker.reading.tool, host, origin: originOf(url) });
  if (!values.ok) return values;
  const fill = (text: string): string => filled(text, values.value);
  const headers = asked.headers.map(([name, value]): Header => [name, fill(value)]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (headers.some(([, value]) => /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)))
    return useDenial("secret_refused", "secret.use", "a secret holds what no header can");
  const { scheme, port } = url;
  const { method, body, bytesMax, millisecondsMax } = asked;
  const answer = await fetching.exchange({
    ...{ scheme, host, port, target: targetOf(url), method, headers },
    body: typeof body === "string" ? utf8Bytes(fill(body)) : body,
    ...{ addresses: addresses.value, bytesMax, millisecondsMax, stop },
    screen: (address) => {
      const open = screen(asker, granted.value, url, address);
      return open.ok ? null : denialCodeOf(open);
    },
  });
  return answer.ok ? useResult(told(answer.value, values.value)) : failed(asked.verb, answer);
}

function secretNames({ headers, body }: FetchRequest): readonly string[] {
  const texts = [...headers.map(([, value]) => value), typeof body === "string" ? body : ""];
  return [...new Set(texts.flatMap(secretsIn))];
}

async function openSecrets(
  secrets: SecretsPort | null,
  names: readonly string[],
  use: Parameters<SecretsPort["open"]>[1],
): Promise<UseResult<ReadonlyMap<string, string>>> {
  const values = new Map<string, string>();
  for (const name of names) {
    if (secrets === null) return useDenial("not_available", "secret.use", "there are no secrets here");
    const opened = await secrets.open(name, use);
    if (!opened.ok) return failed("secret.use", opened);
    values.set(name, opened.value);
  }
  return useResult(values);
}

/** A server may echo the request: secret values, as they were sent, are redacted from the result. */
function told({ status, headers, body }: HttpResponse, values: ReadonlyMap<string, string>): HttpResponse {
  if (values.size === 0) return { status, headers, body };
  const marks = [...values].map(([name, value]) => ({
    value: utf8Bytes(value),
    shown: utf8Bytes(`[REDACTED:${name}]`),
  }));
  const clean = (text: string): string => utf8Text(withoutValues(utf8Bytes(text), marks));
  return { status, headers: headers.map(([name, value]) => [name, clean(value)]), body: withoutValues(body, marks) };
}
