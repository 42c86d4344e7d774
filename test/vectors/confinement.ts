// Planning a sandbox: which roots can be one, and which variables never get into one. Rows of attempts are tried in a running
// sandbox.

import { tree } from "../../src/core/authority/axes/path.ts";
import { ANY } from "../../src/core/authority/axes/scope.ts";
import { verbEntry } from "../../src/core/authority/catalog.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import { compile } from "../../src/core/authority/compiled.ts";
import { UNCONDITIONAL } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { RunRefusal } from "../../src/core/ports/process.ts";
import { DEFAULT_LIMITS, type PlanFacts } from "../../src/sandbox/plan/plan-facts.ts";
import { parsePlanRoot, planDecision } from "../../src/sandbox/plan/plan-root.ts";
import { planOf } from "../../src/sandbox/plan/planning.ts";
import { environmentOf } from "../../src/sandbox/plan/start/environment.ts";
import { PATH_SETTINGS } from "./machine.ts";
import { type Family, type Outcome, yesOrNo } from "./outcome.ts";
import { flagAt, has, mapAt, type Row, textAt, textOr, textsAt } from "./row.ts";
import { attemptOutcome } from "./sandbox-attempts.ts";

const FROM_HOST = "a value of the host";

/** Set on the host and named in the configuration: not even then. */
export const deniedVariables: Family = {
  answers: ["expect"],
  run: (row) => {
    const name = textAt(row, "name");
    const host = {
      user: "u",
      terminal: FROM_HOST,
      language: FROM_HOST,
      timeZone: FROM_HOST,
      allowed: [[name, FROM_HOST]],
    } as const;
    const made = environmentOf({ root: null, runtime: [], network: null }, host);
    const got = made.some(([known, value]) => known === name && value.includes(FROM_HOST)) ? "kept" : "dropped";
    const expected = textAt(row, "expect");
    return {
      kind: "compared",
      expected: { expect: expected },
      got: { expect: got },
      wider: expected === "dropped" && got === "kept",
    };
  },
};

export const sandboxProfile: Family = {
  answers: ["valid", "error", "expect", "ambit_note", "measured_linux"],
  run: (row) => (has(row, "profile") ? profile(row) : attemptOutcome(row)),
};

function profile(row: Row): Outcome {
  const roots = textsAt(mapAt(row, "profile"), "roots");
  const refused = roots.map(rootRefused).find((one) => one !== null) ?? null;
  const isValid = roots.length > 0 && refused === null;
  const error = textOr(row, "error", null);
  if (error === null) return yesOrNo("valid", flagAt(row, "valid"), isValid);
  return {
    kind: "compared",
    expected: { valid: flagAt(row, "valid"), error },
    got: { valid: isValid, error: refused?.message.includes(error) === true ? error : (refused?.message ?? null) },
    wider: isValid && !flagAt(row, "valid"),
  };
}

const FACTS: PlanFacts = {
  home: PATH_SETTINGS.home,
  workspaces: [],
  ours: [["home", "u", ".local", "state", "ambit"]],
  program: ["opt", "ambit"],
  runtime: [],
  protectedPaths: PATH_SETTINGS.protectedPaths,
  found: [],
  listed: [],
  host: { user: "u", terminal: null, language: null, timeZone: null, allowed: [] },
  limits: DEFAULT_LIMITS,
  moment: { now: 0, clean: true, generation: 0, revoked: null, exhausted: null },
};

/** Why there is no sandbox for a process that was granted this very root; null if there is one. */
function rootRefused(text: string): RunRefusal | null {
  const root = parsePlanRoot(text);
  const verb = verbEntry("proc.eval");
  if (!root.ok) return root.refused;
  if (verb === null) throw new Error("no proc.eval");
  const scopes = [{ kind: "sequences", of: [tree(root.value)] } as const, ANY];
  const grant = { verb, scopes, conditions: UNCONDITIONAL, root: null, span: null, implied: null };
  const link = {
    id: "own",
    role: "own",
    issuer: "",
    holder: "",
    grants: [grant],
    validity: ALWAYS,
    calls: null,
  } as const;
  const authority: Authority = [[compile(link)]];
  const request = { verb, values: [{ segments: root.value, guarded: null }, "ro"] };
  const decided = planDecision(authority, request, judge(authority, request, FACTS.moment), 0);
  if (decided === null) throw new Error(`the row's own grant does not cover ${text}`);
  const planned = planOf(decided, FACTS);
  return planned.ok ? null : planned.refused;
}
