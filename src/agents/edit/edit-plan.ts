// The plan of an edit, before anything is written: which items, shorthands and specs of a record change.

import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Axis } from "../../core/authority/catalog.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { type Hoist, readSandbox } from "../../core/notation/record/hoist.ts";
import { PRESETS } from "../../core/notation/record/presets.ts";
import { ACCESS_VERBS, type AgentRecord } from "../../core/notation/record/record.ts";
import { ROOM } from "../../core/notation/record/room.ts";
import { entryOf, type Mapping, type Scalar } from "../../core/notation/tree.ts";
import { type AuthorityEdit, isMeant } from "./edit-check.ts";
import { type Item, itemOf, itemsOf, type RemainingEntries } from "./edit-items.ts";
import { type PartResult, withoutPart } from "./edit-part.ts";
import type { GrantSpec, SpecContext } from "./edit-spec.ts";

export interface View {
  readonly node: Mapping;
  readonly record: AgentRecord;
  readonly hoist: Hoist;
  readonly items: readonly Item[] | null;
  readonly context: SpecContext;
}

export function viewOf(node: Mapping, record: AgentRecord, reading: Reading): View {
  const hoist = readSandbox(entryOf(node, "sandbox"), reading, new Diagnostics());
  const context: SpecContext = { reading, root: hoist.root };
  return { node, record, hoist, items: itemsOf(entryOf(node, "capabilities"), context), context };
}

/** The change of an item: other specs in its place, or fewer entries in its lists. */
export type ItemChange =
  | { readonly kind: "specs"; readonly specs: readonly string[] }
  | { readonly kind: "entries"; readonly kept: RemainingEntries };

export interface Plan {
  readonly items: Map<number, ItemChange>;
  readonly added: string[];
  dropsAccess: boolean;
  dropsRoom: boolean;
  readonly droppedPresets: Set<string>;
  /** Shorthands that this edit writes out, by name. */
  readonly dissolved: Set<string>;
}

export type PlanResult =
  | { readonly kind: "plan"; readonly plan: Plan }
  | { readonly kind: "same" }
  | { readonly kind: "refused"; readonly message: string };

export function planGrant(view: View, { grant, text }: GrantSpec): Plan {
  const plan = emptyPlan();
  dropAccess(view, plan);
  dropRoom(view, plan);
  for (const one of view.record.grants)
    if (isShorthand(one) || (isImpliedTool(one) && grant.verb === one.verb))
      spellOut(plan, one, [explicitText(one, view.record)]);
  plan.added.push(text);
  return plan;
}

export function planRevoke(view: View, edit: Extract<AuthorityEdit, { kind: "revoke" }>): PlanResult {
  const plan = emptyPlan();
  const { root, reading } = view.context;
  const { protectedPaths } = reading.pathSettings;
  const without = (item: Item): PartResult => {
    // An item that covers nothing may be there on purpose: without it a shorthand would apply again.
    if (item.grant === null || item.grant.scopes.some(isNothing) || !isMeant(item.grant, edit)) return { kind: "same" };
    return edit.part === null ? { kind: "gone" } : withoutPart(item, edit.part.grant, root, protectedPaths);
  };
  let changes = 0;
  for (const [at, item] of (view.items ?? []).entries()) {
    const result = without(item);
    if (result.kind === "no_spelling") return noSpelling(item.grant as Grant, result.axis);
    if (result.kind === "same") continue;
    changes++;
    plan.items.set(at, result.kind === "gone" ? { kind: "specs", specs: [] } : result);
  }
  const rests = new Map<Grant, readonly string[]>();
  for (const grant of view.record.grants) {
    if (grant.implied === null) continue;
    const item = impliedItem(grant, view);
    const result = without(item);
    if (result.kind === "no_spelling") return noSpelling(grant, result.axis);
    if (result.kind === "same") continue;
    changes++;
    if (grant.implied.startsWith("policy ")) return byPolicy(grant);
    rests.set(grant, result.kind === "specs" ? result.specs : []);
  }
  if (changes === 0) return { kind: "same" };
  dropAccess(view, plan);
  dropRoom(view, plan);
  const presets = new Set([...rests.keys()].map((grant) => grant.implied).filter((name) => PRESETS.has(name ?? "")));
  for (const grant of view.record.grants)
    if (rests.has(grant) || presets.has(grant.implied) || isShorthand(grant))
      spellOut(plan, grant, rests.get(grant) ?? [explicitText(grant, view.record)]);
  return { kind: "plan", plan };
}

const TOOL = "tool.invoke";

/** Every edit writes these out, so that the list says what the agent holds. The implied tools stay until an edit is about tools. */
function isShorthand(grant: Grant): boolean {
  return ["default", "access", "sandbox", ROOM].includes(grant.implied ?? "") && !isImpliedTool(grant);
}

function isImpliedTool({ implied, verb }: Grant): boolean {
  return implied === "default" && verb.verb === TOOL;
}

/** A key that is not understood stays, with its diagnostic. */
function dropAccess({ node }: View, plan: Plan): void {
  const value = entryOf(node, "access")?.value;
  if (value?.kind !== "scalar" || !ACCESS_VERBS.has(value.value)) return;
  plan.dropsAccess = true;
  plan.dissolved.add("access");
}

/** A room that grants nothing stays, with its diagnostic. */
function dropRoom({ record }: View, plan: Plan): void {
  plan.dropsRoom = record.grants.some(({ implied }) => implied === ROOM);
}

function emptyPlan(): Plan {
  return {
    items: new Map(),
    added: [],
    dropsAccess: false,
    dropsRoom: false,
    droppedPresets: new Set(),
    dissolved: new Set(),
  };
}

function spellOut(plan: Plan, grant: Grant, specs: readonly string[]): void {
  const name = grant.implied as string;
  plan.added.push(...specs);
  plan.dissolved.add(name === "default" ? `default ${grant.verb.verb}` : name);
  if (PRESETS.has(name)) plan.droppedPresets.add(name);
}

/** An implied grant as explicit text: the form of a shorthand or preset, which contains no path of this machine. */
function explicitText(grant: Grant, { grants }: AgentRecord): string {
  if (grant.implied === "access" || grant.implied === "sandbox") return grant.verb.verb;
  const specs = PRESETS.get(grant.implied ?? "");
  const place = grants.filter((one) => one.implied === grant.implied).indexOf(grant);
  return specs?.[place] ?? compactText(grant);
}

function impliedItem(grant: Grant, { record, context }: View): Item {
  const value = explicitText(grant, record);
  const node: Scalar = { kind: "scalar", value, span: { source: "", start: 0, end: value.length } };
  return { ...itemOf(node, context), grant };
}

function noSpelling(grant: Grant, axis: Axis | null): PlanResult {
  const why =
    axis === null
      ? "the rest would be two grants, each with its own budget"
      : `one of its entries for ${axis.name} covers more than that, and a scope cannot express "all but"`;
  return { kind: "refused", message: `${compactText(grant)} cannot be revoked in part: ${why}` };
}

function byPolicy(grant: Grant): PlanResult {
  const [, ruling = "policy", capability = "", where = ""] = RULING.exec(grant.implied ?? "") ?? [];
  const isOuter = where === "config";
  const instead = !isOuter ? "change that ruling" : `write \`${capability}: deny\` in the record's policy`;
  const message = `${compactText(grant)} comes from ${isOuter ? "a configuration's" : "the record's"} \`${ruling}\`: ${instead}`;
  return { kind: "refused", message };
}

const RULING = /^(policy (\w+))(?: \((\w+)\))?$/;
