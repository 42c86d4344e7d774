// Caveats as a lattice, their programs, and the gate over granted and required.

import { meetChain } from "../../src/core/authority/meet.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { authorize } from "../../src/core/gate/call.ts";
import type { CaveatsLink } from "../../src/core/notation/caveats/caveats.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { readToken } from "../../src/core/notation/tokens/token.ts";
import type { Entry } from "../../src/core/ports/stores/commit.ts";
import { caveatsChain, caveatsLink, normalCaveats, normalScope, printCaveats, wholeCaveats } from "./caveats.ts";
import { DispatchState } from "./dispatch-state.ts";
import { answerOf, decisionOf, isWithin, linkOf, momentOf, NO_SPAN, READING } from "./machine.ts";
import { allowOrDeny, type Compared, type Family, notRun, type Outcome, ourCode, yesOrNo } from "./outcome.ts";
import { type RequestValues, requestFor } from "./requests.ts";
import { BadRow, flagAt, has, mapAt, mapOr, numberAt, type Row, textAt, textsAt } from "./row.ts";

export const lattice: Family = {
  answers: ["a_leq_b", "meet"],
  run: (row) => {
    const axis = textAt(row, "axis") === "count" ? "max_calls" : "exec";
    const [left, right] = ["a", "b"].map((side) => caveatsLink({ [axis]: row[side] as Json })) as [
      CaveatsLink,
      CaveatsLink,
    ];
    const below =
      axis === "exec" ? isWithin(left.grants, right.grants) : (left.calls ?? Infinity) <= (right.calls ?? Infinity);
    const met = printCaveats(meetChain(caveatsChain(left, right)).grants, [left, right]);
    const expected = { a_leq_b: flagAt(row, "a_leq_b"), meet: normalScope(row["meet"] as Json) };
    const got = { a_leq_b: below, meet: met?.[axis] ?? null };
    return { kind: "compared", expected, got, wider: below && !expected.a_leq_b };
  },
};

export const execScope: Family = {
  answers: ["allowed"],
  run: (row) => {
    const { grants } = caveatsLink({ exec: row["exec"] as Json });
    const request = requestFor("proc.exec", { argv: [textAt(row, "program")] });
    return yesOrNo(
      "allowed",
      flagAt(row, "allowed"),
      request.ok && decisionOf(grants, request.value).outcome === "allow",
    );
  },
};

export const gate: Family = {
  answers: ["authorize", "code", "effective", "then", "charged", "results"],
  run: (row) => {
    if (has(row, "calls") || has(row, "gate_budget")) return runBudget(row);
    if (!has(row, "granted"))
      return notRun(has(row, "rule") ? "a rule in prose" : "there is nothing to decide in this row");
    return runGate(row);
  },
};

async function runGate(row: Row): Promise<Outcome> {
  const granted = caveatsLink(mapAt(row, "granted"));
  const required = has(row, "required") ? caveatsLink(mapAt(row, "required")) : null;
  const chain = caveatsChain(granted, required);
  const expected: Record<string, Json> = {};
  const got: Record<string, Json> = {};
  if (has(row, "effective")) {
    expected["effective"] = normalCaveats(wholeCaveats(mapAt(row, "effective")));
    got["effective"] = printCaveats(meetChain(chain).grants, required === null ? [granted] : [granted, required]);
  }
  const answers = Object.entries(mapOr(row, "then")).map(([words, answer]) =>
    thenOf(words, answer, meetChain(chain).grants),
  );
  if (answers.length > 0) {
    expected["requests"] = Object.fromEntries(answers.map(({ words, expected: one }) => [words, one]));
    got["requests"] = Object.fromEntries(answers.map(({ words, got: one }) => [words, one]));
  }
  if (has(row, "authorize")) {
    const { outcome, code, charged } = await authorized(
      chain,
      typeof row["gate_generation"] === "number" ? row["gate_generation"] : 0,
    );
    expected["authorize"] = textAt(row, "authorize");
    got["authorize"] = outcome;
    if (has(row, "code")) expected["code"] = ourCode(textAt(row, "code"));
    if (has(row, "charged")) expected["charged"] = flagAt(row, "charged");
    Object.assign(got, { code, charged });
  }
  const wider = expected["authorize"] === "deny" && got["authorize"] === "ok";
  return { kind: "compared", expected, got, wider: wider || answers.some((one) => one.wider) };
}

