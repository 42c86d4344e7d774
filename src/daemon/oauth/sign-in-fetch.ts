// Requests of a sign-in, through the broker: to the server's own host and to hosts that a person allowed for it, inside the user's
// ceiling, over TLS or to a loopback address, without redirects, within limits.
import type { HeaderLine } from "../../core/authority/axes/http-request.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import { toAscii } from "../../sandbox/network/names/ascii.ts";
import type { CatalogServer } from "../servers/server-catalog.ts";
import { hostText, type ServerRunOptions, serverJudge } from "../servers/server-run.ts";
import type { FetchLike } from "./sign-in-flow.ts";
import type { FetchRefusal } from "./sign-ins.ts";

type SignInFetchOptions = Pick<ServerRunOptions, "fetch" | "resolver" | "ceiling" | "isFrozen" | "now">;

const answerBytesMax = 262_144;
const headerBytes = 32_768;
const fetchMilliseconds = 15_000;
/** Of one step: discovery asks at several places. */
const requestsMax = 16;
/** A response with one of these has no body. */
const BODILESS: readonly number[] = [204, 205, 304];

export function signInFetch(
  options: SignInFetchOptions,
  one: CatalogServer,
  hosts: readonly string[],
  refused: (why: FetchRefusal) => void,
): FetchLike {
  const { server, reading } = one;
  let count = 0;
  const fail = (why: FetchRefusal): never => {
    refused(why);
    // The protocol's library passes on errors of this kind alone.
    throw new TypeError("the request was not sent");
  };
  return async (address, init = {}) => {
    const url = parseUrl(String(address), toAscii);
    if (!url.ok) return fail({ message: "it has a URL that cannot be parsed" });
    if (++count > requestsMax) return fail({ message: "it uses too many URLs" });
    const { scheme, host, port } = url.value;
    if (scheme === "http" && !(host.name === null && LOOPBACK.test(String(address))))
      return fail({ message: `${hostText(url.value)} is contacted without TLS` });
    const wanted = `${hostName(hostText(url.value))}:${port}`;
    const own = server.endpoint.kind === "http" ? server.endpoint.url : null;
    const isOwn = own !== null && `${hostName(hostText(own))}:${own.port}` === wanted;
    if (!isOwn && !hosts.includes(wanted)) return fail({ host: wanted });
    const spec = `net.connect{hosts=[${JSON.stringify(hostName(hostText(url.value)).replace(/^\[|\]$/g, ""))}],ports=[${port}]}`;
    const grants = parseSpecs([spec], reading, null);
    if (grants === null) return fail({ message: "it has a host that cannot be parsed" });
    const { method = "GET", headers, body } = init;
    const fetched = await options.fetch({
      method: method === "POST" || method === "DELETE" ? method : "GET",
      url: String(address),
      headers: [...new Headers(headers).entries()].map(([name, value]): HeaderLine => [name, value]),
      body: body == null ? null : Buffer.from(String(body)),
      limits: { headerBytes, bodyBytes: answerBytesMax, milliseconds: fetchMilliseconds, redirects: 0 },
      ...{ sign: null, stop: init.signal ?? null, resolver: options.resolver(), secrets: [] },
      judge: serverJudge({ ...server, requires: [...server.requires, ...grants] }, options, () => undefined),
    });
    if (!fetched.ok) return fail({ message: `${wanted}: ${fetched.message}` });
    const pieces: Uint8Array[] = [];
    for await (const piece of fetched.body) pieces.push(piece);
    const end = await fetched.end;
    if (!end.ok) return fail({ message: `${wanted}: ${end.message}` });
    const { status } = fetched;
    // A redirect could lead anywhere; the library would follow one within its origin.
    if (status >= 300 && status < 400)
      return fail({ message: `${wanted} responds with a redirect, which is not followed` });
    const lines = fetched.headers
      .filter(([name]) => !CODINGS.has(name))
      .map(([name, value]): [string, string] => [name, value]);
    return new Response(BODILESS.includes(status) ? null : Buffer.concat(pieces), { status, headers: lines });
  };
}

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?:[:/?]|$)/i;
/** Headers about the transfer: the body is already decoded. */
const CODINGS: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);

/** Without its port. */
function hostName(text: string): string {
  return text.replace(/:\d+$/, (end) => (text.startsWith("[") && text.endsWith("]") ? end : ""));
}
