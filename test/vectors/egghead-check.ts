// An agent's grants against one request, and one list of grants against another.

import type { Chain } from "../../src/core/authority/chain.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { decide } from "../../src/core/gate/decide.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { readSandbox } from "../../src/core/notation/record/hoist.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import type { Mapping } from "../../src/core/notation/tree.ts";
import { DispatchState } from "./dispatch-state.ts";
import { treeOf } from "./json-tree.ts";
import { answerOf, isWithin, linkOf, momentOf, PATH_SETTINGS, READING, rootOf } from "./machine.ts";
import { allowOrDeny, type Compared, type Family, type Outcome, ourCode, yesOrNo } from "./outcome.ts";
import { type RequestValues, requestFor } from "./requests.ts";
import { flagAt, has, listAt, mapAt, mapOr, type Row, textAt, textOr } from "./row.ts";
import { readWritten, type Written, workingFolder } from "./written.ts";

export const check: Family = {
  answers: ["expect", "code", "warning"],
  run: (row) => {
    if (has(row, "tool")) return checkTool(row);
    const reading: Reading = {
      ...READING,
      ceiling: has(row, "config_sandbox") ? rootOf(textAt(row, "config_sandbox")) : null,
    };
    const root = agentRoot(row, reading);
    const held = readWritten(listAt(row, "grants"), root, reading);
    const chain: Chain = [linkOf(held.grants)];
    const agent = textOr(row, "agent", "agent");
    const answers = folders(row).map((folder): JsonObject => {
      const request = requestOf(mapAt(row, "request"), folder, root, reading);
      if (request === null) return { expect: "deny", code: "invalid_input" };
      return answerOf(
        decide({ agent, authority: [chain] }, request, momentOf(chain), PATH_SETTINGS.protectedPaths).decision,
      );
    });
    const got = answers.find((answer) => answer["expect"] !== "deny") ?? (answers[0] as JsonObject);
    return noted(row, "expect", compared(row, got, held));
  },
};

function compared(row: Row, got: JsonObject, { diagnostics }: Written): Compared {
  const expected: Record<string, Json> = { expect: textAt(row, "expect") };
  if (has(row, "code")) expected["code"] = ourCode(textAt(row, "code"));
  if (has(row, "warning")) expected["told"] = true;
  return allowOrDeny(expected, { ...got, told: diagnostics.length > 0 });
}

function agentRoot(row: Row, reading: Reading): readonly string[] | null {
  const node = treeOf(has(row, "agent_sandbox") ? { sandbox: row["agent_sandbox"] as Json } : {}) as Mapping;
  return readSandbox(node.entries[0] ?? null, reading, new Diagnostics()).root;
}

/** Where a process would run: the roots its grants name, else the agent's. */
function folders(row: Row): readonly string[] {
  const verb = verbOf(mapAt(row, "request"));
  const own = listAt(row, "grants").flatMap((item) =>
    isJsonObject(item) && Object.hasOwn(item, verb) ? [workingFolder(item[verb])] : [],
  );
  const agents = ["agent_sandbox", "config_sandbox"].flatMap((key) => textOr(row, key, [])).slice(0, 1);
  return agents.length > 0 ? [...agents, ...own] : [...own, workingFolder(undefined)];
}

function verbOf(request: JsonObject): string {
  return `${textAt(request, "resource")}.${textAt(request, "verb")}`;
}

function requestOf(
  asked: JsonObject,
  folder: string,
  root: readonly string[] | null,
  reading: Reading,
): Request | null {
  const { cmd, argv, granted, ...rest } = asked;
  const words = isJsonList(argv ?? null) ? { argv } : typeof cmd === "string" ? { argv: [cmd] } : {};
  const request = requestFor(verbOf(asked), { ...rest, ...words, root: folder } as RequestValues);
  if (!request.ok) return null;
  if (verbOf(asked) !== "agent.grant") return request.value;
  const target = textOr(asked, "id", "");
  return { ...request.value, delegation: { target, proposed: readWritten(granted ?? [], root, reading).grants } };
}

/** One call, by its name or as an object with its arguments, through the daemon's own dispatch. */
async function checkTool(row: Row): Promise<Outcome> {
  const called = row["tool"];
  const { name, input } = isJsonObject(called ?? null)
    ? { name: textAt(called as JsonObject, "name"), input: mapOr(called as JsonObject, "input") }
    : { name: textAt(row, "tool"), input: mapOr(row, "input") };
  // As a record: what lists capabilities may call the built-in tools.
  const { grants } = readRecord(treeOf({ capabilities: row["grants"] ?? [] }), READING);
  const state = await DispatchState.open([[linkOf(grants)]]);
  try {
    const { isAllowed, code } = await state.call(name, input);
    return compared(row, { expect: isAllowed ? "allow" : "deny", code }, { grants: [], diagnostics: [] });
  } finally {
    state.close();
  }
}

export const subset: Family = {
  answers: ["subset"],
  run: (row) => {
    const [child, parent] = [readWritten(listAt(row, "child")), readWritten(listAt(row, "parent"))];
    // A refused item grants nothing, and nothing is within everything: that is not a subset.
    const isRefused = child.diagnostics.some(({ severity }) => severity === "error");
    return noted(
      row,
      "subset",
      yesOrNo("subset", flagAt(row, "subset"), !isRefused && isWithin(child.grants, parent.grants)),
    );
  },
};

/** Where a note states ambit's answer, giving the seed's answer instead is a difference too. */
function noted(row: Row, column: string, answer: Compared): Compared {
  const word = /ambit\b[^>]*->\s*(allow|deny|true|false)/.exec(textOr(row, "ambit_note", ""))?.[1];
  if (word === undefined) return answer;
  const note: Json = word === "true" || word === "false" ? word === "true" : word;
  const isSeeds = answer.got[column] === answer.expected[column];
  if (!isSeeds || note === answer.expected[column]) return answer;
  return { ...answer, expected: { [column]: note }, wider: note === "deny" || note === false };
}
