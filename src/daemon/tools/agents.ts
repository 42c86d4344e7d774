// The tools `agent_update`, `agent_discover` and `agent_delete` as the daemon executes them.
import { verbEntry } from "../../core/authority/catalog.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import { agentIdOf, parseAgentId } from "../../core/base/agent-id.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import { sha256 } from "../../platform/digest.ts";
import { holdsOf } from "../../runtime/tool/reachable.ts";
import { type AgentQueryItem, heldOf, parseAgentQuery } from "../../tools/agents/agent-query.ts";
import { agentRequest, authorityKeysIn, grantRequests } from "../../tools/agents/authority-keys.ts";
import {
  AGENT_DELETE_DEFINITION,
  AGENT_DISCOVER_DEFINITION,
  AGENT_UPDATE_DEFINITION,
} from "../../tools/agents/definitions.ts";
import { beyond } from "../../tools/agents/held-grants.ts";
import * as limits from "../../tools/agents/limits.ts";
import { versionOf } from "../../tools/records/find-record.ts";
import { grantsOf } from "../calls/holding.ts";
import type { Daemon } from "../daemon.ts";
import { numberOr, optionalText, textIn, textsIn } from "../input.ts";
import type { AgentRecordWriter } from "../parts.ts";
import type { Session } from "../session.ts";
import { AgentDirectory, type AgentDirectoryOptions, type FoundAgent } from "./agent-directory.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";

export function daemonAgents(asked: DaemonAgentsOptions): readonly OwnerTool[] {
  const place = new AgentDirectory(asked);
  return [updateTool(asked, place), discoverTool(asked, place), deleteTool(asked, place)];
}

interface DaemonAgentsOptions extends AgentDirectoryOptions {
  held(session: Session): ReturnType<Daemon["held"]>;
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  readonly ledger: Pick<Ledger, "append">;
  readonly agentRecords: Pick<AgentRecordWriter, "remove">;
}

function failed(code: string, message: string, fix: string | null = null): Extract<ExecutionResult, { ok: false }> {
  return { ok: false, code, message, fix };
}

const ENDED: ExecutionResult = failed("revoked", "the session has no grants any more");
const BAD: ExecutionResult = failed("invalid_input", "the arguments do not match the tool's input");
const NO_WORKSPACE: ExecutionResult = failed(
  "not_available",
  "an agent loaded from a file has no workspace with other agents",
);

/** `agent_discover`: which agents have which grants, among those that the caller may find. */
function discoverTool(asked: DaemonAgentsOptions, place: AgentDirectory): OwnerTool {
  interface Discovered {
    readonly agents: readonly { readonly id: string; readonly holds: readonly string[] }[];
    readonly next: string | null;
    readonly requests: readonly Request[];
  }

  const look = async (input: JsonObject, session: Session, items: readonly AgentQueryItem[]): Promise<Discovered> => {
    const held = asked.held(session);
    const { workspace } = session.facts.name;
    const verb = verbEntry("agent.discover");
    const nobody: Discovered = { agents: [], next: null, requests: [] };
    if (held === null || workspace === null || verb === null) return nobody;
    const { authority, reading } = held.holding;
    // Whoever may find nobody at all is told so, and not that there is nobody.
    if (!holdsOf(authority, held.moment)(verb))
      return { ...nobody, requests: [{ verb, values: verb.axes.map(() => undefined) }] };
    const after = optionalText(input, "after", limits.agentIdCharactersMax) ?? "";
    const count =
      numberOr(input, "count", limits.agentsShownUsual, 1, limits.agentsShownMax) ?? limits.agentsShownUsual;
    // Whoever may not be found is not counted either: where a page ends would tell of them.
    const found = place.ids(workspace).flatMap((id) => {
      const request = id > after && id !== session.facts.name.agent ? agentRequest("agent.discover", id) : null;
      if (request?.ok !== true) return [];
      return judge(authority, request.value, held.moment).outcome === "allow" ? [{ id, request: request.value }] : [];
    });
    const agents: { readonly id: string; readonly holds: readonly string[] }[] = [];
    const requests: Request[] = [];
    let last = 0;
    for (; last < found.length && last < limits.agentsLookedAtMax && agents.length < count; last++) {
      const { id, request } = found[last] as (typeof found)[number];
      if (last % 16 === 15) await new Promise<void>((next) => setImmediate(next));
      const holds = heldOf(items, place.authorityOf({ workspace, agent: id }), reading.ground.protectedPaths);
      if (holds === null) continue;
      agents.push({ id, holds });
      requests.push(request);
    }
    return { agents, next: last < found.length ? (found[last - 1]?.id ?? null) : null, requests };
  };

  return {
    ...AGENT_DISCOVER_DEFINITION,
    requests: (input, reading) => {
      const items = itemsIn(input, reading);
      return items.ok ? done([]) : items;
    },
    derive: async (input, session, reading) => {
      const items = itemsIn(input, reading);
      return items.ok ? done((await look(input, session, items.value)).requests) : items;
    },
    execute: async ({ input, session, warrant }) => {
      const { workspace } = session.facts.name;
      const held = asked.held(session);
      if (held === null) return ENDED;
      if (workspace === null) return NO_WORKSPACE;
      const items = itemsIn(input, held.holding.reading);
      if (!items.ok) return BAD;
      const { agents, next, requests } = await look(input, session, items.value);
      const isDecided = requests.every((one) =>
        warrant.requests.some((other) => one.verb === other.verb && requestIdentity(one) === requestIdentity(other)),
      );
      if (!isDecided) return failed("not_available", "the agents changed during the call; call again");
      let isUntrusted = false;
      const shown = agents.map(({ id, holds }) => {
        const { text, isTrusted } = place.description(workspace, id);
        isUntrusted ||= !isTrusted;
        return { id, description: text, holds: [...holds] };
      });
      return { ok: true, value: { agents: shown, next }, isUntrusted };
    },
  };
}

