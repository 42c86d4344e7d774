// Who has to agree before an agent's question counts as approved: `approvers: { need: 2, of: [ann, bob, eve] }`.
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName, textsOf } from "../scope/scope-values.ts";
import { entryOf, type Mapping, type TreeNode } from "../tree.ts";

export interface Approvers {
  /** Different people who must agree. */
  readonly need: number;
  /** People whose answer counts; null: everyone's. */
  readonly of: readonly string[] | null;
}

/** Null where the key is not there. `refused`: it is, and was not understood, so that the record grants nothing. */
export type ApproversReading = Approvers | null | "refused";

const needMax = 10;
const peopleMax = 100;
const KEYS: readonly string[] = ["need", "of"];
const EXAMPLE = { fix: "approvers: { need: 2, of: [ann, bob, eve] }" } as const;

/** The name a person proves to be there under. Plain letters, so that no two names look alike. */
export function isPersonName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(text);
}

export function readApprovers(record: Mapping, diagnostics: Diagnostics): ApproversReading {
  const entry = entryOf(record, "approvers");
  if (entry === null) return null;
  const { value } = entry;
  if (value.kind === "scalar") {
    const need = readNeed(value, diagnostics);
    return need === null ? "refused" : { need, of: null };
  }
  if (value.kind === "list") {
    diagnostics.error("wrong_type", value.span, "`approvers` is a number, or a map with `need` and `of`", EXAMPLE);
    return "refused";
  }
  return readMap(value, diagnostics) ?? "refused";
}

function readMap(map: Mapping, diagnostics: Diagnostics): Approvers | null {
  const strange = map.entries.filter(({ key }) => !KEYS.includes(key));
  for (const { key, keySpan } of strange) {
    const suggestion = nearestName(key, KEYS);
    diagnostics.error("unknown_key", keySpan, `\`approvers\` has no key ${quoteText(key)}`, {
      suggestion,
      fix: suggestion,
    });
  }
  const written = entryOf(map, "need");
  if (written === null) diagnostics.error("missing_field", map.span, "`approvers` needs a number: `need`", EXAMPLE);
  const need = written === null ? null : readNeed(written.value, diagnostics);
  const people = entryOf(map, "of");
  const of = people === null ? null : readPeople(people.value, diagnostics, map);
  if (strange.length > 0 || need === null || of === "refused") return null;
  if (of === null || need <= of.length) return { need, of };
  diagnostics.error("bad_value", map.span, `\`need\` is ${need}, but \`of\` lists only ${of.length} people`, EXAMPLE);
  return null;
}

function readNeed(node: TreeNode, diagnostics: Diagnostics): number | null {
  const value = node.kind === "scalar" ? node.value : null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= needMax) return value;
  if (typeof value === "number")
    diagnostics.error("bad_value", node.span, `\`need\` is a number from 1 to ${needMax}`, EXAMPLE);
  else diagnostics.error("wrong_type", node.span, `\`need\` is a number, not ${kindName(node)}`, EXAMPLE);
  return null;
}

function readPeople(value: TreeNode, diagnostics: Diagnostics, map: Mapping): readonly string[] | "refused" {
  const names = textsOf({ key: "of", keySpan: map.span, value }, diagnostics);
  if (names === null) return "refused";
  const found = new Set<string>();
  let isWrong = false;
  for (const { text, span } of names) {
    if (!isPersonName(text)) diagnostics.error("bad_value", span, `${quoteText(text)} is not a person's name`, EXAMPLE);
    else if (found.has(text)) diagnostics.error("bad_value", span, `${quoteText(text)} is listed twice`);
    else {
      found.add(text);
      continue;
    }
    isWrong = true;
  }
  if (found.size > peopleMax) diagnostics.error("too_large", value.span, `at most ${peopleMax} people can be named`);
  return isWrong || found.size > peopleMax ? "refused" : [...found];
}

/** Everyone who may approve under `wanted` may under `held`, and `held` needs no more of them. Null: one person, anyone. */
export function approversWithin(wanted: Approvers | null, held: Approvers | null): boolean {
  if ((wanted?.need ?? 1) < (held?.need ?? 1)) return false;
  const allowed = held?.of ?? null;
  if (allowed === null) return true;
  return wanted?.of?.every((name) => allowed.includes(name)) ?? false;
}

/** What satisfies both. If too few people count for both, no approval is possible. */
export function stricterApprovers(left: Approvers | null, right: Approvers | null): Approvers | null {
  if (left === null || right === null) return left ?? right;
  const { of } = right;
  return {
    need: Math.max(left.need, right.need),
    of: left.of === null ? of : of === null ? left.of : left.of.filter((name) => of.includes(name)),
  };
}
