// When the last item about a verb is removed, a shorthand would apply to that verb again: writes an empty scope
// instead.

import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { type CapabilityList, readCapabilityList } from "../../core/notation/record/capabilities.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import { entryOf } from "../../core/notation/tree.ts";
import type { Plan, View } from "./edit-plan.ts";

const SANDBOX_VERBS = ["fs.read", "fs.write", "proc.exec"] as const;
const TOOL = "tool.invoke";

/** `edited`: the verb that something is revoked from, or null. Adds to the plan. */
export function closePlan(view: View, plan: Plan, edited: string | null): void {
  const { grants } = view.record;
  const before = new Set(grants.filter((grant) => grant.implied === "sandbox").map((grant) => grant.verb.verb));
  for (const verb of impliedBySandbox(view, plan))
    if (!before.has(verb) || verb === edited) plan.added.push(`${verb}{in=[]}`);
  const { mentioned } = listAfter(view, plan);
  const isImplied = mentioned !== null && !mentioned.has(TOOL) && !extendsTool(view, plan);
  const wasHeld = grants.length === 0 || grants.some((grant) => grant.verb.verb === TOOL);
  if (isImplied && (edited === TOOL || !wasHeld)) plan.added.push(`${TOOL}{tools=[]}`);
}

function impliedBySandbox(view: View, plan: Plan): readonly string[] {
  const { mentioned, strange } = listAfter(view, plan);
  if (view.hoist.sandbox === null || mentioned === null || strange) return [];
  if (entryOf(view.node, "policy") !== null || keepsExtends(view, plan)) return [];
  return SANDBOX_VERBS.filter((verb) => !mentioned.has(verb));
}

/** Unknown preset names keep the key, and so keep the sandbox shorthand from granting. */
function keepsExtends({ node, record }: View, { droppedPresets }: Plan): boolean {
  const entry = entryOf(node, "extends");
  if (entry === null) return false;
  const written = entry.value.kind === "list" ? entry.value.items.length : 1;
  const dropped = record.extends.filter((name) => droppedPresets.has(name)).length;
  return dropped === 0 || dropped < written;
}

function extendsTool({ record }: View, { droppedPresets }: Plan): boolean {
  return record.grants.some(
    ({ verb, implied }) =>
      verb.verb === TOOL && record.extends.some((name) => name === implied && !droppedPresets.has(name)),
  );
}

/** The list after the plan, parsed as in a record. */
function listAfter({ items, context, node }: View, plan: Plan): CapabilityList {
  const text = (value: string): TreeNode => ({ kind: "scalar", value, span: node.span });
  const nodes = (items ?? []).flatMap((item, at) => {
    const change = plan.items.get(at);
    return change?.kind === "specs" ? change.specs.map(text) : [item.node];
  });
  const all = [...nodes, ...plan.added.map(text)];
  const entry = entryOf(node, "capabilities");
  // A value that is not a list stays unchanged, and nothing can be derived from it.
  const isUnreadable =
    entry !== null && items === null && !(entry.value.kind === "scalar" && entry.value.value === null);
  return readCapabilityList(isUnreadable ? entry.value : { kind: "list", items: all, span: node.span }, {
    ...context,
    diagnostics: new Diagnostics(),
  });
}
