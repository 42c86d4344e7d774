// The owner's side of the model relay: each request of a client to a model is decided, charged and logged before it is sent,
// and goes out with the credential that the user bound to the tool `model` and the provider's host.
import { parseName } from "../../core/authority/axes/name.ts";
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Request } from "../../core/authority/request.ts";
import type { ModelProvider } from "../../core/notation/config/model-setting.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { toAscii } from "../../platform/ascii.ts";
import { type ModelAnswer, type ModelSource, NO_USAGE } from "../../sandbox/plan/sandboxes.ts";
import type { ProgramContext } from "../parts.ts";
import type { RunEnvironment } from "./plan-facts.ts";

/** The tool that a credential for a model is bound to: `ambit secrets set NAME --tool model --host api.anthropic.com`. */
const MODEL_TOOL = "model";

/** A stored secret that is bound to a tool and to this address. */
export type SecretForUrl = (tool: string, url: Url) => { read(): Promise<string | null> } | null;

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

export interface ModelRun {
  readonly run: Pick<ProgramContext, "useModel" | "modelUsed">;
  readonly ground: Pick<RunEnvironment, "user">;
}

export function modelSource({ run, ground }: ModelRun, secret: SecretForUrl): ModelSource {
  return {
    ask: async ({ provider, model, digest, bytes, isCharged }): Promise<ModelAnswer> => {
      const known = provider in PROVIDERS ? (provider as ModelProvider) : null;
      const request = known === null ? null : useOf(known, model);
      if (known === null || request === null) return { ok: false, code: "invalid_input", message: "no such model" };
      const { url: usual, header, prefix } = PROVIDERS[known];
      const url = (ground.user?.models ?? []).find((one) => one.provider === known)?.url ?? usual;
      const address = parseUrl(url, toAscii);
      if (!address.ok) return { ok: false, code: "invalid_input", message: address.message };
      const found = secret(MODEL_TOOL, address.value);
      if (found === null) {
        const host = new URL(url).host;
        const fix = `ambit secrets set ${known}-key --tool ${MODEL_TOOL} --host ${host}`;
        return { ok: false, code: "secret_refused", message: `no credential is kept for ${host}: ${fix}` };
      }
      const used = await run.useModel(request, { digest, bytes, isCharged });
      if (!used.ok)
        return { ok: false, code: used.code, message: `${requestText(request)} is denied; ambit why ${used.id}` };
      const value = await found.read();
      if (value === null) {
        run.modelUsed(used.id, NO_USAGE);
        return { ok: false, code: "secret_refused", message: "the kept credential cannot be read: ambit secrets key" };
      }
      return { ok: true, id: used.id, url, header, prefix, value: Buffer.from(value).toString("base64") };
    },
    used: (id, usage) => run.modelUsed(id, usage),
  };
}

function useOf(provider: string, model: string): Request | null {
  const [first, second] = [parseName(provider), parseName(model)];
  if (USE === null || !first.ok || !second.ok) return null;
  return { verb: USE, values: [first.value, second.value] };
}
