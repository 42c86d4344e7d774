// A session as a tool set of the Vercel AI SDK. Only types of the SDK are imported, so it is not loaded here.
import type { ToolSet } from "ai";
import type { Json, JsonObject } from "../core/base/json.ts";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import type { Provider } from "../tools/provider/provider-catalog.ts";
import { denialData, schemaCopy } from "./model-answers.ts";
import { listModelTools } from "./model-tools.ts";
import type { AdapterOptions, CallAnswer, ModelSession } from "./session.ts";

export interface AiSdkOptions extends AdapterOptions {
  /** The provider of the model: its own tools are requested in its format. Null for none. */
  readonly provider?: Provider | null;
}

export interface AiSdkTools extends Pick<ProviderToolsView, "omitted" | "notes"> {
  readonly tools: ToolSet;
}

/** For `generateText` and `streamText`. A denial reaches the model as an error with code, need, hint and id. */
export async function aiSdkTools(session: ModelSession, options: AiSdkOptions = {}): Promise<AiSdkTools> {
  const { provider = null, waitSeconds } = options;
  const { own, provider: provided } = await listModelTools(session, provider, options);
  const foreign = provided.tools.map(
    ({ name, request, domains }) =>
      [name, provider === null ? null : providerTool(provider, request, domains)] as const,
  );
  const offered = foreign.filter(([, tool]) => tool !== null);
  const tools = own.map(({ shownName, name, description, input }) => {
    const tool = {
      type: "function" as const,
      description,
      inputSchema: schemaOf(input),
      execute: (asked: unknown, { abortSignal }: { readonly abortSignal?: AbortSignal }): Promise<CallAnswer> =>
        session.call(name, asked, { waitSeconds, signal: abortSignal }),
      toModelOutput: ({ output }: { readonly output: CallAnswer }) => outputOf(output),
    };
    return [shownName, tool] as const;
  });
  return {
    tools: Object.fromEntries([...offered, ...tools]) as unknown as ToolSet,
    omitted: [
      ...provided.omitted,
      ...foreign
        .filter(([, tool]) => tool === null)
        .map(([name]) => ({ name, why: "the SDK does not support this tool" })),
    ],
    notes: [...provided.notes, ...(offered.some(([name]) => name === "code_interpreter") ? [UNHELD] : [])],
  };
}

const UNHELD = "code_interpreter: the SDK cannot disable the network for its code; the provider's default applies";

/** A Standard Schema that accepts everything: the gate validates the input and reports what is wrong. */
function schemaOf(input: JsonObject): object {
  return {
    "~standard": {
      version: 1,
      vendor: "ambit",
      "validate": (value: unknown) => ({ value }),
      jsonSchema: { input: () => schemaCopy(input), output: () => schemaCopy(input) },
    },
  };
}

function outputOf(answer: CallAnswer): object {
  if (!answer.ok) return { type: "error-json", value: denialData(answer) };
  return typeof answer.value === "string"
    ? { type: "text", value: answer.value }
    : { type: "json", value: answer.value as Json };
}

/** The SDK's providers have their own format for their own tools. Null for tools they do not support. */
function providerTool(provider: Provider, request: JsonObject, domains: readonly string[] | null): object | null {
  const kind = String(request["type"]);
  const args = (): JsonObject | null => {
    switch (kind) {
      case "web_search_20250305":
      case "web_fetch_20250910":
        return domains === null ? {} : { allowedDomains: domains };
      case "code_execution_20250825":
      case "image_generation":
      case "web_search_preview":
        return {};
      case "web_search":
        return domains === null ? {} : { filters: { allowedDomains: domains } };
      case "code_interpreter":
        return {};
      case "file_search":
        return { vectorStoreIds: request["vector_store_ids"] as Json };
      default:
        return null;
    }
  };
  const given = args();
  if (given === null) return null;
  return { type: "provider", id: `${provider}.${kind}`, args: given, inputSchema: schemaOf({ type: "object" }) };
}