function itemsIn(input: JsonObject, reading: Reading): Result<readonly AgentQueryItem[]> {
  const can = textsIn(input, "can", limits.askedMax);
  if (can === null || can.length === 0) return refuse("bad_value", "`can` must be a list of verbs and specs");
  return parseAgentQuery(can, (spec) => grantsOf([spec], reading)?.[0] ?? null);
}

/** `agent_update`: changes the instructions of an agent whose grants the caller could all delegate. */
function updateTool(asked: DaemonAgentsOptions, place: AgentDirectory): OwnerTool {
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
    execute: async ({ input, session }) => {
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

/** `agent_delete`: ends an agent that another agent made, or removes a record; `ambit agents undo` restores a record. */
function deleteTool(asked: DaemonAgentsOptions, place: AgentDirectory): OwnerTool {
  return {
    ...AGENT_DELETE_DEFINITION,
    requests: (input, _, session) => {
      const id = parseAgentId(idIn(input));
      if (!id.ok) return id;
      const request = agentRequest("agent.delete", id.value);
      return request.ok ? done([aboutSelf(request.value, id.value, session)]) : request;
    },
    execute: async ({ input, session }) => {
      const name = targetOf(input, session);
      if (name.workspace === null) return NO_WORKSPACE;
      const found = place.find(name);
      if (found === null) return failed("not_available", `no agent ${JSON.stringify(name.agent)} here`);
      const isMade = asked.links.made(name)?.ended === null;
      const entry = (outcome: string, of: string): LogEntry => ({
        ...asked.entry("delegation", outcome, of, { agent: name.agent, made: isMade }),
        ...session.who(),
      });
      // INVARIANT: the entry is on disk before the agent is gone.
      const noted = await asked.ledger.append([entry("deleted", name.agent)]);
      if (!noted.ok) return noted;
      const removed = found.kind === "made" ? null : asked.agentRecords.remove(name);
      if (removed?.ok === false) return failed("not_available", removed.message);
      for (const link of asked.links.heldBy(name)) {
        const revoked = await asked.links.revoke(link.id, asked.now(), entry("revoked", link.id));
        if (!revoked.ok) return revoked;
      }
      const ended = isMade ? await asked.links.end(name, asked.now(), entry("ended", name.agent)) : null;
      if (ended?.ok === false) return ended;
      return { ok: true, value: { id: name.agent, record: removed?.value ?? null }, isUntrusted: false };
    },
  };
}

/** The gate denies what an agent does to itself as `self_modification`. */
function aboutSelf(request: Request, id: string, { facts }: Session): Request {
  return id === facts.name.agent ? { ...request, delegation: { target: id, proposed: [] } } : request;
}

/** Its own chain says whether it may; that it is not itself, and not more than it holds, the gate says. */
function updateRequests(input: JsonObject, reading: Reading, session: Session): Result<readonly Request[]> {
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
  return done([aboutSelf(request.value, id, session), ...granted.value]);
}

/** Agents know each other inside a workspace. */
function targetOf(input: JsonObject, session: Session): AgentName {
  return { workspace: session.facts.name.workspace, agent: idIn(input) };
}

/** By either spelling. */
function idIn(input: JsonObject): string {
  return agentIdOf(textIn(input, "id", limits.agentIdCharactersMax) ?? "");
}

const BROKEN: ExecutionResult = failed(
  "not_available",
  "the agent's record is not valid, so its grants are not known",
  "a person must fix it: ambit doctor",
);
const STALE: ExecutionResult = failed(
  "version_conflict",
  "its instructions changed since that version; nothing was written",
);
const BEYOND = failed("exceeds_grantor_authority", "the agent has grants that you could not delegate");
const NOT_HERE: ExecutionResult = failed(
  "not_available",
  "this tool does not change an agent's grants",
  "use agent_grant to delegate your grants; a person adds others: ambit agents grant",
);
