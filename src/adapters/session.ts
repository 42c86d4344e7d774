// A session as an adapter uses it: the tools to show to a model, and `call`. `ambit/node` creates sessions.
import type { DenialCode } from "../core/authority/decision.ts";
import type { Json, JsonObject } from "../core/base/json.ts";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import type { Provider, ProviderSettings } from "../tools/provider/provider-catalog.ts";

/** A tool that a model may be shown. */
export interface SessionTool {
  readonly name: string;
  /** builtin: ours. tool: from a file or package, run in its own sandbox. application: passed in code. */
  readonly origin: "builtin" | "tool" | "application";
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: JsonObject;
}

/** How a call failed that was not denied. `deadline_exceeded`: it was stopped; effects may have happened. */
export type FailureCode =
  | "execution_failed"
  | "version_conflict"
  | "quota"
  | "no_daemon"
  | "unknown_session"
  | "deadline_exceeded";

export type CallCode = DenialCode | FailureCode;

/** A denial or a failure is data, the same in every interface. */
export interface CallRefused {
  readonly ok: false;
  /** denied: the gate or a check decided so. failed: the tool failed, or the call could not be served. */
  readonly kind: "denied" | "failed";
  readonly code: CallCode;
  /** The request that was not covered, in the notation of `ambit can`. */
  readonly need: string | null;
  /** What the caller should do. */
  readonly hint: string;
  /** For `ambit why`; empty if no entry was written. */
  readonly id: string;
  /** For `ambit approve`, if the call needs approval. */
  readonly approval: string | null;
  /** Why an approver refused, what is wrong with the arguments, or how the tool failed. */
  readonly reason: string | null;
}

export type CallAnswer =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly receipt: string;
      /** What enforced each axis of a call that the daemon carried out: `kernel`, `broker`, `checked` or `none`. */
      readonly enforcement?: readonly { readonly axis: string; readonly strength: string }[];
    }
  | CallRefused;

export interface CallOptions {
  /** How long to wait for approval; without it the answer is `approval_required` at once. */
  readonly waitSeconds?: number | undefined;
  /** Stops the call after this time, waiting for approval included. */
  readonly deadlineSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ModelSession {
  tools(): Promise<readonly SessionTool[]>;
  /** Never rejects: a denial, a refusal or a failure is an answer. */
  call(name: string, input: unknown, options?: CallOptions): Promise<CallAnswer>;
  providerTools(provider: Provider, settings?: ProviderSettings): Promise<ProviderToolsView>;
}

export interface AdapterOptions extends Pick<CallOptions, "waitSeconds"> {
  /** Which of the provider's own tools to request, where the grants allow them; null for none. */
  readonly providerTools?: ProviderSettings | null;
}
