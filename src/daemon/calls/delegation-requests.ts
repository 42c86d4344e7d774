// The requests of agent_grant and agent_create: the agent named, and the grants proposed for it.
import { parseName } from "../../core/authority/axes/name.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import { agentIdOf, parseAgentId } from "../../core/base/agent-id.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { nameRequest, textIn, textsIn } from "../input.ts";
import { specFault } from "../spec-fault.ts";
import { grantsOf } from "./holding.ts";

export const specsMax = 256;
export const idCharactersMax = 256;

/** The id of an agent, by either spelling. */
export function agentIdIn(input: JsonObject, key: string): string | null {
  const id = textIn(input, key, idCharactersMax);
  return id === null ? null : agentIdOf(id);
}

export function delegationRequests(input: JsonObject, key: string, reading: Reading): Result<readonly Request[]> {
  const verb = verbEntry("agent.grant");
  const target = agentIdIn(input, key);
  const specs = textsIn(input, "grants", specsMax);
  if (verb === null || target === null || specs === null || specs.length === 0)
    return refuse("bad_value", "`grants` must be a list of specs");
  const id = parseAgentId(target);
  const name = id.ok ? parseName(target) : id;
  if (!name.ok) return name;
  const proposed = grantsOf(specs, reading);
  if (proposed === null) return refuse("bad_value", specFault("grant", specs, reading));
  return done([{ verb, values: verb.axes.map(() => name.value), delegation: { target, proposed } }]);
}

export function creationRequests(input: JsonObject, reading: Reading): Result<readonly Request[]> {
  const create = nameRequest("agent.create", agentIdIn(input, "id") ?? "");
  const given = delegationRequests(input, "id", reading);
  if (!create.ok) return create;
  return given.ok ? done([create.value, ...given.value]) : given;
}
