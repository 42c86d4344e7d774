// One hop of a fetch: asked for by name, looked up, screened, asked for by where it leads, dialled there and nowhere else.
import http from "node:http";
import type { Socket } from "node:net";
import tls from "node:tls";
import { destinationText } from "../../../core/authority/axes/destination.ts";
import type { Url } from "../../../core/authority/axes/url.ts";
import type { DenialCode } from "../../../core/authority/decision.ts";
import { type Address, addressText, parseAddress } from "../../../core/base/address.ts";
import type { Resolver } from "../../../core/ports/resolver.ts";
import { dial } from "../dial.ts";
import { addressesMax, informationMax } from "./fetch-limits.ts";
import type { HeaderLine, Method } from "./fetch-messages.ts";
import { originText } from "./fetch-request.ts";

/** As it goes out, with values in the places of handles. */
export interface Sent {
  readonly method: Method;
  readonly url: Url;
  /** Path and query. */
  readonly path: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Buffer | null;
}

export interface HopWorld {
  readonly resolve: Resolver;
  readonly stop: AbortSignal;
  readonly headerBytes: number;
  readonly authorities: string | null;
  /** The owner's word: null for yes. */
  ask(
    method: Method,
    url: Pick<Url, "scheme" | "host" | "port">,
    addresses: readonly string[] | null,
  ): Promise<DenialCode | null>;
}

export type HopResult =
  | { readonly ok: true; readonly response: http.IncomingMessage }
  | { readonly ok: false; readonly code: DenialCode; readonly message: string };

/** Decides first, so that nothing of what is sent exists before it may go. */
export async function reach({ url, method }: Pick<Sent, "url" | "method">, world: HopWorld): Promise<Reached> {
  const refused = (code: DenialCode, what: string): Reached => ({
    ok: false,
    code,
    message: `${what}: ${originText(url)}`,
  });
  const first = await world.ask(method, url, null);
  if (first !== null) return refused(first, "this may not be asked for");
  const pinned = await pinnedOf(url, world);
  if (pinned === "unresolved") return refused("not_available", "the name could not be resolved");
  if (pinned === "odd") return refused("address_refused", "the name leads nowhere that is understood");
  if (url.host.name !== null) {
    // INVARIANT: every address of the answer is decided on, and one that is refused refuses the name.
    const second = await world.ask(method, url, pinned.map(addressText));
    if (second !== null) return refused(second, "where this leads may not be reached");
  }
  for (const address of pinned) {
    const socket = await dial(address, url.port, world.stop);
    if (socket === null && !world.stop.aborted) continue;
    if (socket === null) break;
    if (url.scheme === "http") return { ok: true, socket };
    const secured = await secure(socket, url, world);
    if (secured.ok || world.stop.aborted) return secured;
    return refused("not_available", secured.message);
  }
  return refused("not_available", "nobody answers");
}

export type Reached =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly code: DenialCode; readonly message: string };

/** `unresolved`: there is no answer, and no rule stands behind that. `odd`: there is one, and it is refused whole. */
async function pinnedOf({ host }: Url, { resolve }: HopWorld): Promise<readonly Address[] | "unresolved" | "odd"> {
  if (host.name === null) return [host.address];
  const answers = await resolve(destinationText(host)).catch(() => null);
  if (answers === null || answers.length === 0) return "unresolved";
  if (answers.length > addressesMax) return "odd";
  const addresses = answers.map(parseAddress);
  return addresses.every((one) => one !== null) ? addresses : "odd";
}

/** The name that was decided on is the name the certificate must have. */
function secure(socket: Socket, { host }: Url, { authorities, stop }: HopWorld): Promise<Reached> {
  return new Promise((give) => {
    const name = host.name === null ? addressText(host.address) : destinationText(host);
    const secured = tls.connect({
      socket,
      host: name,
      ...(host.name === null ? {} : { servername: name }),
      ...(authorities === null ? {} : { ca: authorities }),
      ALPNProtocols: ["http/1.1"],
      minVersion: "TLSv1.2",
      rejectUnauthorized: true,
    });
    const failed = (message: string): void => {
      stop.removeEventListener("abort", aborted);
      secured.destroy();
      socket.destroy();
      give({ ok: false, code: "not_available", message });
    };
    const aborted = (): void => failed("it was stopped");
    stop.addEventListener("abort", aborted, { once: true });
    secured.on("error", (error) => failed(`no secure connection (${codeOf(error)})`));
    secured.once("close", () => failed("no secure connection (closed)"));
    secured.once("secureConnect", () => {
      stop.removeEventListener("abort", aborted);
      if (secured.authorized) give({ ok: true, socket: secured });
      else failed("no secure connection (not authorized)");
    });
  });
}

/** The connection is for this one exchange: it ends with the response. */
export function exchange(socket: Socket, sent: Sent, world: HopWorld): Promise<HopResult> {
  return new Promise((give) => {
    const failed = (code: DenialCode, message: string): void => {
      stop.removeEventListener("abort", aborted);
      request.destroy();
      socket.destroy();
      give({ ok: false, code, message });
    };
    const { stop } = world;
    const host = originText(sent.url).replace(/^https?:\/\//, "");
    const request = http.request({
      // INVARIANT: no agent is named. With one, even with `false`, Node would dial on its own and leave ours unused.
      createConnection: () => socket,
      method: sent.method,
      path: sent.path,
      headers: ["Host", host, ...sent.headers.flat(), ...framing(sent), "Connection", "close"],
      setHost: false,
      maxHeaderSize: world.headerBytes,
      insecureHTTPParser: false,
    });
    // Whatever does not fit in the bytes allowed is an error; nothing is left out in silence.
    request.maxHeadersCount = 0;
    const aborted = (): void => failed("not_available", "it was stopped");
    if (stop.aborted) return aborted();
    stop.addEventListener("abort", aborted, { once: true });
    let told = 0;
    request.on("information", () => {
      if (++told > informationMax) failed("not_available", "the server says too much before it answers");
    });
    // It was paused when it was dialled, and from here on somebody listens.
    request.once("socket", () => socket.resume());
    request.on("upgrade", () => failed("not_available", "the server wants to speak something else"));
    request.on("error", (error) => {
      if (codeOf(error) === "HPE_HEADER_OVERFLOW")
        failed("budget_exhausted", `the headers have more than ${world.headerBytes} bytes`);
      else failed("not_available", `the exchange failed (${codeOf(error)})`);
    });
    request.once("close", () => failed("not_available", "the exchange ended before there was an answer"));
    request.once("response", (response) => {
      stop.removeEventListener("abort", aborted);
      // From here on the body's reader hears of errors.
      request.removeAllListeners("close");
      give({ ok: true, response });
    });
    request.end(sent.body ?? undefined);
  });
}

function framing({ method, body }: Sent): readonly string[] {
  if (body !== null) return ["Content-Length", `${body.length}`];
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? [] : ["Content-Length", "0"];
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
