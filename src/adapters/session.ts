// A session as an adapter sees it: what a model may be shown, and the one way to call it. `ambit/node` makes them.
import type { Json, JsonObject } from "../core/base/json.ts";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import type { Provider, ProviderSettings } from "../tools/provider/provider-catalog.ts";

/** A tool for a model to be shown. */
export interface SessionTool {
  readonly name: string;
  /** builtin: ours. tool: of a file or package, run apart from everything. application: passed in code. */
  readonly origin: "builtin" | "tool" | "application";
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: JsonObject;
}

/** A denial is data, the same at every face. */
export interface CallRefused {
  readonly ok: false;
  readonly code: string;
  /** The request that was not covered, in the notation of `ambit can`. */
  readonly need: string | null;
  /** What to do, for whoever called. */
  readonly hint: string;
  /** For `ambit why`; empty where nothing was written. */
  readonly id: string;
  /** For `ambit approve`, where a person is asked. */
  readonly approval: string | null;
  /** Why a person refused, what is wrong with the arguments, or how the tool failed. */
  readonly reason: string | null;
}

export type CallAnswer = { readonly ok: true; readonly value: Json; readonly receipt: string } | CallRefused;

export interface CallOptions {
  /** How long to wait for a person where one has to approve; without it the answer is `approval_required` at once. */
  readonly waitSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ModelSession {
  tools(): Promise<readonly SessionTool[]>;
  /** Never rejects: what is denied, refused or failed is an answer. */
  call(name: string, input: unknown, options?: CallOptions): Promise<CallAnswer>;
  providerTools(provider: Provider, settings?: ProviderSettings): Promise<ProviderToolsView>;
}

export interface AdapterOptions extends Pick<CallOptions, "waitSeconds"> {
  /** Which of the provider's own tools to ask for, where the grants allow it; null for none. */
  readonly providerTools?: ProviderSettings | null;
}
