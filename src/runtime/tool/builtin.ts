// A built-in tool: how a model sees it, what a call of it requests, and what it does with the context of a decided call. It
// requests everything it does, so it needs no declaration.
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { done, type Result } from "../../core/base/result.ts";
import type { RequestsResult } from "../../core/gate/known-tool.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Context } from "../context/context.ts";
import { type RequestReading, requestOf, type ToolRequest } from "../context/tool-request.ts";
import type { UseResult } from "../context/use-result.ts";
import type { JsonSchema } from "./json-schema.ts";

/** How the arguments of a call are read, and the agent that makes it. */
export interface CallReading extends RequestReading {
  readonly agent: string;
  /** Variables that the session's client passes on. */
  readonly environment: Readonly<Record<string, string>>;
  /** For texts in the notation of records: grants, specs. */
  readonly notation: Reading;
}

/** What the client has to be asked for first; the call comes back with its answers. */
export interface InputRequired {
  readonly ok: true;
  readonly value: JsonObject;
  readonly isInputRequired: true;
}

/** `P`: powers besides the context that no tool of others has. */
export interface BuiltinTool<P = unknown> {
  readonly name: string;
  /** For the model that calls it. */
  readonly description: string;
  /** INVARIANT: every input is checked against it before anything else is read from it. */
  readonly input: JsonSchema;
  /** Verbs that every call of it needs: a session without one of them does not see the tool. */
  readonly verbs: readonly string[];
  /** At least one of these, if the arguments decide which. */
  readonly anyVerb?: readonly string[];
  /** Its requests follow from the user's configuration, which the caller does not learn. */
  readonly isConfigured?: true;
  /** What a call needs and does not have, such as a setting; it is then refused before anything is charged, and not listed. */
  missing?(): { readonly message: string; readonly fix: string | null } | null;
  /** False where a session could do nothing with it: it is then not listed. */
  isListed?(powers: P): boolean;
  requests(input: JsonObject, reading: CallReading): RequestsResult;
  /** Further requests, which follow from what is stored. INVARIANT: `requests` accepted the input; they can only add. */
  derive?(input: JsonObject, reading: CallReading, powers: P): Promise<Result<readonly Request[]>>;
  /** The gate denied a call: what was prepared for it is dropped. */
  denied?(input: JsonObject, powers: P): void;
  /** Called with the arguments that were decided on, after the decision is on disk. */
  execute(input: JsonObject, context: Context & P): Promise<UseResult<Json> | InputRequired>;
}

/** All of them, or why one cannot be read. */
export function requestsFor(reading: CallReading, ...asked: readonly ToolRequest[]): Result<readonly Request[]> {
  const requests: Request[] = [];
  for (const one of asked) {
    const request = requestOf(one, reading);
    if (!request.ok) return request;
    requests.push(request.value);
  }
  return done(requests);
}
