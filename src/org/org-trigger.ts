// A trigger of an org file: what starts a task, and whose.
import type { Span } from "../core/authority/grant.ts";
import { idOfRole } from "../core/base/agent-id.ts";
import type { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import { kindName } from "../core/notation/scope/scope-values.ts";
import type { Entry } from "../core/notation/tree.ts";
import { checkKeys, type PlacedText, textIn } from "./org-fields.ts";
import { KINDS, ORG_KEYS, type TriggerKind, triggerKind } from "./org-line.ts";

export interface OrgTrigger {
  readonly name: string;
  readonly kind: TriggerKind;
  readonly span: Span;
  /** Who gets the task; null: the agent at the top of the tree. */
  readonly agent: string | null;
  readonly prompt: string;
  readonly values: ReadonlyMap<string, PlacedText>;
}

/** Null after an error. */
export function readTrigger(
  { key: name, keySpan, value }: Entry,
  agents: readonly string[],
  diagnostics: Diagnostics,
): OrgTrigger | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `a trigger is a map, not ${kindName(value)}`);
    return null;
  }
  checkKeys(value, [...ORG_KEYS.trigger, "prompt"], `the trigger ${quoteText(name)}`, diagnostics);
  const values = new Map<string, PlacedText>();
  for (const { key, value: one } of value.entries) {
    if (one.kind === "scalar" && one.value !== null) values.set(key, { text: String(one.value), span: one.span });
    else diagnostics.error("wrong_type", one.span, `\`${key}\` must be text, not ${kindName(one)}`);
  }
  const written = values.get("kind") ?? null;
  const kind = triggerKind([...values.keys()], written?.text ?? null);
  if (kind === null) {
    const known = `\`kind\` is ${KINDS.slice(0, -1).join(", ")} or ${KINDS.at(-1)}`;
    const suggestion = written === null ? null : nearestName(written.text, KINDS);
    diagnostics.error("bad_value", written?.span ?? keySpan, known, { suggestion });
    return null;
  }
  const times = ["every", "cron", "at"].filter((key) => values.has(key));
  if (kind === "schedule" && times.length !== 1)
    diagnostics.error("bad_value", keySpan, "a schedule has exactly one of `every`, `cron` and `at`");
  const who = textIn(value, "agent", diagnostics);
  const agent = who === null ? null : (agents.find((id) => id === who.text || id === idOfRole(who.text)) ?? null);
  if (who !== null && agent === null)
    diagnostics.error("bad_value", who.span, `there is no agent ${quoteText(who.text)}`, {
      suggestion: nearestName(who.text, agents),
    });
  return { name, kind, span: keySpan, agent, prompt: values.get("prompt")?.text ?? "", values };
}
