// The `web_fetch` tool in the daemon: the broker fetches, the session's holding decides every hop, and secrets are sent only
// where they are bound.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import { toAscii } from "../../platform/ascii.ts";
import type { FetchOptions, FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import { outgoing } from "../../sandbox/network/fetch/fetch-request.ts";
import { handlesIn } from "../../sandbox/network/fetch/handles.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import { contentOf } from "../../tools/web/content.ts";
import { WEB_FETCH, WEB_FETCH_DEFINITION } from "../../tools/web/definition.ts";
import { type WebCall, webCallReader, webRequests } from "../../tools/web/fetch-input.ts";
import { type HeldAuthority, HopJudge } from "../../tools/web/hops.ts";
import { fetchesOfSessionMax, headBytesMax, redirectsMax, responseBytesBeyond } from "../../tools/web/limits.ts";
import { webResultData } from "../../tools/web/result.ts";
import type { Daemon } from "../daemon.ts";
import type { OutputRedactor } from "../parts.ts";
import type { DaemonPrograms } from "../programs/programs.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";
import { type StoredSecretsOptions, storedSecrets, type WebSecrets, WebSecretUse } from "./web-secrets.ts";

export interface WebToolOptions {
  fetch(wish: FetchOptions): Promise<FetchResult>;
  /** The session's current holding; null if it no longer holds anything. */
  holds(session: Session): HeldAuthority | null;
  resolver(session: Session): ResolverChoice;
  readonly secrets: WebSecrets;
  /** Redacts known secrets; the same object if there are none in it. */
  redacted(value: JsonObject): JsonObject;
}

/** `name`: the tool that fetches; secrets are bound to it, and log entries name it. */
export function webTool(asked: WebToolOptions, name: string = WEB_FETCH): OwnerTool {
  const reader = webCallReader(toAscii, handlesIn);
  const uses = new WebSecretUse(asked.secrets, (session) => asked.holds(session), name);
  const running = new WeakMap<Session, number>();

  /** Cached per input object, which identifies the call. */
  const read = (input: JsonObject): Result<WebCall> => {
    const call = reader(input);
    if (!call.ok) return call;
    // Also parsed by the broker's own parser: what it would not send is refused before anything is decided or charged.
    const { method, address, headers, body } = call.value;
    const sent = outgoing(method, address, headers, body === null ? null : Buffer.from(body));
    return sent.ok ? call : refuse("bad_value", sent.message);
  };

  return {
    ...WEB_FETCH_DEFINITION,
    name,
    verbs: [],
    anyVerb: ["net.get", "net.post", "net.put", "net.delete"],
    requests: (input) => {
      const call = read(input);
      return call.ok ? webRequests(call.value, name) : call;
    },
    denied: (input, session) => {
      const call = read(input);
      if (call.ok) uses.probed(call.value, session);
    },
    execute: async ({ input, session, warrant }) => {
      const call = read(input);
      const first = warrant.requests.find(({ verb }) => verb.verb.startsWith("net."));
      if (!call.ok || first === undefined)
        return failed("invalid_input", "the arguments do not match the tool's input");
      const many = running.get(session) ?? 0;
      if (many >= fetchesOfSessionMax) return failed("not_available", "this session fetches too much at once");
      running.set(session, many + 1);
      try {
        return await carry(asked, uses, call.value, first, session, name);
      } finally {
        running.set(session, (running.get(session) ?? 1) - 1);
      }
    },
  };
}

async function carry(
  asked: WebToolOptions,
  uses: WebSecretUse,
  call: WebCall,
  first: Request,
  session: Session,
  name: string,
): Promise<ExecutionResult> {
  const { address, headers, body, method, milliseconds, bytesMax } = call;
  const sent: JsonObject = { address, headers: headers.map(([name, value]) => [name, value]), body };
  // A secret is sent only by its handle, to where it is bound.
  if (isChanged(sent, asked.redacted(sent)))
    return denied("secret_refused", "the value of a secret is to be sent; write {{secret:name}} in its place", null);
  const given = await uses.open(call, session);
  if (!given.ok) return denied("secret_refused", given.message, given.request);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  const hops = new HopJudge(first, () => asked.holds(session));
  session.running.add(stop);
  try {
    if (session.isClosed) return failed("not_available", "the session is closed");
    const fetched = await asked.fetch({
      method,
      url: address,
      headers: [...headers],
      body: body === null ? null : Buffer.from(body),
      limits: {
        headerBytes: headBytesMax,
        bodyBytes: bytesMax + responseBytesBeyond,
        milliseconds,
        redirects: redirectsMax,
      },
      resolver: asked.resolver(session),
      judge: (request) => hops.decide(request),
      secrets: given.secrets,
      stop: stopping.signal,
    });
    // From the second hop on even a refusal carries data from a server.
    if (fetched.ok || hops.hops > 1) session.taint(`${name} of ${address.slice(0, 200)}`);
    return fetched.ok ? await answered(call, fetched) : refused(fetched.code, fetched.message, hops);
  } finally {
    session.running.delete(stop);
    for (const { value } of given.secrets) value.fill(0);
  }
}

/** Codes for external failures, not for missing grants. */
const FAILURES: ReadonlySet<DenialCode> = new Set(["not_available", "invalid_input"]);

function refused(code: DenialCode, message: string, { refused: last, hops }: HopJudge): ExecutionResult {
  // Nothing was decided: the broker is at its limit.
  if (hops === 0 && code === "budget_exhausted") return failed("not_available", message);
  return FAILURES.has(code) && last === null ? failed(code, message) : denied(code, message, last?.request ?? null);
}

function denied(code: DenialCode, message: string, request: Request | null): ExecutionResult {
  return { ok: false, code, message, denied: { code, request } };
}

function isChanged(before: JsonObject, after: JsonObject): boolean {
  return before !== after && JSON.stringify(before) !== JSON.stringify(after);
}

async function answered(call: WebCall, fetched: FetchResult & { readonly ok: true }): Promise<ExecutionResult> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of fetched.body) {
    pieces.push(piece);
    length += piece.length;
    if (length > call.bytesMax) break;
  }
  const more = length > call.bytesMax;
  const end = more ? null : await fetched.end;
  // What did not end well is not whole, and is not shown as if it were.
  if (end !== null && !end.ok) return failed(end.code, end.message);
  const bytes = Buffer.concat(pieces).subarray(0, call.bytesMax);
  const { status, url, hops, headers } = fetched;
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? null;
  const content = contentOf(type, bytes, more);
  if (!content.ok) {
    const size = more ? `more than ${call.bytesMax}` : String(bytes.length);
    return failed("not_available", `the answer is not text: ${content.type ?? "of no known type"}, ${size} bytes`);
  }
  const isPending = call.format !== "raw" && content.kind !== "text" && content.text !== "";
  return {
    ok: true,
    isUntrusted: true,
    met: { ended: "done", denials: [], enforcement: BROKERED, wallMicroseconds: 0 },
    value: webResultData({
      status,
      url,
      // The last one is where it ended.
      hops: Math.max(0, hops.length - 1),
      contentType: content.type,
      text: content.text,
      more,
      bytes: bytes.length,
      ...(isPending ? { pending: { kind: content.kind, format: call.format } } : {}),
    }),
  };
}

