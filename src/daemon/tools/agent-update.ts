// agent_update as the daemon carries it out: what another agent is told, by whoever could pass on everything it holds.

import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import { sha256 } from "../../platform/digest.ts";
import { agentRequest, authorityKeysIn, grantRequests } from "../../tools/agents/authority-keys.ts";
import { AGENT_UPDATE_DEFINITION } from "../../tools/agents/definitions.ts";
import { beyond } from "../../tools/agents/held.ts";
import * as limits from "../../tools/agents/limits.ts";
import { versionOf } from "../../tools/records/found.ts";
import { optionalText, textIn } from "../input.ts";
import type { Session } from "../session.ts";
import { type AgentsPlace, type FoundAgent, isAgentId } from "./agent-directory.ts";
import { BAD, type DaemonAgentsAsked, failed, NO_WORKSPACE } from "./agent-options.ts";
import type { Carried, OwnerTool } from "./owner-tool.ts";

export function updateTool(asked: DaemonAgentsAsked, place: AgentsPlace): OwnerTool {
  /** What stands in the way of telling it what to do: a part of what it holds that the teller could not pass on. */
  const exceeding = (session: Session, name: AgentName, found: FoundAgent): Request | null => {
    const held = asked.held(session);
    const request = agentRequest("agent.update", name.agent);
    if (held === null || !request.ok || found.kind === "broken") return null;
    const { authority, reading } = held.holding;
    const grant = beyond(place.grantsOf(name, found), authority, reading.ground.protectedPaths);
    // No more of what the other holds is told than the one thing that decides.
    return grant === null ? null : { ...request.value, delegation: { target: name.agent, proposed: [grant] } };
  };

  return {
    ...AGENT_UPDATE_DEFINITION,
    requests: (input, reading, session) => updateRequests(input, reading, session),
    derive: async (input, session) => {
      const name = targetOf(input, session);
      const found = textIn(input, "instructions") === null ? null : place.find(name);
      const request = found === null ? null : exceeding(session, name, found);
      return done(request === null ? [] : [request]);
    },
    carry: async ({ input, session }) => {
      const name = targetOf(input, session);
      const body = textIn(input, "instructions", limits.instructionsCharactersMax);
      const version = optionalText(input, "version", limits.versionCharactersMax);
      if (authorityKeysIn(input).length > 0) return NOT_HERE;
      if (body === null || version === undefined) return BAD;
      if (name.workspace === null) return NO_WORKSPACE;
      const found = place.find(name);
      if (found === null) return failed("not_available", `no agent ${JSON.stringify(name.agent)} here`);
      if (found.kind === "broken") return BROKEN;
      const request = exceeding(session, name, found);
      // Passed on since it was decided.
      if (request !== null) return { ...BEYOND, denied: { code: "exceeds_grantor_authority", request } };
      const before = found.kind === "made" ? found.body : found.text.slice(found.bodyStart);
      if (version !== null && versionOf(before, sha256) !== version) return STALE;
      const written =
        found.kind === "made" ? await instructMade(session, name, before, body) : place.instruct(name, found, body);
      if (written === "changed") return STALE;
      if (!written.ok) return failed("not_available", written.message);
      return { ok: true, value: { id: name.agent, version: versionOf(body, sha256) }, isUntrusted: false };
    },
  };

  async function instructMade(
    session: Session,
    name: AgentName,
    before: string,
    body: string,
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string } | "changed"> {
    const more = { agent: name.agent, version: versionOf(body, sha256), clean: session.isClean };
    const entry = { ...asked.entry("delegation", "instructed", name.agent, more), ...session.who() };
    const kept = await asked.links.instruct(name, before, body, entry);
    if (!kept.ok) return kept;
    return kept.value === null ? "changed" : { ok: true };
  }
}

/** Its own chain says whether it may; that it is not itself, and not more than it holds, the gate says. */
function updateRequests(input: JsonObject, reading: Reading, session: Session): Result<readonly Request[]> {
  const id = textIn(input, "id", limits.agentIdCharactersMax) ?? "";
  if (!isAgentId(id)) return refuse("bad_value", "`id` must be an agent's id, such as scout");
  const body = textIn(input, "instructions", limits.instructionsCharactersMax);
  if (body !== null && (/\p{Surrogate}/u.test(body) || body.includes("\0")))
    return refuse("bad_value", "instructions must be text without NUL and unpaired surrogates");
  const granted = grantRequests(input, id, reading);
  if (!granted.ok) return granted;
  if (body === null)
    return granted.value.length > 0 ? granted : refuse("bad_value", "nothing to change: pass instructions");
  const request = agentRequest("agent.update", id);
  if (!request.ok) return request;
  const isSelf = id === session.facts.name.agent;
  const own = isSelf ? { ...request.value, delegation: { target: id, proposed: [] } } : request.value;
  return done([own, ...granted.value]);
}

/** Agents know each other inside a workspace. */
function targetOf(input: JsonObject, session: Session): AgentName {
  const agent = textIn(input, "id", limits.agentIdCharactersMax) ?? "";
  return { workspace: session.facts.name.workspace, agent };
}

const BROKEN: Carried = failed(
  "not_available",
  "the agent's record is not valid, so its grants are not known",
  "a person must fix it: ambit doctor",
);
const STALE: Carried = failed("version_conflict", "its instructions changed since that version; nothing was written");
const BEYOND = failed("exceeds_grantor_authority", "the agent has grants that you could not delegate");
const NOT_HERE: Carried = failed(
  "not_available",
  "this tool does not change an agent's grants",
  "use agent_grant to delegate your grants; a person adds others: ambit agents grant",
);
