// The requests of a records tool. An agent is not a record: every access to one requests `agent.*`, whichever tool it
// is.

import { isAgentClass, parseRecordId } from "../../agents/records/record-data.ts";
import { parseName } from "../../core/authority/axes/name.ts";
import type { Value } from "../../core/authority/axes/scope.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import { utf8Length } from "../../core/base/bytes.ts";
import { type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { agentRequest, authorityKeysIn, grantRequests } from "../agents/authority-keys.ts";
import { segmentBytesMax } from "./limits.ts";

export type RecordVerb = "records.read" | "records.create" | "records.update" | "records.delete";

/**
 * A record by its class and its id. An unknown class, or one that no pattern could name, is covered only if every class
 * is: so a refusal does not reveal whether a record exists.
 */
export function recordRequest(verb: RecordVerb, recordClass: string | null, id: string): Result<Request> {
  const entry = verbEntry(verb);
  const name = parseRecordId(id);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  if (!name.ok) return name;
  const kind = recordClass === null ? null : parseName(recordClass);
  const classValue: Value = kind?.ok === true ? kind.value : undefined;
  return done({ verb: entry, values: [classValue, name.value] });
}

/** An id that is a valid file path. */
export function recordId(id: string): Result<readonly string[]> {
  const name = parseRecordId(id);
  if (!name.ok) return name;
  const long = name.value.segments.find((segment) => utf8Length(segment) > segmentBytesMax);
  if (long !== undefined) return refuse("too_long", `a part of an id has at most ${segmentBytesMax} bytes`);
  if (id.endsWith(".md")) return refuse("bad_value", "an id must not end in .md");
  return done(name.value.segments);
}

const AGENTS = /^agents(?:\/|$)/i;

/** The agent that an id refers to, if it is in the agents folder; null for the id of a record. */
export function agentOfId(id: string): string | null {
  return AGENTS.test(id) ? id.replace(AGENTS, "") || id : null;
}

export type AgentAct = "create" | "update" | "delete" | "look";

/** Null: it refers to a record. */
export function agentRequests(
  act: AgentAct,
  input: JsonObject,
  id: string,
  foundClass: string | null,
  reading: Reading,
): Result<readonly Request[]> | null {
  const written = member(input, "class");
  const isAgent =
    agentOfId(id) !== null ||
    isAgentClass(foundClass) ||
    isAgentClass(typeof written === "string" ? written : null) ||
    authorityKeysIn(input).length > 0;
  if (!isAgent) return null;
  const agent = agentOfId(id) ?? id;
  const granted = grantRequests(input, agent, reading);
  if (!granted.ok) return granted;
  // An agent's instructions and its authority are separate; changing one does not require a grant for the other.
  const isTold = ["title", "tags", "body", "class"].some((key) => member(input, key) !== undefined);
  if (act === "update" && granted.value.length > 0 && !isTold) return granted;
  const own = agentRequest(act === "look" ? "agent.discover" : `agent.${act}`, agent);
  return own.ok ? done([own.value, ...granted.value]) : own;
}
