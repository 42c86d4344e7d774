// The daemon's side of the model relay: each request of a client to a model is decided, charged and logged before it is sent,
// and goes out with the credential that the user bound to the tool `model` and the provider's host.

import { type Destination, destinationText } from "../../core/authority/axes/destination.ts";
import { parseName } from "../../core/authority/axes/name.ts";
import { isDestination, NOTHING, scopeMatches } from "../../core/authority/axes/scope.ts";
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import type { CodedFailure } from "../../core/base/result.ts";
import { isThisMachine } from "../../core/base/special.ts";
import { MODEL_PROVIDERS, type ModelProvider, type WrittenModel } from "../../core/notation/config/model-setting.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { toAscii } from "../../platform/ascii.ts";
import {
  type ModelAnswer,
  type ModelCallFacts,
  type ModelSource,
  type ModelUsage,
  NO_USAGE,
} from "../../sandbox/plan/sandboxes.ts";
import type { UseCredential, UseDecision } from "../calls/program-use.ts";
import type { ProgramContext } from "../parts.ts";
import { priceFor, requestCost } from "./model-cost.ts";
import type { RunEnvironment } from "./run-plan.ts";

/** The tool that a credential for a model is bound to: `ambit secrets set NAME --tool model --host api.anthropic.com`. */
const MODEL_TOOL = "model";

/** A stored secret that is bound to a tool and to this address. */
export type SecretForUrl = (tool: string, url: Url) => BoundSecret | null;

export interface BoundSecret extends UseCredential {
  /** INVARIANT: called only after the use is on disk. Null: it cannot be decrypted. */
  value(): string | null;
  /** Counts and logs a use of its own. Null: it cannot be used. */
  read(): Promise<string | null>;
}

interface ProviderAddress {
  readonly url: string;
  readonly header: string;
  readonly prefix: string;
}

const PROVIDERS: Readonly<Record<ModelProvider, ProviderAddress>> = {
  anthropic: { url: "https://api.anthropic.com", header: "x-api-key", prefix: "" },
  openai: { url: "https://api.openai.com", header: "authorization", prefix: "Bearer " },
  gemini: { url: "https://generativelanguage.googleapis.com", header: "x-goog-api-key", prefix: "" },
};

const USE = verbEntry("model.use");

/** Whether some chain could cover a model at all: otherwise a client gets no relay. */
export function couldUseModels(authority: Authority): boolean {
  return USE !== null && authority.some((chain) => chain.every((link) => link.grantsOf(USE).length > 0));
}

/** Which providers some chain could cover, whatever the model. */
function couldUseProvider(authority: Authority, provider: ModelProvider): boolean {
  const name = parseName(provider);
  if (USE === null || !name.ok) return false;
  const covers = ({ scopes }: Grant): boolean => scopeMatches(scopes[0] ?? NOTHING, name.value);
  return authority.some((chain) =>
    chain.every((compiled) => compiled.grantsOf(USE).some((at) => covers(compiled.link.grants[at] as Grant))),
  );
}

/**
 * INVARIANT: with a relay, a provider whose models are granted is reached by its name through the relay alone, whatever `net.connect`
 * covers. A direct connection could use an account of the program's own, past every budget.
 */
export function relayedOnly(authority: Authority, models: readonly WrittenModel[]): (asked: Request) => boolean {
  const places = new Set<string>();
  /** Ports of providers on this machine, whose addresses have many spellings. */
  const ownPorts = new Set<unknown>();
  for (const provider of MODEL_PROVIDERS) {
    if (!couldUseProvider(authority, provider)) continue;
    const written = models.filter((one) => one.provider === provider).map(({ url }) => url);
    for (const text of [PROVIDERS[provider].url, ...written]) {
      const url = text === null ? null : parseUrl(text, toAscii);
      if (url?.ok !== true) continue;
      const { host, port } = url.value;
      if (isOwnMachine(host)) ownPorts.add(port);
      else places.add(`${destinationText(host)} ${port}`);
    }
  }
  return ({ verb, values: [host, port] }) =>
    verb.verb === "net.connect" &&
    isDestination(host) &&
    (places.has(`${destinationText(host)} ${port}`) || (ownPorts.has(port) && isOwnMachine(host)));
}

/** Also a name that resolved to this machine. */
function isOwnMachine(host: Destination): boolean {
  if (host.address !== null && isThisMachine(host.address)) return true;
  return host.name !== null && /(^|\.)localhost$/.test(destinationText(host));
}

export interface ModelRun {
  readonly run: Pick<ProgramContext, "useModel" | "modelUsed">;
  readonly environment: Pick<RunEnvironment, "user">;
}

