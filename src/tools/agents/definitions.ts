// Definitions of agent_update and agent_discover for models. Data only.
import { AUTHORITY_KEYS } from "../../core/notation/record/record-keys.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { countSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import * as limits from "./limits.ts";

export interface AgentToolDefinition {
  readonly name: "agent_update" | "agent_discover";
  readonly description: string;
  readonly input: JsonSchema;
  readonly verbs: readonly string[];
}

/** Accepted, so that a caller is told what they require. */
const AUTHORITY: { readonly [name: string]: JsonSchema } = Object.fromEntries(
  AUTHORITY_KEYS.map((key) => [key, { description: "Needs agent.grant, and is not changed here: see agent_grant." }]),
);

export const AGENT_UPDATE_DEFINITION: AgentToolDefinition = {
  name: "agent_update",
  description:
    "Change what another agent is told: the whole of its instructions. Only of an agent whose authority you could pass on " +
    "yourself, and never your own. What it may do stays as it is; agent_grant passes authority on.",
  input: objectSchema(
    {
      id: textSchema("The agent.", 1, limits.agentIdCharactersMax),
      instructions: textSchema("Everything it is told from now on.", 0, limits.instructionsCharactersMax),
      version: textSchema(
        "As the last agent_update gave it: written only if nobody changed it since.",
        1,
        limits.versionCharactersMax,
      ),
      ...AUTHORITY,
    },
    ["id"],
  ),
  verbs: ["agent.update"],
};

export const AGENT_DISCOVER_DEFINITION: AgentToolDefinition = {
  name: "agent_discover",
  description:
    "Find agents of this workspace that hold everything you ask for. Each comes with what it is for and with those verbs that " +
    "it holds. When there may be more, `next` is the `after` to go on with.",
  input: objectSchema(
    {
      can: {
        ...textsSchema(
          "Verbs such as net.get or net.*, or specs such as net.get{hosts=[api.example.com]}.",
          limits.askedMax,
          limits.askedCharactersMax,
        ),
        minItems: 1,
      },
      after: textSchema("The `next` of the answer before.", 1, limits.agentIdCharactersMax),
      count: countSchema(`How many at most; ${limits.agentsShownUsual} if left out.`, 1, limits.agentsShownMax),
    },
    ["can"],
  ),
  verbs: ["agent.discover"],
};
