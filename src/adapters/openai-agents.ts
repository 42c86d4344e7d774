// A session as tools of the OpenAI Agents SDK: function tools, and the provider's own as hosted tools. Only types of
// the SDK are imported, so it is not loaded here.
import type { FunctionTool, HostedTool } from "@openai/agents";
import { parseJson } from "../core/notation/json-reader.ts";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import { answerText, invalidInput, type NamedTool, schemaCopy } from "./model-answers.ts";
import { listModelTools } from "./model-tools.ts";
import type { AdapterOptions, ModelSession } from "./session.ts";

export interface AgentsTools extends Pick<ProviderToolsView, "omitted" | "notes"> {
  /** For `new Agent({ tools })`. */
  readonly tools: (FunctionTool | HostedTool)[];
}

/** The SDK expects a computer supplied by the application, not a hosted tool. */
const COMPUTER = "computer";

export async function agentsTools(session: ModelSession, options: AdapterOptions = {}): Promise<AgentsTools> {
  const { own, provider: provided } = await listModelTools(session, "openai", options);
  const isHosted = ({ name }: { readonly name: string }): boolean => name !== COMPUTER;
  const hosted = provided.tools.filter(isHosted).map(
    ({ name, request }): HostedTool => ({
      type: "hosted_tool",
      name,
      providerData: structuredClone(request) as Record<string, unknown>,
    }),
  );
  const computer = provided.tools.some((one) => !isHosted(one));
  return {
    tools: [...hosted, ...own.map((tool) => functionTool(session, tool, options.waitSeconds))],
    omitted: [
      ...provided.omitted,
      ...(computer ? [{ name: COMPUTER, why: "the SDK needs a computer implementation from the application" }] : []),
    ],
    notes: provided.notes,
  };
}

/** Not strict: strict mode requires every member of a schema, and ours have optional ones. The gate checks either way. */
function functionTool(
  session: ModelSession,
  { shownName, name, description, input }: NamedTool,
  waitSeconds: number | undefined,
): FunctionTool {
  const parameters = { properties: {}, required: [], additionalProperties: true, ...schemaCopy(input) };
  return {
    type: "function",
    name: shownName,
    description,
    parameters: parameters as unknown as FunctionTool["parameters"],
    strict: false,
    needsApproval: async () => false,
    isEnabled: async () => true,
    invoke: async (_, text, details) => {
      const read = parseJson(text === "" ? "{}" : text);
      if (!read.ok) return answerText(invalidInput(read.message));
      return answerText(await session.call(name, read.value, { waitSeconds, signal: details?.signal }));
    },
  };
}