/** The broker resolves, screens and connects; no other process of the call has a network. */
const BROKERED = ["host", "port"].map((axis) => ({ axis, strength: "broker" }));

function failed(code: DenialCode, message: string): ExecutionResult {
  return { ok: false, code, message };
}

interface DaemonWebAsked extends StoredSecretsOptions {
  readonly programs: Pick<DaemonPrograms, "fetch">;
  readonly redacting: OutputRedactor;
  held(session: Session): ReturnType<Daemon["held"]>;
  /** The DNS servers of the user's configuration; those of the machine where it is empty. */
  resolvers(session: Session): readonly string[];
}

/** The tool over the daemon's broker, secrets and log. `name`: as in `webTool`. */
export function daemonWeb(asked: DaemonWebAsked, name: string = WEB_FETCH): OwnerTool {
  const parts: WebToolOptions = {
    fetch: (wish) => asked.programs.fetch(wish),
    holds: (session) => {
      const held = asked.held(session);
      return held === null ? null : { authority: held.holding.authority, moment: held.moment };
    },
    resolver: (session) => {
      const servers = asked.resolvers(session);
      return servers.length === 0 ? null : { servers };
    },
    redacted: (value) => asked.redacting.json(value),
    secrets: storedSecrets(asked, name),
  };
  return webTool(parts, name);
}
