// The network as a tool sees it: `fetch`. Every request on the way, redirects included, is decided before anything is resolved,
// opened or sent.
import { destinationText } from "../../core/authority/axes/destination.ts";
import { requestFault, secretsIn } from "../../core/authority/axes/http-request.ts";
import { isRedirect, originOf, urlText } from "../../core/authority/axes/redirect.ts";
import { signatureHeaders, signatureSecrets } from "../../core/authority/axes/request-signature.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { utf8Bytes } from "../../core/base/bytes.ts";
import type { FetchSecret, HttpPort, SecretsPort } from "../../core/ports/instruments.ts";
import { type FetchOptions, type FetchRequest, readFetch } from "./fetch-request.ts";
import { type ContextLifetime, sealMembers } from "./life.ts";
import { fetchRequestsMax, secretsPerFetchMax } from "./limits.ts";
import { type FetchedResponse, responseOf } from "./response.ts";
import type { AllowedUse, UseGate } from "./use-gate.ts";
import {
  denialCodeOf,
  invalid,
  type UseDenial,
  type UseResult,
  unreadable,
  useDenial,
  useFailure,
  useResult,
} from "./use-result.ts";

export interface NetInstrument {
  fetch(url: string, options?: FetchOptions): Promise<UseResult<FetchedResponse>>;
}

interface NetPorts {
  readonly fetching: HttpPort | null;
  readonly secrets: SecretsPort | null;
}

export function netInstrument(ports: NetPorts, asker: UseGate, life: ContextLifetime): NetInstrument {
  return sealMembers({
    fetch: (url: string, options?: FetchOptions) =>
      life.use("net.get", async () => {
        const read = readFetch(options);
        if (!read.ok) return read;
        const { verb, method, headers, body, sign } = read.value;
        const parsed = typeof url === "string" ? parseUrl(url, asker.reading.toAscii) : null;
        if (parsed === null) return invalid(verb, "the URL must be a string");
        if (!parsed.ok) return unreadable(verb, parsed);
        const added = sign === null ? [] : signatureHeaders(sign).map((name) => [name, ""] as const);
        const fault = requestFault(method, parsed.value, [...headers, ...added], body !== null);
        return fault === null ? fetchFrom(ports, asker, life, parsed.value, read.value) : invalid(verb, fault);
      }),
  });
}

/** INVARIANT: no secret is opened and nothing is sent before the first request and each of its secrets are decided. */
async function fetchFrom(
  { fetching, secrets }: NetPorts,
  asker: UseGate,
  life: ContextLifetime,
  url: Url,
  asked: FetchRequest,
): Promise<UseResult<FetchedResponse>> {
  const { verb, method, headers, body, bytesMax, isTruncating, millisecondsMax } = asked;
  const first = asker.ask({ verb, url: `${originOf(url)}/` });
  if (!first.ok) return first;
  const keys = asked.sign === null ? [] : signatureSecrets(asked.sign);
  const names = [...new Set([...secretsIn(url, headers, typeof body === "string" ? body : null), ...keys])];
  if (names.length > secretsPerFetchMax)
    return invalid("secret.use", `more than ${secretsPerFetchMax} secrets in one request`);
  const uses = new Map<string, Request>();
  for (const name of names) {
    const use = asker.ask({ verb: "secret.use", name, host: destinationText(url.host) });
    if (!use.ok) return use;
    uses.set(name, use.value.request);
  }
  if (fetching === null) return useDenial("not_available", verb, "network access is not available here");
  const opened = await openSecrets(secrets, uses, url, asker);
  if (!opened.ok) return opened;
  const hops = new Hops(asker, first.value);
  try {
    const answer = await fetching.fetch({
      ...{ method, url: urlText(url), headers, bytesMax, isTruncating, millisecondsMax },
      body: typeof body === "string" ? utf8Bytes(body) : body,
      redirectsMax: asked.redirect === "follow" ? fetchRequestsMax - 1 : 0,
      secrets: opened.value,
      sign: asked.sign,
      decide: (request) => hops.decide(request),
      signal: life.signal(),
    });
    if (!answer.ok) return useFailure(hops.refused?.verb ?? (answer.code === "not_available" ? verb : null), answer);
    const { status } = answer.value;
    if (asked.redirect === "error" && isRedirect(status))
      return useDenial("not_available", verb, "the response is a redirect");
    return useResult(responseOf(answer.value));
  } finally {
    for (const { value } of opened.value) value.fill(0);
  }
}

async function openSecrets(
  secrets: SecretsPort | null,
  uses: ReadonlyMap<string, Request>,
  url: Url,
  asker: UseGate,
): Promise<UseResult<readonly FetchSecret[]>> {
  if (uses.size === 0) return useResult([]);
  if (secrets === null) return useDenial("not_available", "secret.use", "secrets are not available here");
  const opened = await secrets.open([...uses.keys()], url);
  if (opened.ok) return useResult(opened.value);
  const denial = useFailure("secret.use", opened);
  const request = uses.get(opened.name);
  if (request !== undefined) asker.refused(request, denialCodeOf(denial));
  return denial;
}

/** Decides the requests of one fetch: each by its name, then each address of that name. */
class Hops {
  readonly #asker: UseGate;
  readonly #first: AllowedUse;
  #current: AllowedUse | null = null;
  /** The decision that ended the fetch, if one did. */
  refused: UseDenial | null = null;

  constructor(asker: UseGate, first: AllowedUse) {
    this.#asker = asker;
    this.#first = first;
  }

  decide(request: Request): DenialCode | null {
    const answer = isResolved(request)
      ? this.#asker.decideAddress(this.#current ?? this.#first, request)
      : this.#asker.decide(request, this.#current === null ? null : this.#first);
    if (!answer.ok) this.refused = answer;
    else this.#current = answer.value;
    return answer.ok ? null : denialCodeOf(answer);
  }
}

/** A name with the address it resolved to. */
function isResolved({ values }: Request): boolean {
  const [host] = values;
  return isDestination(host) && host.name !== null && host.address !== null;
}
