// The `tests` of a record: requests with the outcome they must have. The record room runs them.
import { DENIAL_CODES } from "../../authority/decision.ts";
import type { Span } from "../../authority/grant.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { kindName } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../tree.ts";

export type TestOutcome = "allow" | "ask" | "deny";

export interface RecordTest {
  readonly outcome: TestOutcome;
  /** As written, such as `net.get https://api.github.com/x`; empty for a test that can never pass. */
  readonly request: string;
  /** The code a denial must have, or null for any. */
  readonly code: string | null;
  readonly span: Span;
}

const OUTCOMES: readonly TestOutcome[] = ["allow", "ask", "deny"];
const recordTestsMax = 1024;
const requestCharactersMax = 16_384;

/** INVARIANT: a test that was not understood stays, as one that fails: a record whose tests fail grants nothing. */
export function readTests(entry: Entry, diagnostics: Diagnostics): readonly RecordTest[] {
  const { value } = entry;
  if (value.kind === "scalar" && value.value === null) return [];
  if (value.kind !== "list") {
    diagnostics.error("wrong_type", value.span, `\`tests\` must be a list, not ${kindName(value)}`, { fix: EXAMPLE });
    return [failingTest(value.span)];
  }
  if (value.items.length > recordTestsMax) {
    diagnostics.error("too_large", value.span, `\`tests\` has more than ${recordTestsMax} rows`);
    return [failingTest(value.span)];
  }
  return value.items.map((item) => readTest(item, diagnostics) ?? failingTest(item.span));
}

export function failingTest(span: Span): RecordTest {
  return { outcome: "allow", request: "", code: null, span };
}

const EXAMPLE = "tests: [{ allow: net.get https://api.github.com/x }]";

function readTest(node: TreeNode, diagnostics: Diagnostics): RecordTest | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a test is a map such as { allow: request }, not ${kindName(node)}`, {
      fix: EXAMPLE,
    });
    return null;
  }
  const names: readonly string[] = [...OUTCOMES, "code"];
  const unknown = node.entries.find(({ key }) => !names.includes(key));
  if (unknown !== undefined) {
    const message = `unknown key \`${unknown.key.slice(0, 80)}\` in a test`;
    diagnostics.error("unknown_key", unknown.keySpan, message, { suggestion: nearestName(unknown.key, names) });
    return null;
  }
  const outcomes = node.entries.filter(({ key }) => key !== "code");
  const [outcome] = outcomes;
  if (outcome === undefined || outcomes.length > 1) {
    diagnostics.error("missing_field", node.span, "a test has exactly one of allow, ask and deny", { fix: EXAMPLE });
    return null;
  }
  const { value } = outcome;
  const request = value.kind === "scalar" && typeof value.value === "string" ? value.value.trim() : "";
  if (request === "" || request.length > requestCharactersMax) {
    diagnostics.error("wrong_type", value.span, `\`${outcome.key}\` must be a request as text`, { fix: EXAMPLE });
    return null;
  }
  const code = readCode(node, outcome.key as TestOutcome, diagnostics);
  return code === undefined ? null : { outcome: outcome.key as TestOutcome, request, code, span: node.span };
}

/** Undefined for a code that is not understood. */
function readCode(test: Mapping, outcome: TestOutcome, diagnostics: Diagnostics): string | null | undefined {
  const entry = entryOf(test, "code");
  if (entry === null) return null;
  const code = entry.value.kind === "scalar" ? entry.value.value : null;
  const codes: readonly string[] = DENIAL_CODES;
  if (typeof code === "string" && codes.includes(code) && outcome === "deny") return code;
  if (outcome !== "deny") diagnostics.error("bad_value", entry.keySpan, "only a denial has a code");
  else {
    const suggestion = typeof code === "string" ? nearestName(code, codes) : null;
    diagnostics.error("bad_value", entry.value.span, "this is not a denial's code", { suggestion });
  }
  return undefined;
}
