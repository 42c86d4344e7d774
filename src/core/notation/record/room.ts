// `room: [scout, coder]` of a record: the agent writes notes, and reads those of the agents that are named. The same line in the
// records of both is a transcript that they share.
import { parseAgentName } from "../../authority/axes/name.ts";
import { type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import type { Grant } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import { readGrant } from "../scope/scope-reader.ts";
import { kindName, textsOf } from "../scope/scope-values.ts";
import type { Entry, TreeNode } from "../tree.ts";

export const ROOM = "room";

/**
 * INVARIANT: a room is the agents that this record names, one by one. A room by a name of its own would widen this record when
 * another file changes, so such a name has no effect. A room with a mistake in it grants nothing.
 */
export function readRoom(entry: Entry, reading: Reading, diagnostics: Diagnostics): readonly Grant[] {
  const { value } = entry;
  if (value.kind !== "list") {
    const named = value.kind === "scalar" && typeof value.value === "string" ? value.value : null;
    const fix = named !== null && isAgent(named) ? `room: [${named}]` : "room: [scout]";
    const message = `\`room\` has no effect: it is a list of the agents whose notes and denials are read, not ${kindName(value)}`;
    if (named === null) diagnostics.error("wrong_type", value.span, message, { fix });
    else diagnostics.warning("wrong_type", value.span, message, { fix });
    return [];
  }
  const members = textsOf(entry, diagnostics);
  if (members === null) return [];
  const pattern = members.find(({ text }) => !isAgent(text));
  if (pattern !== undefined) {
    const message = "a room names each agent; other patterns are written as a grant";
    diagnostics.error("bad_value", pattern.span, message, { fix: "room: [scout]" });
    return [];
  }
  const { span } = value;
  const scalar = (text: string): TreeNode => ({ kind: "scalar", value: text, span });
  const items = members.map(({ text }) => scalar(text));
  const agents: Entry = { key: "agents", keySpan: entry.keySpan, value: { kind: "list", items, span } };
  const context = { reading, diagnostics, span, implied: ROOM, root: null };
  const scope = { kind: "map", entries: [agents], span } as const;
  return ["obs.append", "obs.query"].flatMap(
    (verb) => readGrant(verbEntry(verb) as VerbEntry, verb === "obs.query" ? scope : null, context) ?? [],
  );
}

function isAgent(text: string): boolean {
  return text !== "" && parseAgentName(text).ok;
}
