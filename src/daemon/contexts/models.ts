// The power of lm_complete: one request to a model for a decided call. It is checked by the list of the model relay, goes out
// through the broker with the credential that the user bound to the provider, and is charged by the usage of its answer.
import { createHash } from "node:crypto";
import { destinationText } from "../../core/authority/axes/destination.ts";
import { handlesIn } from "../../core/authority/axes/http-request.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Url } from "../../core/authority/axes/url.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { WrittenModel } from "../../core/notation/config/model-setting.ts";
import { type UseDenial, type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { FetchFailure, FetchOptions, FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import { connectRequest, NetworkGrants, readChains } from "../../sandbox/network/network-grants.ts";
import { withOutputLimit } from "../../sandbox/network/relay/relay-estimate.ts";
import { conversationEnd, type ModelCall, modelCall } from "../../sandbox/network/relay/relay-request.ts";
import { UsageCounter } from "../../sandbox/network/relay/relay-usage.ts";
import { type ModelUsage, NO_USAGE } from "../../sandbox/plan/sandboxes.ts";
import type { ModelPowers, ModelResponse } from "../../tools/model/complete-tool.ts";
import { type Completion, completionIn, providerRequest } from "../../tools/model/completion.ts";
import type { Reservation } from "../calls/reservation.ts";
import { priceFor, type RequestCost, requestCost } from "../programs/model-cost.ts";
import { CREDENTIAL_REFUSED, modelEndpoint, type SecretForUrl } from "../programs/models.ts";
import type { PowersOptions } from "../tools/daemon-tool.ts";

const headerBytesMax = 65_536;
const answerBytesMax = 4_194_304;
const completionMillisecondsMax = 600_000;
/** The name of the credential in its one request. */
const HANDLE = "model";

interface ModelPowersOptions {
  /** Of the user's configuration. */
  models(): readonly WrittenModel[];
  resolver(): ResolverChoice;
  readonly secret: SecretForUrl;
  fetch(wish: FetchOptions): Promise<FetchResult>;
  keepsPrompts(): boolean;
  /** Redacts known secrets. */
  redacted(value: Json): Json;
  now(): number;
}

type AdmittedCall = Extract<ModelCall, { readonly ok: true }>;

/** What the call can cost by the prices of the user's configuration; null for an input that is refused. */
export function completionCost(input: JsonObject, models: readonly WrittenModel[]): RequestCost | null {
  const completion = completionIn(input);
  const call = completion === null ? null : admittedCall(completion);
  if (call === null || !call.ok) return null;
  const facts = { ...call.estimate, provider: call.provider, model: call.model, ...bodyFacts(call.body) };
  return requestCost(facts, priceFor(models, call.provider, facts));
}

export function modelPowers(options: ModelPowersOptions): (call: PowersOptions) => ModelPowers {
  return ({ call, signal, taint }) => ({
    models: {
      taint,
      complete: async (completion) => {
        const reservation = call?.reservation ?? null;
        const admitted = admittedCall(completion);
        if (!admitted.ok) return useDenial("invalid_input", "model.use", admitted.message);
        if (call === null || reservation === null || !reservation.use())
          return useDenial("not_available", "model.use", "a call can use a model only once");
        const facts = { provider: admitted.provider, model: admitted.model, ...bodyFacts(admitted.body) };
        const began = options.now();
        const sending: Sending = { signal, reservation, call: admitted, usage: NO_USAGE };
        try {
          return await send(options, sending);
        } finally {
          const milliseconds = Math.max(0, Math.round(options.now() - began));
          const prompt = options.keepsPrompts() ? conversationEnd(admitted.body) : null;
          const usage = { ...sending.usage, milliseconds, prompt };
          call.programContext.modelUsed(call.warrant.receipt, usage, { ...reservation.settled(usage), facts });
        }
      },
    },
  });
}

interface Sending {
  readonly signal: AbortSignal;
  readonly reservation: Reservation;
  readonly call: AdmittedCall;
  /** What is known of the answer so far. */
  usage: ModelUsage;
}

async function send(options: ModelPowersOptions, sending: Sending): Promise<UseResult<ModelResponse>> {
  const { call, reservation, signal } = sending;
  const endpoint = modelEndpoint(options.models(), call.provider, options.secret);
  if (!endpoint.ok) return useDenial(endpoint.code, "model.use", endpoint.message);
  const limit = reservation.outputTokens;
  const body = limit === null ? call.body : withOutputLimit(call.provider, call.path, call.body, limit);
  const text = JSON.stringify(body);
  // A handle in the prompt would put the credential into it.
  if (handlesIn(text, "plain").length > 0)
    return useDenial("secret_refused", "model.use", "a prompt must not contain a secret handle");
  const value = await endpoint.credential.read();
  if (value === null) return useDenial(CREDENTIAL_REFUSED.code, "model.use", CREDENTIAL_REFUSED.message);
  const { address, url, header, prefix } = endpoint;
  const secret = Buffer.from(value);
  try {
    sending.usage = { ...NO_USAGE, isSent: true };
    const fetched = await options.fetch({
      ...{ method: "POST", url: `${url.replace(/\/$/, "")}${call.path}`, body: Buffer.from(text), sign: null },
      headers: [
        ["content-type", "application/json"],
        ["accept-encoding", "identity"],
        [header, `${prefix}{{secret:${HANDLE}}}`],
        ...(call.provider === "anthropic" ? [["anthropic-version", "2023-06-01"] as const] : []),
      ],
      limits: {
        ...{ headerBytes: headerBytesMax, bodyBytes: answerBytesMax, redirects: 0 },
        milliseconds: completionMillisecondsMax,
      },
      resolver: options.resolver(),
      judge: judgeOf(address, options.now),
      secrets: [{ name: HANDLE, value: secret, hosts: [hostOf(address)], isSignOnly: false }],
      stop: signal,
    });
    if (!fetched.ok) return failedFetch(fetched);
    return await received(options, sending, fetched);
  } finally {
    secret.fill(0);
  }
}

async function received(
  { redacted }: ModelPowersOptions,
  sending: Sending,
  fetched: Extract<FetchResult, { readonly ok: true }>,
): Promise<UseResult<ModelResponse>> {
  const { status } = fetched;
  const counter = new UsageCounter(sending.call.provider, false);
  const pieces: Uint8Array[] = [];
  sending.usage = { ...sending.usage, status };
  for await (const piece of fetched.body) {
    counter.take(piece);
    pieces.push(piece);
  }
  const end = await fetched.end;
  if (!end.ok) return failedFetch(end);
  sending.usage = { ...sending.usage, ...(counter.end() ?? {}), isWhole: true };
  const { input, output } = sending.usage;
  return useResult({ status, answer: redacted(parsed(Buffer.concat(pieces).toString("utf8"))), input, output });
}

/** Limits of the broker are not the budget of the grant. */
function failedFetch({ code, message }: FetchFailure): UseDenial {
  return useDenial(code === "budget_exhausted" ? "not_available" : code, "model.use", message);
}

function admittedCall(completion: Completion): ModelCall {
  const { path, body } = providerRequest(completion);
  const { provider } = completion;
  return modelCall("POST", `/${provider}${path}`, provider, body, Buffer.byteLength(JSON.stringify(body)));
}

function bodyFacts(body: JsonObject): { readonly digest: string; readonly bytes: number } {
  const text = Buffer.from(JSON.stringify(body));
  return { digest: createHash("sha256").update(text).digest("hex"), bytes: text.length };
}

/** The user's configuration names the address. What remains to be checked is that its name leads to no special address. */
function judgeOf({ host, port }: Url, now: () => number): (request: Request) => Decision {
  const chains = readChains([[[`net.connect{hosts=[${destinationText(host)}],ports=[${port}]}`]]]);
  const grants = chains === null ? null : new NetworkGrants(chains, now);
  return ({ values: [to, at] }) =>
    grants === null || !isDestination(to) || typeof at !== "number"
      ? { outcome: "deny", code: "address_refused", at: null }
      : grants.judge(connectRequest(to, at, "sni"));
}

function hostOf({ host, port }: Url): string {
  const text = destinationText(host);
  return `${text.includes(":") && !text.startsWith("[") ? `[${text}]` : text}:${port}`;
}

/** Null for a text that is no JSON. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