export function modelSource({ run, environment }: ModelRun, secret: SecretForUrl): ModelSource {
  /** Requests that were let through and are not reported yet. */
  const uses = new Map<string, (usage: ModelUsage) => void>();
  return {
    ask: async (call): Promise<ModelAnswer> => {
      const { provider, model, digest, bytes, isCharged, hasForeignCredential } = call;
      const known = Object.hasOwn(PROVIDERS, provider) ? (provider as ModelProvider) : null;
      const request = known === null ? null : modelUseRequest(known, model);
      if (known === null || request === null) return { ok: false, code: "invalid_input", message: "no such model" };
      const models = environment.user?.models ?? [];
      const endpoint = modelEndpoint(models, known, secret);
      const price = priceFor(models, known, call);
      const cost = requestCost(call, price);
      const question = { provider: known, model };
      const used = await run.useModel(request, {
        ...{ digest, bytes, isCharged, hasForeignCredential, cost, question },
        credential: endpoint.ok ? endpoint.credential : null,
      });
      if (!endpoint.ok && (used.ok || used.code === "secret_refused")) return endpoint;
      if (!used.ok && used.code === "secret_refused") return CREDENTIAL_REFUSED;
      if (!used.ok) return { ok: false, code: used.code, message: denialText(request, used, call, price !== null) };
      if (!endpoint.ok) return endpoint;
      const { url, header, prefix, credential } = endpoint;
      const { reserved } = used;
      const settle = (usage: ModelUsage): void =>
        run.modelUsed(used.id, usage, { cost: reserved === null ? null : cost.actual(usage, reserved), reserved });
      const value = credential.value();
      if (value === null) {
        settle(NO_USAGE);
        return CREDENTIAL_REFUSED;
      }
      uses.set(used.id, settle);
      const most = reserved === null || !used.isLimited || !isCharged ? null : cost.outputOf(reserved);
      const outputTokens = most === call.outputTokens ? null : most;
      const encoded = Buffer.from(value).toString("base64");
      const keepsPrompt = environment.user?.prompts === "keep";
      return { ok: true, id: used.id, outputTokens, url, header, prefix, value: encoded, keepsPrompt };
    },
    used: (id, usage) => {
      uses.get(id)?.(usage);
      uses.delete(id);
    },
  };
}

export const CREDENTIAL_REFUSED = {
  ok: false,
  code: "secret_refused",
  message: "the stored credential has no use left (ambit secrets list) or is locked (ambit secrets unlock)",
} as const;

export type ModelEndpoint =
  | ({ readonly ok: true; readonly address: Url; readonly credential: BoundSecret } & ProviderAddress)
  | CodedFailure<DenialCode>;

/** Where requests to a provider go by the user's configuration, and the credential that is bound to that address. */
export function modelEndpoint(
  models: readonly WrittenModel[],
  provider: ModelProvider,
  secret: SecretForUrl,
): ModelEndpoint {
  const { url: usual, header, prefix } = PROVIDERS[provider];
  const url = models.find((one) => one.provider === provider)?.url ?? usual;
  const address = parseUrl(url, toAscii);
  if (!address.ok) return { ok: false, code: "invalid_input", message: address.message };
  const credential = secret(MODEL_TOOL, address.value);
  if (credential !== null) return { ok: true, url, header, prefix, address: address.value, credential };
  const { host } = new URL(url);
  const fix = `ambit secrets set ${provider}-key --tool ${MODEL_TOOL} --host ${host}`;
  return { ok: false, code: "secret_refused", message: `no credential is stored for ${host}: ${fix}` };
}

/** For the client, which shows it to a person. */
function denialText(
  request: Request,
  { code, id, reason }: Extract<UseDecision, { readonly ok: false }>,
  call: ModelCallFacts,
  hasPrice: boolean,
): string {
  const denied = `${requestText(request)} is denied`;
  const why = `ambit why ${id}`;
  if (code === "approval_refused") return `${denied}: a person refused it${reason ? ` (${reason})` : ""}; ${why}`;
  if (code === "approval_required") return `${denied}: it was not approved in time; ambit approvals list`;
  if (code !== "budget_exhausted") return `${denied}; ${why}`;
  const { inputTokens, outputTokens, isPremium } = call;
  const output = outputTokens === null ? "" : ` and ${outputTokens} of output`;
  const size = `it may use ${inputTokens} tokens of input${output}, and the remaining budget is too small`;
  const price = isPremium
    ? "; with a money budget, a service tier without a configured price is refused"
    : "; with a money budget, the model needs a price in `models` of your configuration";
  return `${denied}: ${size}${hasPrice ? "" : price}; ${why}`;
}

function modelUseRequest(provider: string, model: string): Request | null {
  const [first, second] = [parseName(provider), parseName(model)];
  if (USE === null || !first.ok || !second.ok) return null;
  return { verb: USE, values: [first.value, second.value] };
}
