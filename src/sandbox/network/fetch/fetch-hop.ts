// One hop of a fetch: decided by name, resolved, screened, decided by address, dialled at that address only.

import http from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import tls from "node:tls";
import { destinationText } from "../../../core/authority/axes/destination.ts";
import type { HeaderLine } from "../../../core/authority/axes/http-request.ts";
import type { Url } from "../../../core/authority/axes/url.ts";
import type { DenialCode } from "../../../core/authority/decision.ts";
import { type Address, addressText, parseAddress } from "../../../core/base/address.ts";
import { errorCode } from "../../../core/base/error-code.ts";
import type { CodedFailure } from "../../../core/base/result.ts";
import type { Resolver } from "../../../core/ports/resolver.ts";
import { dial } from "../dial.ts";
import { addressesMax, informationMax } from "./fetch-limits.ts";
import type { Method } from "./fetch-messages.ts";
import { originText } from "./fetch-request.ts";

/** The request as it is sent, with secret values in place of handles. */
export interface HopRequest {
  readonly method: Method;
  readonly url: Url;
  /** Path and query. */
  readonly path: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Buffer | null;
}

/** A stream is sent as it comes, with the framing that the headers say. */
type SentRequest = Omit<HopRequest, "body"> & { readonly body: Buffer | Readable | null };

export interface HopContext {
  readonly resolve: Resolver;
  readonly stop: AbortSignal;
  readonly headerBytes: number;
  readonly authorities: string | null;
  /** The daemon's decision: null to allow. */
  ask(
    method: Method,
    url: Pick<Url, "scheme" | "host" | "port">,
    addresses: readonly string[] | null,
  ): Promise<DenialCode | null>;
}

export type HopResult = { readonly ok: true; readonly response: http.IncomingMessage } | CodedFailure<DenialCode>;

/** Decides first, so that the request is not built before it may be sent. */
export async function reach(
  { url, method }: Pick<HopRequest, "url" | "method">,
  context: HopContext,
): Promise<ConnectResult> {
  const refused = (code: DenialCode, what: string): ConnectResult => ({
    ok: false,
    code,
    message: `${what}: ${originText(url)}`,
  });
  const first = await context.ask(method, url, null);
  if (first !== null) return refused(first, "this request is not allowed");
  const pinned = await pinnedOf(url, context);
  if (pinned === "unresolved") return refused("not_available", "the name could not be resolved");
  if (pinned === "odd") return refused("address_refused", "the name resolves to addresses that cannot be used");
  if (url.host.name !== null) {
    // INVARIANT: every resolved address is decided on, and one denied address denies the name.
    const second = await context.ask(method, url, pinned.map(addressText));
    if (second !== null) return refused(second, "the address that the name resolves to is not allowed");
  }
  for (const address of pinned) {
    const socket = await dial(address, url.port, context.stop);
    if (socket === null && !context.stop.aborted) continue;
    if (socket === null) break;
    if (url.scheme === "http") return { ok: true, socket };
    const secured = await secure(socket, url, context);
    if (secured.ok || context.stop.aborted) return secured;
    return refused("not_available", secured.message);
  }
  return refused("not_available", "the server does not respond");
}

export type ConnectResult = { readonly ok: true; readonly socket: Socket } | CodedFailure<DenialCode>;

/** `unresolved`: no answer, and no rule involved. `odd`: an answer that is refused as a whole. */
async function pinnedOf({ host }: Url, { resolve }: HopContext): Promise<readonly Address[] | "unresolved" | "odd"> {
  if (host.name === null) return [host.address];
  const answers = await resolve(destinationText(host)).catch(() => null);
  if (answers === null || answers.length === 0) return "unresolved";
  if (answers.length > addressesMax) return "odd";
  const addresses = answers.map(parseAddress);
  return addresses.every((one) => one !== null) ? addresses : "odd";
}

/** The certificate must match the name that was decided on. */
function secure(socket: Socket, { host }: Url, { authorities, stop }: HopContext): Promise<ConnectResult> {
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
    const aborted = (): void => failed("the request was cancelled");
    stop.addEventListener("abort", aborted, { once: true });
    secured.on("error", (error) => failed(`no secure connection (${errorCode(error)})`));
    secured.once("close", () => failed("no secure connection (closed)"));
    secured.once("secureConnect", () => {
      stop.removeEventListener("abort", aborted);
      if (secured.authorized) give({ ok: true, socket: secured });
      else failed("no secure connection (not authorized)");
    });
  });
}

/** The connection serves this one exchange: it closes with the response. */
export function exchange(socket: Socket, sent: SentRequest, context: HopContext): Promise<HopResult> {
  return new Promise((give) => {
    const failed = (code: DenialCode, message: string): void => {
      stop.removeEventListener("abort", aborted);
      request.destroy();
      socket.destroy();
      give({ ok: false, code, message });
    };
    const { stop } = context;
    const host = originText(sent.url).replace(/^https?:\/\//, "");
    const request = http.request({
      // INVARIANT: no agent is passed. With one, even with `false`, Node would dial by itself and leave our socket
      // unused.
      createConnection: () => socket,
      method: sent.method,
      path: sent.path,
      headers: ["Host", host, ...sent.headers.flat(), ...framing(sent), "Connection", "close"],
      setHost: false,
      maxHeaderSize: context.headerBytes,
      insecureHTTPParser: false,
    });
    // A head that exceeds the byte limit is an error; nothing is truncated silently.
    request.maxHeadersCount = 0;
    const aborted = (): void => failed("not_available", "the request was cancelled");
    if (stop.aborted) return aborted();
    stop.addEventListener("abort", aborted, { once: true });
    let told = 0;
    request.on("information", () => {
      if (++told > informationMax) failed("not_available", "the server sent too many interim responses");
    });
    // It was paused when it was dialled, and has a listener from here on.
    request.once("socket", () => socket.resume());
    request.on("upgrade", () => failed("not_available", "the server requested a protocol upgrade"));
    request.on("error", (error) => {
      if (errorCode(error) === "HPE_HEADER_OVERFLOW")
        failed("budget_exhausted", `the headers have more than ${context.headerBytes} bytes`);
      else failed("not_available", `the request failed (${errorCode(error)})`);
    });
    request.once("close", () => failed("not_available", "the connection was closed before a response arrived"));
    request.once("response", (response) => {
      stop.removeEventListener("abort", aborted);
      // From here on the body's reader handles errors.
      request.removeAllListeners("close");
      give({ ok: true, response });
    });
    if (!(sent.body instanceof Readable)) return void request.end(sent.body ?? undefined);
    sent.body.once("error", () => failed("not_available", "the request broke off"));
    sent.body.pipe(request);
  });
}

function framing({ method, body }: SentRequest): readonly string[] {
  if (body instanceof Readable) return [];
  if (body !== null) return ["Content-Length", `${body.length}`];
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? [] : ["Content-Length", "0"];
}
