// The tools agent_grant and agent_create: grants that an agent passes on to another one, which exists or is created with them.
import { parseName } from "../../core/authority/axes/name.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import { agentIdOf, alikeAgentId, parseAgentId } from "../../core/base/agent-id.ts";
import { flagIn, numberOr, textIn, textsIn } from "../../core/base/fields.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { emptySpec, parseSpecs, specFault } from "../../core/notation/compact/grant-specs.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { invalid, type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import { agentIdCharactersMax, instructionsCharactersMax } from "../agents/limits.ts";
import { AGENT_CREATE_DEFINITION, AGENT_GRANT_DEFINITION, secondsMax, specsMax } from "./definitions.ts";
import {
  exceeds,
  type Granter,
  hasCountedPledge,
  isAboutTools,
  leftOut,
  type PassedGrants,
  parentFor,
  passablePart,
  toolsFor,
} from "./pass-on.ts";

/** Expiry and number of calls of what is passed on; null for none. */
export interface GrantLimits {
  readonly expires: number | null;
  readonly calls: number | null;
}

/** A delegation to be stored: one link, and one more if the tools of a new agent rest on another parent. */
export interface NewDelegation {
  readonly target: string;
  readonly parent: string | null;
  readonly specs: readonly string[];
  /** Tools that a new agent inherits; null if its grants mention tools, or it exists already. */
  readonly tools: { readonly parent: string | null; readonly specs: readonly string[] } | null;
  readonly seconds: number | null;
  readonly calls: number | null;
  readonly isToken: boolean;
  /** Instructions of a new agent; null if the agent exists. */
  readonly instructions: string | null;
}

/** Delegations of a session's workspace: what it may pass on, and where it is stored. */
export interface DelegationAccess {
  granter(): Granter;
  /** How the session's folder reads specs. */
  reading(): Reading;
  /** The grants that the call was decided on; null if there are none. */
  readonly decided: readonly Grant[] | null;
  now(): number;
  /** Whether there is room for one more delegation. */
  hasRoom(): boolean;
  exists(agent: string): boolean;
  /** Whether an agent has a grant of `tool.invoke` by its record or by a delegation. */
  hasTools(agent: string): boolean;
  /** Ids of all agents of the workspace. */
  ids(): readonly string[];
  /** `token` is null unless the delegation is one. */
  store(given: NewDelegation): Promise<UseResult<{ readonly link: string; readonly token: string | null }>>;
  /** Writes the grants into a record, or a new one with instructions. INVARIANT: the entry is on disk before the file changes. */
  write(
    given: Pick<NewDelegation, "target" | "parent" | "specs" | "instructions">,
    limits: GrantLimits,
  ): Promise<UseResult<{ readonly record: string }>>;
}

/** The power of the delegation tools. */
export interface DelegationPowers {
  readonly delegation: DelegationAccess;
}

type AgentKey = "agent" | "id";

const grantTool: BuiltinTool<DelegationPowers> = {
  ...AGENT_GRANT_DEFINITION,
  requests: (input, { notation }) => {
    const proposed = proposal(input, "agent", notation);
    return proposed.ok ? done(flagIn(input, "attenuate") ? [] : [proposed.value]) : proposed;
  },
  derive: async (input, { notation }, { delegation }) => attenuated(input, "agent", notation, delegation),
  execute: async (input, { delegation }) => {
    const target = agentIdIn(input, "agent");
    return target === null ? BAD : passOn(input, delegation, target, null);
  },
};

const createTool: BuiltinTool<DelegationPowers> = {
  ...AGENT_CREATE_DEFINITION,
  requests: (input, { notation }) => {
    const create = requestAbout("agent.create", agentIdIn(input, "id") ?? "");
    const proposed = proposal(input, "id", notation);
    if (!create.ok) return create;
    if (!proposed.ok) return proposed;
    return done(flagIn(input, "attenuate") ? [create.value] : [create.value, proposed.value]);
  },
  derive: async (input, { notation }, { delegation }) => attenuated(input, "id", notation, delegation),
  execute: async (input, { delegation }) => {
    const target = agentIdIn(input, "id");
    const instructions = textIn(input, "instructions", instructionsCharactersMax);
    return target === null || instructions === null ? BAD : passOn(input, delegation, target, instructions);
  },
};

export const DELEGATION_TOOLS: readonly BuiltinTool<DelegationPowers>[] = [grantTool, createTool];

/** The id of an agent, by either spelling. */
function agentIdIn(input: JsonObject, key: AgentKey): string | null {
  const id = textIn(input, key, agentIdCharactersMax);
  return id === null ? null : agentIdOf(id);
}

function requestAbout(verb: string, name: string): Result<Request> {
  const entry = verbEntry(verb);
  const parsed = parseName(name);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  return parsed.ok ? done({ verb: entry, values: entry.axes.map(() => parsed.value) }) : parsed;
}

/** `agent.grant` for the named agent, with the grants as they are written. */
function proposal(input: JsonObject, key: AgentKey, reading: Reading): Result<Request> {
  const target = agentIdIn(input, key);
  const specs = textsIn(input, "grants", specsMax);
  if (target === null || specs === null || specs.length === 0)
    return refuse("bad_value", "`grants` must be a list of specs");
  const id = parseAgentId(target);
  if (!id.ok) return id;
  const request = requestAbout("agent.grant", target);
  if (!request.ok) return request;
  const proposed = parseSpecs(specs, reading);
  if (proposed === null) return refuse("bad_value", specFault("grant", specs, reading));
  const empty = emptySpec("grant", specs, proposed);
  if (empty !== null) return refuse("bad_value", empty);
  return done({ ...request.value, delegation: { target, proposed } });
}

/** With `attenuate` the request is for the part that the session may pass on. */
function attenuated(
  input: JsonObject,
  key: AgentKey,
  reading: Reading,
  delegation: DelegationAccess,
): Result<readonly Request[]> {
  if (!flagIn(input, "attenuate")) return done([]);
  const request = proposal(input, key, reading);
  if (!request.ok || request.value.delegation === undefined) return request.ok ? done([request.value]) : request;
  const { target, proposed } = request.value.delegation;
  const part = passablePart(delegation.granter(), target, proposed);
  // If nothing of it may be passed on, it is denied as proposed, with an example of what is missing.
  return done([part.length === 0 ? request.value : { ...request.value, delegation: { target, proposed: part } }]);
}

/** `instructions`: of a new agent; null for one that exists. */
async function passOn(
  input: JsonObject,
  delegation: DelegationAccess,
  target: string,
  instructions: string | null,
): Promise<UseResult<Json>> {
  const { decided } = delegation;
  const seconds = numberOr(input, "seconds", 0, 1, secondsMax);
  const calls = numberOr(input, "calls", 0, 1, Number.MAX_SAFE_INTEGER);
  if (seconds === null || calls === null || decided === null) return BAD;
  if (!delegation.hasRoom()) return useDenial("quota", null, "there are too many delegations");
  const granter = delegation.granter();
  if (hasCountedPledge(granter))
    return exceeds("this session's pledge has a budget or an expiry and cannot be delegated");
  const isWritten = flagIn(input, "write");
  const parent = parentFor(granter, target, decided, isWritten);
  if (!parent.ok) return parent;
  const rests = { target, parent: parent.value, specs: decided.map(compactText) };
  // Whole seconds: the moment is written into the record for people to read.
  const expires = seconds === 0 ? null : Math.floor(delegation.now() / 1000 + seconds) * 1000;
  const limits: GrantLimits = { expires, calls: calls === 0 ? null : calls };
  const omitted = flagIn(input, "attenuate")
    ? { left_out: leftOut(textsIn(input, "grants", specsMax) ?? [], decided, delegation.reading()) }
    : {};
  if (isWritten && instructions === null)
    return writeGrants(input, delegation, { ...rests, instructions }, limits, omitted);
  if (instructions !== null && delegation.exists(target)) return invalid(null, `the agent ${target} already exists`);
  const alike = alikeAgentId(target, delegation.ids());
  if (alike !== null) return invalid(null, `${target} looks like the agent ${alike}`);
  if (isWritten) return writeGrants(input, delegation, { ...rests, instructions }, limits, omitted);
  // INVARIANT: a delegation adds only its written grants to an existing agent.
  const inherited: PassedGrants | null =
    instructions === null || decided.some(isAboutTools) ? null : toolsFor(granter, target, parent.value);
  const given: NewDelegation = {
    ...rests,
    tools: inherited === null ? null : { parent: inherited.parent, specs: inherited.grants.map(compactText) },
    seconds: seconds === 0 ? null : seconds,
    calls: limits.calls,
    isToken: flagIn(input, "token") && instructions === null,
    instructions,
  };
  const stored = await delegation.store(given);
  if (!stored.ok) return stored;
  const { link, token } = stored.value;
  const grants = [...given.specs, ...(given.tools?.specs ?? [])];
  const isUsable = decided.some(isAboutTools) || given.tools !== null || delegation.hasTools(target);
  return useResult({ link, agent: target, grants, token, ...omitted, ...(isUsable ? {} : { note: noTools(target) }) });
}

function noTools(agent: string): string {
  return `${agent} has no tool.invoke, so it cannot call a tool with this grant: delegate tool.invoke{tools=[builtin:**]} too`;
}

/**
 * No link: the record says it, once a person trusts the change. Its end and its budget are written with it, and therefore
 * counted once.
 */
async function writeGrants(
  input: JsonObject,
  delegation: DelegationAccess,
  given: Pick<NewDelegation, "target" | "parent" | "specs" | "instructions">,
  limits: GrantLimits,
  omitted: JsonObject,
): Promise<UseResult<Json>> {
  if (flagIn(input, "token")) return invalid(null, "a token is a delegation, and cannot be written to a record");
  const written = await delegation.write(given, limits);
  if (!written.ok) return written;
  const { target, specs } = given;
  return useResult({ agent: target, grants: specs, record: written.value.record, waits: WAITS, ...omitted });
}

/** For the model: who has to do what. */
const WAITS = "no effect until a person reviews it: ambit trust";

const BAD = invalid(
  null,
  "needs an agent's id, and grants as a list of specs such as net.get{hosts=[api.example.com]}",
);
