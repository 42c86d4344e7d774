// The network of a context: one exchange at a time by the broker, which resolves the name, asks about every address, and
// connects only to allowed ones.

import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { type Address, addressText } from "../../core/base/address.ts";
import type { HttpExchange, HttpPort, HttpResponse, PortFailure, PortResult } from "../../core/ports/instruments.ts";
import type { FetchOptions, FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import { fetchHeaderBytesMax, requestBodyBytesMax } from "../../sandbox/network/fetch/fetch-limits.ts";
import { METHODS } from "../../sandbox/network/fetch/fetch-messages.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import type { Session } from "../session.ts";

export interface ContextNetOptions {
  readonly session: Session;
  fetch(wish: FetchOptions): Promise<FetchResult>;
  resolver(): ResolverChoice;
  /** What enforced an axis of the exchange. */
  enforced(axis: "host" | "port", strength: "broker"): void;
  /** Redacts known secrets. */
  redacted(bytes: Uint8Array): Uint8Array;
}

const exchangesOfSessionMax = 16;
const running = new WeakMap<Session, number>();

export function netFetching(asked: ContextNetOptions): HttpPort {
  const { session } = asked;
  return {
    resolve: null,
    exchange: async (wish) => {
      const many = running.get(session) ?? 0;
      if (many >= exchangesOfSessionMax) return failure("this session fetches too much at once");
      running.set(session, many + 1);
      try {
        return await exchange(asked, wish);
      } finally {
        running.set(session, (running.get(session) ?? 1) - 1);
      }
    },
  };
}

async function exchange(asked: ContextNetOptions, wish: HttpExchange): Promise<PortResult<HttpResponse>> {
  const { session } = asked;
  const { scheme, host, port, target, headers, body, bytesMax, millisecondsMax } = wish;
  const method = METHODS.find((one) => one === wish.method);
  if (method === undefined) return { ok: false, code: "invalid_input", message: "no such method" };
  if (body !== null && body.length > requestBodyBytesMax)
    return { ok: false, code: "invalid_input", message: `a body has at most ${requestBodyBytesMax} bytes` };
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  const unheard = wish.stop.onStop(stop);
  session.running.add(stop);
  try {
    if (session.isClosed) return failure("the session is closed");
    const fetched = await asked.fetch({
      method,
      url: `${scheme}://${host}:${port}${target}`,
      headers,
      body,
      // Redirects are returned as they are; the caller decides on them before following.
      limits: { headerBytes: fetchHeaderBytesMax, bodyBytes: bytesMax, milliseconds: millisecondsMax, redirects: 0 },
      resolver: asked.resolver(),
      judge: (request) => decide(wish, request),
      secrets: [],
      stop: stopping.signal,
    });
    for (const axis of ["host", "port"] as const) asked.enforced(axis, "broker");
    // Even a server's refusal carries data from it.
    session.taint(`a tool's fetch of ${`${scheme}://${host}`.slice(0, 200)}`);
    if (!fetched.ok) return fetched;
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of fetched.body) {
      length += piece.length;
      if (length > bytesMax) return { ok: false, code: "budget_exhausted", message: `more than ${bytesMax} bytes` };
      pieces.push(piece);
    }
    const end = await fetched.end;
    if (!end.ok) return end;
    const clean = (text: string): string => Buffer.from(asked.redacted(Buffer.from(text, "latin1"))).toString("latin1");
    const whole = asked.redacted(Buffer.concat(pieces));
    return {
      ok: true,
      value: {
        status: fetched.status,
        headers: fetched.headers.map(([name, value]) => [name, clean(value)]),
        body: new Uint8Array(whole),
      },
    };
  } finally {
    unheard();
    session.running.delete(stop);
  }
}

/** The caller has just decided on the name; its resolved addresses are checked here. */
function decide(wish: HttpExchange, { values }: Request): Decision {
  const [to, port] = values;
  if (!isDestination(to) || port !== wish.port) return DENIED;
  if (to.address === null) return ALLOWED;
  const isPinned = (one: Address): boolean => addressText(one) === addressText(to.address as Address);
  if (wish.addresses !== null && !wish.addresses.some(isPinned)) return DENIED;
  const code = wish.screen(to.address);
  if (code === "approval_required") return { outcome: "ask", by: ALLOWED.by, level: 1 };
  return code === null ? ALLOWED : { outcome: "deny", code, at: null };
}

const ALLOWED = { outcome: "allow", by: { chain: 0, grants: [] } } as const;
const DENIED: Decision = { outcome: "deny", code: "address_refused", at: null };

function failure(message: string): PortFailure {
  return { ok: false, code: "not_available", message };
}
