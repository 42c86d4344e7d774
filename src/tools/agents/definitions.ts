// Definitions of agent_update, agent_discover and agent_delete for models. Data only.
import { AUTHORITY_KEYS } from "../../core/notation/record/record-keys.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { countSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import * as limits from "./limits.ts";

export interface AgentToolDefinition {
  readonly name: "agent_update" | "agent_discover" | "agent_delete";
  readonly description: string;
  readonly input: JsonSchema;
  readonly verbs: readonly string[];
}

/** Accepted, so that a caller is told what they require. */
const AUTHORITY: { readonly [name: string]: JsonSchema } = Object.fromEntries(
  AUTHORITY_KEYS.map((key) => [
    key,
    { description: "Cannot be changed with this tool. Use agent_grant, which needs agent.grant." },
  ]),
);

export const AGENT_UPDATE_DEFINITION: AgentToolDefinition = {
  name: "agent_update",
  description:
    "Replace the instructions of another agent. Works only for an agent whose grants you could delegate yourself, and never " +
    "for yourself. Its grants stay unchanged; use agent_grant to delegate grants.",
  input: objectSchema(
    {
      id: textSchema("The id of the agent.", 1, limits.agentIdCharactersMax),
      instructions: textSchema("The new instructions; they replace the old ones.", 0, limits.instructionsCharactersMax),
      version: textSchema(
        "The version returned by the last agent_update; the call fails if the instructions changed since.",
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
    "Find agents of this workspace whose grants cover all given specs. Returns the purpose of each agent and the matching " +
    "verbs. If there may be more, `next` is the `after` of the next page.",
  input: objectSchema(
    {
      can: {
        ...textsSchema(
          "Verbs such as net.get or net.*, or specs such as net.get{hosts=[api.example.com]}.",
          limits.queryItemsMax,
          limits.queryItemCharactersMax,
        ),
        minItems: 1,
      },
      after: textSchema("The `next` of the previous page.", 1, limits.agentIdCharactersMax),
      count: countSchema(`Maximum number of agents; default ${limits.agentsShownUsual}.`, 1, limits.agentsShownMax),
    },
    ["can"],
  ),
  verbs: ["agent.discover"],
};

export const AGENT_DELETE_DEFINITION: AgentToolDefinition = {
  name: "agent_delete",
  description:
    "Delete another agent, never yourself. An agent that an agent made ends with its delegations; a record is removed, and a " +
    "person can restore it.",
  input: objectSchema({ id: textSchema("The id of the agent.", 1, limits.agentIdCharactersMax) }, ["id"]),
  verbs: ["agent.delete"],
};
