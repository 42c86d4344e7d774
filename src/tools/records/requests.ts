// What a call of a records tool asks for. An agent is no record: whatever touches one asks for `agent.*`, whichever tool it is.

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
 * A record by its class and its id. A class that is not known, or that no pattern could name, is covered only where every
 * class is: so nobody learns from a refusal whether a record is there.
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

/** An id under which a file can lie. */
export function recordId(id: string): Result<readonly string[]> {
  const name = parseRecordId(id);
  if (!name.ok) return name;
  const long = name.value.segments.find((segment) => utf8Length(segment) > segmentBytesMax);
  if (long !== undefined) return refuse("too_long", `a part of an id has at most ${segmentBytesMax} bytes`);
  if (id.endsWith(".md")) return refuse("bad_value", "an id must not end in .md");
  return done(name.value.segments);
}

const AGENTS = /^agents(?:\/|$)/i;

/** The agent that an id is about, where it lies among agents; null for the id of a record. */
export function agentOfId(id: string): string | null {
  return AGENTS.test(id) ? id.replace(AGENTS, "") || id : null;
}

export type AgentAct = "create" | "update" | "delete" | "look";

/** Null: it is about a record. */
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
  // What an agent is told, and what it may do, are two things; to change the one does not ask for the other.
  const isTold = ["title", "tags", "body", "class"].some((key) => member(input, key) !== undefined);
  if (act === "update" && granted.value.length > 0 && !isTold) return granted;
  const own = agentRequest(act === "look" ? "agent.discover" : `agent.${act}`, agent);
  return own.ok ? done([own.value, ...granted.value]) : own;
}
