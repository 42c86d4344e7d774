// Calls of the tools over records and agents, and the requests of each before anything is done.

import type { Grant } from "../../src/core/authority/grant.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { decideCall } from "../../src/core/gate/call-decision.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import { RecordsFixture } from "../tools/records-fixture.ts";
import { treeOf } from "./json-tree.ts";
import { grantTexts, linkOf, momentOf, PATH_SETTINGS, READING, sameAuthority } from "./machine.ts";
import type { Compared, Family } from "./outcome.ts";
import { has, listAt, mapOr, type Row, textAt, textsAt } from "./row.ts";

const NAMES: ReadonlyMap<string, string> = new Map([
  ["search_records", "records_search"],
  ["get_record", "records_read"],
  ["create_record", "records_create"],
  ["update_record", "records_update"],
  ["delete_record", "records_delete"],
]);

export const toolRequests: Family = {
  answers: ["requests", "granted", "error"],
  run: async (row) => {
    const fixture = new RecordsFixture();
    try {
      return await asked(row, fixture);
    } finally {
      fixture.remove();
    }
  },
};

async function asked(row: Row, fixture: RecordsFixture): Promise<Compared> {
  const name = NAMES.get(textAt(row, "tool")) ?? textAt(row, "tool");
  // A record that every query finds, so that there is something to request.
  fixture.put("x", "---\nclass: note\n---\nx\n");
  fixture.specs = ["records.read"];
  if (!fixture.tools.some((tool) => tool.name === name)) return compared(row, { error: unknown(name) });
  const found = await fixture.requests(name, mapOr(row, "input"));
  if (!found.ok) return compared(row, { error: "invalid_input" });
  const verbs = found.value.map(({ verb }) => verb.verb).sort();
  const proposed = found.value.flatMap(({ delegation }) => delegation?.proposed ?? []);
  return compared(row, { requests: verbs }, proposed);
}

/** The gate's answer for an unknown tool. */
function unknown(name: string): string {
  const chain = [linkOf([])] as const;
  const decision = decideCall(
    { agent: "agent", authority: [chain] },
    { tool: name, input: {} },
    () => null,
    momentOf(chain),
    PATH_SETTINGS.protectedPaths,
  );
  return decision.outcome === "deny" ? decision.code : decision.outcome;
}

function compared(row: Row, got: JsonObject, proposed: readonly Grant[] = []): Compared {
  const expected: Record<string, Json> = {};
  const answer: Record<string, Json> = { ...got };
  if (has(row, "error")) expected["error"] = textAt(row, "error") === "unknown_tool" ? "unknown_tool" : "invalid_input";
  if (has(row, "requests")) expected["requests"] = [...textsAt(row, "requests")].sort();
  if (has(row, "granted")) {
    // Written out as a list, so that both sides get a record's default grants.
    const { grants } = readRecord(treeOf({ capabilities: listAt(row, "granted") }), READING);
    expected["granted"] = grantTexts(grants);
    answer["granted"] = sameAuthority(grants, proposed) ? grantTexts(grants) : grantTexts(proposed);
  }
  const asks = (verbs: Json | undefined): readonly string[] => (Array.isArray(verbs) ? (verbs as string[]) : []);
  const less = asks(expected["requests"]).some((verb) => !asks(answer["requests"]).includes(verb));
  return { kind: "compared", expected, got: answer, wider: less || (has(row, "error") && !("error" in got)) };
}