const callsMax = 1000;

/** Consecutive calls against one account in a real store; a refusal costs nothing, so further ones change nothing. */
async function runBudget(row: Row): Promise<Outcome> {
  const granted = caveatsLink({ ...mapOr(row, "granted"), max_calls: { at_most: numberAt(row, "gate_budget") } });
  const [first] = caveatsChain(granted, null);
  const memory = readToken("memory.read", { reading: READING, diagnostics: new Diagnostics(), span: NO_SPAN });
  const invoke = readToken("tool.invoke", { reading: READING, diagnostics: new Diagnostics(), span: NO_SPAN });
  if (memory === null || invoke === null) throw new Error("our own tokens do not parse");
  const state = await DispatchState.open([[linkOf([memory, invoke], { calls: first.link.calls })]]);
  const results: string[] = [];
  try {
    for (let call = 0; call < Math.min(numberAt(row, "calls"), callsMax); call++) {
      const { isAllowed, code } = await state.call("memory_get", { key: "a" });
      results.push(isAllowed ? "ok" : (code ?? "deny"));
    }
  } finally {
    state.close();
  }
  const expected = textsAt(row, "results").map((one) => (one === "ok" ? one : ourCode(one)));
  const wider = results.some((one, at) => one === "ok" && expected[at] !== "ok");
  return { kind: "compared", expected: { results: expected }, got: { results }, wider };
}

/** A call of a tool of ours without requests, through the real gate with an account book that only records. */
async function authorized(
  chain: ReturnType<typeof caveatsChain>,
  generation: number,
): Promise<{ outcome: string; code: string | null; charged: boolean }> {
  const entries: Entry[] = [];
  const tool = { name: "shell", requirement: chain[1] ?? null, requests: () => ({ ok: true as const, value: [] }) };
  const answer = await authorize(
    { agent: "agent", authority: [[chain[0]]] },
    { tool: tool.name, input: {} },
    () => tool,
    momentOf(chain, generation),
    [],
    {
      approvals: async () => ({ kind: "refused", reason: "no approver is present" }),
      commit: async (entry) => {
        entries.push(entry);
        return { ok: true, receipt: "r" };
      },
    },
  );
  return {
    outcome: answer.ok ? "ok" : "deny",
    code: answer.ok ? null : answer.code,
    charged: entries.some(({ charges }) => charges.length > 0),
  };
}

const AXES: Readonly<Record<string, (target: string) => [string, RequestValues]>> = {
  exec: (target) => ["proc.exec", { argv: [target] }],
  net: (target) => ["net.get", { host: target }],
  fs_read: (target) => ["fs.read", { path: target }],
  read: (target) => ["fs.read", { path: target }],
  fs_write: (target) => ["fs.write", { path: target }],
  write: (target) => ["fs.write", { path: target }],
};

/** `exec rm`: an axis and the value requested on it. */
function thenOf(words: string, answer: Json, grants: CaveatsLink["grants"]): Compared & { readonly words: string } {
  const space = words.indexOf(" ");
  const ask = AXES[words.slice(0, Math.max(space, 0))];
  if (ask === undefined) throw new BadRow(`${JSON.stringify(words)} is not an axis and a target`);
  const request = requestFor(...ask(words.slice(space + 1)));
  const got: JsonObject = request.ok ? answerOf(decisionOf(grants, request.value)) : { expect: "deny" };
  const compared = allowOrDeny({ expect: answer }, { expect: got["expect"] as Json });
  return { ...compared, words };
}
