// The tools agent_update, agent_discover and agent_delete.
import { verbEntry } from "../../core/authority/catalog.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import { agentIdOf, parseAgentId } from "../../core/base/agent-id.ts";
import { numberOr, optionalText, textIn, textsIn } from "../../core/base/fields.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Digest } from "../../core/ports/digest.ts";
import { invalid, type UseDenial, useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import { holdsOf } from "../../runtime/tool/reachable.ts";
import { versionOf } from "../records/find-record.ts";
import type { AgentAccess, AgentPowers, FoundAgent } from "./agent-access.ts";
import { type AgentQueryItem, grantedVerbs, parseAgentQuery } from "./agent-query.ts";
import { agentRequest, authorityKeysIn, grantRequests } from "./authority-keys.ts";
import { AGENT_DELETE_DEFINITION, AGENT_DISCOVER_DEFINITION, AGENT_UPDATE_DEFINITION } from "./definitions.ts";
import { beyond } from "./held-grants.ts";
import * as limits from "./limits.ts";

export function agentTools(digest: Digest): readonly BuiltinTool<AgentPowers>[] {
  return [updateTool(digest), DISCOVER_TOOL, DELETE_TOOL];
}

const agentsPerTurnMax = 16;

/** Finds agents by their grants, among those that the caller may find. */
const DISCOVER_TOOL: BuiltinTool<AgentPowers> = {
  ...AGENT_DISCOVER_DEFINITION,
  requests: (input, { notation }) => {
    const items = itemsIn(input, notation);
    return items.ok ? done([]) : items;
  },
  derive: async (input, { notation }, { agents }) => {
    const items = itemsIn(input, notation);
    return items.ok ? done((await discover(input, agents, items.value)).requests) : items;
  },
  execute: async (input, { agents }) => {
    const held = agents.held();
    if (held === null) return ENDED;
    if (!agents.hasWorkspace) return NO_WORKSPACE;
    const items = itemsIn(input, held.reading);
    if (!items.ok) return BAD;
    const { found, next, requests } = await discover(input, agents, items.value);
    if (!agents.isDecided(requests)) return failed("the agents changed during the call; call again");
    const shown = found.map(({ id, holds }) => {
      const { text, isTrusted } = agents.description(id);
      if (!isTrusted) agents.taint();
      return { id, description: text, holds };
    });
    return useResult({ agents: shown, next });
  },
};

interface Discovery {
  readonly found: readonly { readonly id: string; readonly holds: readonly string[] }[];
  /** The last id of the page, if there may be more. */
  readonly next: string | null;
  /** One for each agent of the page. */
  readonly requests: readonly Request[];
}

async function discover(input: JsonObject, agents: AgentAccess, items: readonly AgentQueryItem[]): Promise<Discovery> {
  const held = agents.held();
  const verb = verbEntry("agent.discover");
  const nothing: Discovery = { found: [], next: null, requests: [] };
  if (held === null || !agents.hasWorkspace || verb === null) return nothing;
  const { authority, reading, moment } = held;
  // A caller that may find no agent at all gets a denial, not an empty list.
  if (!holdsOf(authority, moment)(verb))
    return { ...nothing, requests: [{ verb, values: verb.axes.map(() => undefined) }] };
  const after = optionalText(input, "after", limits.agentIdCharactersMax) ?? "";
  const count = numberOr(input, "count", limits.agentsShownUsual, 1, limits.agentsShownMax) ?? limits.agentsShownUsual;
  // Agents that may not be found are not counted either: the end of a page would reveal them.
  const visible = agents.ids().flatMap((id) => {
    const request = id > after && id !== agents.caller ? agentRequest("agent.discover", id) : null;
    if (request?.ok !== true) return [];
    return judge(authority, request.value, moment).outcome === "allow" ? [{ id, request: request.value }] : [];
  });
  const found: { readonly id: string; readonly holds: readonly string[] }[] = [];
  const requests: Request[] = [];
  let last = 0;
  for (; last < visible.length && last < limits.agentsLookedAtMax && found.length < count; last++) {
    const { id, request } = visible[last] as (typeof visible)[number];
    if (last % agentsPerTurnMax === agentsPerTurnMax - 1) await agents.pause();
    const holds = grantedVerbs(items, agents.authorityOf(id), reading.pathSettings.protectedPaths);
    if (holds === null) continue;
    found.push({ id, holds });
    requests.push(request);
  }
  return { found, next: last < visible.length ? (visible[last - 1]?.id ?? null) : null, requests };
}

function itemsIn(input: JsonObject, reading: Reading): Result<readonly AgentQueryItem[]> {
  const can = textsIn(input, "can", limits.queryItemsMax);
  if (can === null || can.length === 0) return refuse("bad_value", "`can` must be a list of verbs and specs");
  return parseAgentQuery(can, (spec) => parseSpecs([spec], reading)?.[0] ?? null);
}

/** Changes the instructions of an agent whose grants the caller could all delegate. */
function updateTool(digest: Digest): BuiltinTool<AgentPowers> {
  return {
    ...AGENT_UPDATE_DEFINITION,
    requests: (input, { notation, agent }) => updateRequests(input, notation, agent),
    derive: async (input, _, { agents }) => {
      const id = idIn(input);
      const found = textIn(input, "instructions") === null ? null : agents.find(id);
      const request = found === null ? null : exceedingGrant(agents, id, found);
      return done(request === null ? [] : [request]);
    },
    execute: async (input, { agents }) => {
      const id = idIn(input);
      const body = textIn(input, "instructions", limits.instructionsCharactersMax);
      const version = optionalText(input, "version", limits.versionCharactersMax);
      if (authorityKeysIn(input).length > 0) return NOT_HERE;
      if (body === null || version === undefined) return BAD;
      if (!agents.hasWorkspace) return NO_WORKSPACE;
      const found = agents.find(id);
      if (found === null) return unknown(id);
      if (found.kind === "broken") return BROKEN;
      // Delegated to it since the decision.
      const request = exceedingGrant(agents, id, found);
      if (request !== null) return agents.refuse(request, "exceeds_grantor_authority", BEYOND);
      const before = found.kind === "made" ? found.body : found.text.slice(found.bodyStart);
      if (version !== null && versionOf(before, digest) !== version) return STALE;
      const written = await agents.instruct(id, found, body, versionOf(body, digest));
      if (written === "changed") return STALE;
      return written.ok ? useResult({ id, version: versionOf(body, digest) }) : failed(written.message);
    },
  };
}

/** The request that denies an update: for one grant of the agent that the caller could not delegate; null if there is none. */
function exceedingGrant(agents: AgentAccess, id: string, found: FoundAgent): Request | null {
  const held = agents.held();
  const request = agentRequest("agent.update", id);
  if (held === null || !request.ok || found.kind === "broken") return null;
  const grant = beyond(agents.grantsOf(id, found), held.authority, held.reading.pathSettings.protectedPaths);
  // The caller learns one grant of the other agent, and no more.
  return grant === null ? null : { ...request.value, delegation: { target: id, proposed: [grant] } };
}

/** The gate denies an update of the caller itself, and grants that it could not delegate. */
function updateRequests(input: JsonObject, reading: Reading, caller: string): Result<readonly Request[]> {
  const named = parseAgentId(idIn(input));
  if (!named.ok) return named;
  const id = named.value;
  const body = textIn(input, "instructions", limits.instructionsCharactersMax);
  if (body !== null && (/\p{Surrogate}/u.test(body) || body.includes("\0")))
    return refuse("bad_value", "instructions must be text without NUL and unpaired surrogates");
  const granted = grantRequests(input, id, reading);
  if (!granted.ok) return granted;
  if (body === null)
    return granted.value.length > 0 ? granted : refuse("bad_value", "nothing to change: pass instructions");
  const request = agentRequest("agent.update", id);
  if (!request.ok) return request;
  return done([notSelf(request.value, id, caller), ...granted.value]);
}

/** Ends an agent that another agent made, or removes a record; `ambit agents undo` restores a record. */
const DELETE_TOOL: BuiltinTool<AgentPowers> = {
  ...AGENT_DELETE_DEFINITION,
  requests: (input, { agent }) => {
    const id = parseAgentId(idIn(input));
    if (!id.ok) return id;
    const request = agentRequest("agent.delete", id.value);
    return request.ok ? done([notSelf(request.value, id.value, agent)]) : request;
  },
  execute: async (input, { agents }) => {
    const id = idIn(input);
    if (!agents.hasWorkspace) return NO_WORKSPACE;
    const found = agents.find(id);
    if (found === null) return unknown(id);
    const removed = await agents.remove(id, found);
    return removed.ok ? useResult({ id, record: removed.value.record }) : removed;
  },
};

/** The gate denies what an agent does to itself as `self_modification`. */
function notSelf(request: Request, id: string, caller: string): Request {
  return id === caller ? { ...request, delegation: { target: id, proposed: [] } } : request;
}

/** By either spelling. */
function idIn(input: JsonObject): string {
  return agentIdOf(textIn(input, "id", limits.agentIdCharactersMax) ?? "");
}

function failed(message: string, fix: string | null = null): UseDenial {
  return useDenial("not_available", null, message, fix);
}

function unknown(id: string): UseDenial {
  return failed(`no agent ${JSON.stringify(id)} here`);
}

const ENDED = useDenial("revoked", null, "the session has no grants any more");
const BAD = invalid(null, "the arguments do not match the tool's input");
const NO_WORKSPACE = failed("an agent loaded from a file has no workspace with other agents");
const BROKEN = failed(
  "the agent's record is not valid, so its grants are not known",
  "a person must fix it: ambit doctor",
);
const STALE = useDenial("version_conflict", null, "its instructions changed since that version; nothing was written");
const BEYOND = "the agent has grants that you could not delegate";
const NOT_HERE = failed(
  "this tool does not change an agent's grants",
  "use agent_grant to delegate your grants; a person adds others: ambit agents grant",
);
