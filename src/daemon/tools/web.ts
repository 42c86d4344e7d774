// web_fetch as the daemon carries it out: the broker fetches, what the session holds decides every hop, and secrets go along
// only where they are bound.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import { toAscii } from "../../platform/ascii.ts";
import type { Fetched, FetchWish } from "../../sandbox/network/fetch/fetch-client.ts";
import { outgoing } from "../../sandbox/network/fetch/fetch-request.ts";
import { handlesIn } from "../../sandbox/network/fetch/handles.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import { WEB_FETCH, WEB_FETCH_DEFINITION } from "../../tools/web/definition.ts";
import { type WebCall, webCallReader, webRequests } from "../../tools/web/fetch-input.ts";
import { type Held, HopJudge } from "../../tools/web/hops.ts";
import { fetchesOfSessionMax, headBytesMax, redirectsMax, responseBytesBeyond } from "../../tools/web/limits.ts";
import type { Session } from "../session.ts";
import type { Carried, OwnerTool } from "./owner-tool.ts";
import { answered, failed } from "./web-answer.ts";
import { type WebSecrets, WebSecretUse } from "./web-secrets.ts";

export interface WebAsked {
  fetch(wish: FetchWish): Promise<Fetched>;
  /** What a session holds at this moment; null where it holds nothing any more. */
  holds(session: Session): Held | null;
  resolver(session: Session): ResolverChoice;
  readonly secrets: WebSecrets;
  /** The same without the secrets that are known here; the very same where there are none in it. */
  redacted(value: JsonObject): JsonObject;
}

/** `name`: the tool that fetches; secrets are bound to it, and what is written down names it. */
export function webTool(asked: WebAsked, name: string = WEB_FETCH): OwnerTool {
  const reader = webCallReader(toAscii, handlesIn);
  const uses = new WebSecretUse(asked.secrets, (session) => asked.holds(session), name);
  const running = new WeakMap<Session, number>();

  /** The same input is the same call, whenever it is read. */
  const read = (input: JsonObject): Result<WebCall> => {
    const call = reader(input);
    if (!call.ok) return call;
    // By the broker's own reader, too: what it would not send is refused before anything is decided or paid.
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
    carry: async ({ input, session, warrant }) => {
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
  asked: WebAsked,
  uses: WebSecretUse,
  call: WebCall,
  first: Request,
  session: Session,
  name: string,
): Promise<Carried> {
  const { address, headers, body, method, milliseconds, bytesMax } = call;
  const sent: JsonObject = { address, headers: headers.map(([name, value]) => [name, value]), body };
  // A secret leaves by its handle, to where it is bound, or not at all.
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
    // From the second hop on even a refusal tells of what a server said.
    if (fetched.ok || hops.hops > 1) session.taint(`${name} of ${address.slice(0, 200)}`);
    return fetched.ok ? await answered(call, fetched) : refused(fetched.code, fetched.message, hops);
  } finally {
    session.running.delete(stop);
    for (const { value } of given.secrets) value.fill(0);
  }
}

/** Codes that say what is the matter with the world, and not with what is held. */
const FAILURES: ReadonlySet<DenialCode> = new Set(["not_available", "invalid_input"]);

function refused(code: DenialCode, message: string, { refused: last, hops }: HopJudge): Carried {
  // Nothing was ever decided: the broker has no room for it.
  if (hops === 0 && code === "budget_exhausted") return failed("not_available", message);
  return FAILURES.has(code) && last === null ? failed(code, message) : denied(code, message, last?.request ?? null);
}

function denied(code: DenialCode, message: string, request: Request | null): Carried {
  return { ok: false, code, message, denied: { code, request } };
}

function isChanged(before: JsonObject, after: JsonObject): boolean {
  return before !== after && JSON.stringify(before) !== JSON.stringify(after);
}
