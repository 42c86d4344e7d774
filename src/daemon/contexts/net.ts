// The network of a context: the broker resolves names, connects only to allowed addresses, follows redirects and sends secrets
// only where they are bound.
import { headerBytesMax } from "../../core/authority/axes/http-request.ts";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import { linkedController, onAbort } from "../../core/base/abort.ts";
import type { HttpFetch, HttpPort, HttpResponse, PortFailure, PortResult } from "../../core/ports/instruments.ts";
import type { FetchOptions, FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import { requestBodyBytesMax } from "../../sandbox/network/fetch/fetch-limits.ts";
import { METHODS } from "../../sandbox/network/fetch/fetch-messages.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import type { OutputRedactor } from "../parts.ts";
import type { Session } from "../session.ts";

export interface ContextNetOptions {
  readonly session: Session;
  /** Of the session. */
  readonly fetches: FetchQueue;
  readonly tool: string;
  fetch(wish: FetchOptions): Promise<FetchResult>;
  resolver(): ResolverChoice;
  /** What enforced an axis of a request. */
  enforced(axis: "host" | "port", strength: "broker"): void;
  readonly redacting: Pick<OutputRedactor, "json">;
  /** Redacts known secrets. */
  redacted(bytes: Uint8Array): Uint8Array;
}

const fetchesOfSessionMax = 8;
const fetchesWaitingMax = 256;

/** The fetches of a session: a few run at once, the others wait until their call or their time ends. */
export class FetchQueue {
  #running = 0;
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>();

  /** False where its turn does not come. INVARIANT: every turn is ended. */
  async turn(signal: AbortSignal, milliseconds: number): Promise<boolean> {
    if (this.#running < fetchesOfSessionMax) {
      this.#running++;
      return true;
    }
    if (this.#waiting.size >= fetchesWaitingMax || signal.aborted) return false;
    return await new Promise<boolean>((resolve) => {
      const settle = (isGiven: boolean): void => {
        clearTimeout(timer);
        release();
        this.#waiting.delete(give);
        resolve(isGiven);
      };
      const give = (): void => settle(true);
      const timer = setTimeout(() => settle(false), milliseconds);
      const release = onAbort(signal, () => settle(false));
      this.#waiting.add(give);
    });
  }

  end(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running--;
    else next();
  }
}

/** How far the broker may read before it refuses: one chunk more than is used. */
const responseBytesBeyond = 262_144;

export function contextNet(asked: ContextNetOptions): HttpPort {
  const { fetches } = asked;
  return {
    fetch: async (wish) => {
      if (!(await fetches.turn(wish.signal, wish.millisecondsMax)))
        return failure("not_available", "this session has too many fetches at once");
      try {
        return await fetchWith(asked, wish);
      } finally {
        fetches.end();
      }
    },
  };
}

async function fetchWith(asked: ContextNetOptions, wish: HttpFetch): Promise<PortResult<HttpResponse>> {
  const { session, tool, redacting } = asked;
  const { url, headers, body, bytesMax, isTruncating } = wish;
  const method = METHODS.find((one) => one === wish.method);
  if (method === undefined) return failure("invalid_input", "no such method");
  if (body !== null && body.length > requestBodyBytesMax)
    return failure("invalid_input", `a body has at most ${requestBodyBytesMax} bytes`);
  // A secret is sent only by its handle, to where it is bound.
  const sent = { url, headers: headers.map((line) => [...line]), body: body === null ? null : textOf(body) };
  if (JSON.stringify(sent) !== JSON.stringify(redacting.json(sent)))
    return failure("secret_refused", "the request contains the value of a secret; write {{secret:name}} instead");
  const { controller, release } = linkedController(wish.signal);
  session.running.add(controller);
  let isDecided = false;
  try {
    if (session.isClosed) return failure("not_available", "the session is closed");
    const fetched = await asked.fetch({
      ...{ method, url, headers, body },
      limits: {
        headerBytes: headerBytesMax,
        bodyBytes: bytesMax + (isTruncating ? responseBytesBeyond : 0),
        milliseconds: wish.millisecondsMax,
        redirects: wish.redirectsMax,
      },
      resolver: asked.resolver(),
      judge: (request) => {
        isDecided = true;
        return decisionOf(wish.decide(request));
      },
      secrets: wish.secrets,
      sign: wish.sign,
      stop: controller.signal,
    });
    for (const axis of ["host", "port"] as const) asked.enforced(axis, "broker");
    // Even a server's refusal carries data from it.
    session.taint(`${tool} of ${url.slice(0, 200)}`);
    // Nothing was decided: the broker is at its limit.
    if (!fetched.ok && !isDecided && fetched.code === "budget_exhausted")
      return failure("not_available", fetched.message);
    return fetched.ok ? await responseOf(asked, wish, fetched) : fetched;
  } finally {
    release();
    session.running.delete(controller);
  }
}

async function responseOf(
  { redacted }: ContextNetOptions,
  { bytesMax }: HttpFetch,
  fetched: FetchResult & { readonly ok: true },
): Promise<PortResult<HttpResponse>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of fetched.body) {
    pieces.push(piece);
    length += piece.length;
    if (length > bytesMax) break;
  }
  const isTruncated = length > bytesMax;
  const end = isTruncated ? null : await fetched.end;
  // An incomplete body is not returned as if it were complete.
  if (end !== null && !end.ok) return failure(end.code, end.message);
  const { status, url, hops } = fetched;
  const clean = (text: string): string => Buffer.from(redacted(Buffer.from(text, "latin1"))).toString("latin1");
  return {
    ok: true,
    value: {
      ...{ status, url, isTruncated },
      // The last one is where it ended.
      redirects: Math.max(0, hops.length - 1),
      headers: fetched.headers.map(([name, value]) => [name, clean(value)]),
      body: new Uint8Array(redacted(Buffer.concat(pieces).subarray(0, bytesMax))),
    },
  };
}

function decisionOf(code: DenialCode | null): Decision {
  if (code === null) return { outcome: "allow", by: { chain: 0, grants: [] } };
  if (code === "approval_required") return { outcome: "ask", by: { chain: 0, grants: [] }, level: 1 };
  return { outcome: "deny", code, at: null };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function failure(code: DenialCode, message: string): PortFailure {
  return { ok: false, code, message };
}
