// Keys of an agent's record that define its authority. Changing one of them delegates authority, and needs
// `agent.grant`.

import { parseAgentName } from "../../core/authority/axes/name.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import { type Json, type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import { AUTHORITY_KEYS } from "../../core/notation/record/record-keys.ts";
import { jsonTree } from "./json-tree.ts";

/** The keys that grant; the others only restrict how the agent uses its grants. */
const GRANTING: readonly string[] = ["capabilities", "access", "sandbox", "policy", "extends", "room"];

/** The authority keys present in the input. */
export function authorityKeysIn(input: JsonObject): readonly string[] {
  return AUTHORITY_KEYS.filter((key) => member(input, key) !== undefined);
}

/** The grants of these keys, or what is wrong with them. */
export function proposedGrants(input: JsonObject, reading: Reading): Result<readonly Grant[]> {
  const keys = authorityKeysIn(input);
  const written = Object.fromEntries(keys.map((key): [string, Json] => [key, member(input, key) as Json]));
  const { grants, diagnostics } = readRecord(jsonTree(written), reading);
  const mistake = diagnostics.find(({ severity }) => severity === "error");
  if (mistake !== undefined) {
    const meant = mistake.suggestion === null ? "" : `; did you mean ${mistake.suggestion}?`;
    return refuse("bad_value", `${mistake.message}${meant}`);
  }
  // A record without authority keys has a default, but the input is only a part of a record.
  return done(keys.some((key) => GRANTING.includes(key)) ? grants : []);
}

/** A request about one agent. */
export function agentRequest(verb: string, id: string): Result<Request> {
  const entry = verbEntry(verb);
  const name = parseAgentName(id);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  return name.ok ? done({ verb: entry, values: entry.axes.map(() => name.value) }) : name;
}

/** `agent.grant` of what the keys of the input grant; nothing if it has none of them. */
export function grantRequests(input: JsonObject, id: string, reading: Reading): Result<readonly Request[]> {
  if (authorityKeysIn(input).length === 0) return done([]);
  const proposed = proposedGrants(input, reading);
  if (!proposed.ok) return proposed;
  const request = agentRequest("agent.grant", id);
  return request.ok ? done([{ ...request.value, delegation: { target: id, proposed: proposed.value } }]) : request;
}
