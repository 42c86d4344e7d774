// Lines of an org file in Markdown: metadata of their scope, or prose; and the kinds of triggers.
import { orgOf, orgTree } from "../../src/agents/disk/org-file.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { entryOf, type Mapping } from "../../src/core/notation/tree.ts";
import { readBudget } from "../../src/org/budget.ts";
import { TRIGGER_ENDPOINT } from "../../src/org/org-line.ts";
import { jsonOfTree } from "../../src/org/org-text.ts";
import type { Family } from "./outcome.ts";
import { has, type Row, textAt, textOr } from "./row.ts";

const ANSWERS = ["key", "value", "prose", "kind", "endpoint"] as const;

export const orgLines: Family = {
  answers: ANSWERS,
  run: (row) => {
    const expected: Record<string, Json> = {};
    for (const key of ANSWERS) if (has(row, key)) expected[key] = row[key] as Json;
    return { kind: "compared", expected, got: has(row, "kind") ? trigger(row) : metadata(row), wider: false };
  },
};

function trigger(row: Row): JsonObject {
  const { triggers } = orgOf({
    name: "org.md",
    text: `# Org\n\n## Triggers\n\n### Trigger\n\n${textAt(row, "line")}\n`,
  });
  const kind = triggers[0]?.kind ?? null;
  return { kind, ...(kind === "webhook" ? { endpoint: TRIGGER_ENDPOINT } : {}) };
}

/** The line as the only one of its scope. */
function metadata(row: Row): JsonObject {
  const scope = textOr(row, "scope", "agent");
  const line = textAt(row, "line");
  const head = { org: "", agent: "## Agents\n\n### Role\n\n", trigger: "## Triggers\n\n### Trigger\n\n" }[scope];
  if (head === undefined) throw new Error(`there is no scope ${scope}`);
  const { tree } = orgTree({ name: "org.md", text: `${head}${line}\n` });
  const items = entryOf(tree, scope === "agent" ? "agents" : "triggers")?.value;
  const first = scope === "org" ? tree : items?.kind === "map" ? items.entries[0]?.value : undefined;
  if (first?.kind !== "map") throw new Error("the line has no scope");
  return found(first, scope);
}

function found(map: Mapping, scope: string): JsonObject {
  const prose = scope === "org" ? "description" : "prompt";
  const entry = map.entries.find(({ key }) => key !== prose && (key !== "role" || scope !== "agent"));
  if (entry === undefined) return { prose: entryOf(map, prose) !== null };
  const budget = entry.key === "budget" ? readBudget(entry, new Diagnostics()) : null;
  return { key: entry.key, value: budget === null ? jsonOfTree(entry.value) : Object.fromEntries(budget) };
}
