// Definitions of agent_grant and agent_create for models. Data only.
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { countSchema, flagSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import { agentIdCharactersMax, instructionsCharactersMax } from "../agents/limits.ts";

export const specsMax = 256;
export const secondsMax: number = 10 * 365 * 86_400;
const specCharactersMax = 4096;

const GRANTS = textsSchema("Grant specs, such as net.get{hosts=[api.example.com]}.", specsMax, specCharactersMax);
const SECONDS = countSchema("The delegation expires after this many seconds.", 1, secondsMax);
const CALLS = countSchema("The delegation covers at most this many calls.", 1, Number.MAX_SAFE_INTEGER);

const ATTENUATE = flagSchema(
  "Delegate the part of `grants` that you may pass on, and list in `left_out` what you may not, instead of failing.",
);

interface DelegationToolDefinition {
  readonly name: "agent_grant" | "agent_create";
  readonly description: string;
  readonly input: JsonSchema;
  readonly verbs: readonly string[];
}

export const AGENT_GRANT_DEFINITION: DelegationToolDefinition = {
  name: "agent_grant",
  description:
    "Delegate some of your grants to another agent, or create a token for it. You cannot delegate more than you hold; the " +
    "delegation ends when your own grants end.",
  input: objectSchema(
    {
      agent: textSchema("The id of the receiving agent.", 1, agentIdCharactersMax),
      grants: GRANTS,
      seconds: SECONDS,
      calls: CALLS,
      token: flagSchema("Return a token that the other agent claims, instead of delegating immediately."),
      write: flagSchema(
        "Write the grants into the other agent's record instead of delegating. They have no effect until a person trusts the change.",
      ),
      attenuate: ATTENUATE,
    },
    ["agent", "grants"],
  ),
  verbs: ["agent.grant"],
};

export const AGENT_CREATE_DEFINITION: DelegationToolDefinition = {
  name: "agent_create",
  description: "Create a child agent with instructions and some of your grants. Its grants end when yours do.",
  input: objectSchema(
    {
      id: textSchema("The id of the new agent.", 1, agentIdCharactersMax),
      instructions: textSchema("The instructions of the new agent.", 0, instructionsCharactersMax),
      grants: GRANTS,
      seconds: SECONDS,
      calls: CALLS,
      write: flagSchema(
        "Write the new agent as a record instead. It can work once a person has trusted the record, and then outlives your grants.",
      ),
      attenuate: ATTENUATE,
    },
    ["id", "instructions"],
  ),
  verbs: ["agent.create"],
};
