// A trigger of an org file: what starts a task, and whose. It is a schedule that is written in a file.
import type { Span } from "../core/authority/grant.ts";
import { idOfRole } from "../core/base/agent-id.ts";
import type { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import { kindName } from "../core/notation/scope/scope-values.ts";
import type { Entry } from "../core/notation/tree.ts";
import { MISSED, type Missed } from "../core/ports/stores/schedule-store.ts";
import { checkKeys, type PlacedText, textIn } from "./org-fields.ts";
import { KINDS, ORG_KEYS, type TriggerKind, triggerKind } from "./org-line.ts";
import { parseWhen } from "./schedules/when.ts";
import { promptCharactersMax } from "./task-life.ts";

export interface OrgTrigger {
  readonly name: string;
  readonly kind: TriggerKind;
  readonly span: Span;
  /** Who gets the task; null: the agent at the top of the tree. */
  readonly agent: string | null;
  readonly prompt: string;
  /** When it starts a task, as `ambit schedules add` reads it; null for a kind that starts none, and for `after`. */
  readonly when: string | null;
  /** The name of the trigger that it follows. */
  readonly after: PlacedText | null;
  readonly missed: Missed;
}

type Values = ReadonlyMap<string, PlacedText>;

/** `agents`: of the file; where it has none they are in records, and the runtime looks for them. Null after an error. */
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
  const kind = kindIn(values, keySpan, diagnostics);
  if (kind === null) return null;
  const who = textIn(value, "agent", diagnostics);
  const known = agents.find((id) => id === who?.text || id === idOfRole(who?.text ?? ""));
  if (who !== null && known === undefined && agents.length > 0)
    diagnostics.error("bad_value", who.span, `there is no agent ${quoteText(who.text)}`, {
      suggestion: nearestName(who.text, agents),
    });
  return {
    ...{ name, kind, span: keySpan, agent: who === null ? null : (known ?? who.text) },
    prompt: promptIn(values, keySpan, diagnostics),
    when: whenIn(kind, name, values, keySpan, diagnostics),
    after: values.get("after") ?? null,
    missed: missedIn(values, diagnostics),
  };
}

const STARTS: Readonly<Record<TriggerKind, readonly string[]>> = {
  schedule: ["every", "cron", "at"],
  file: ["file"],
  task: ["after"],
  process: ["command"],
  webhook: [],
};

/** Null after an error. */
function kindIn(values: Values, keySpan: Span, diagnostics: Diagnostics): TriggerKind | null {
  const written = values.get("kind") ?? null;
  const kind = triggerKind([...values.keys()], written?.text ?? null);
  if (kind === null) {
    const known = `\`kind\` is ${KINDS.slice(0, -1).join(", ")} or ${KINDS.at(-1)}`;
    const suggestion = written === null ? null : nearestName(written.text, KINDS);
    diagnostics.error("bad_value", written?.span ?? keySpan, known, { suggestion });
    return null;
  }
  const wanted = STARTS[kind];
  const own = wanted.filter((key) => values.has(key));
  if (wanted.length > 0 && own.length !== 1) {
    const [first = "", ...others] = wanted;
    const message =
      others.length === 0
        ? `a trigger of this kind needs \`${first}\``
        : "a schedule has exactly one of `every`, `cron` and `at`";
    diagnostics.error("bad_value", keySpan, message);
    return null;
  }
  const other = Object.values(STARTS)
    .flat()
    .find((key) => values.has(key) && !wanted.includes(key));
  if (other === undefined) return kind;
  const message = `\`${other}\` belongs to another kind of trigger: write one trigger for each`;
  diagnostics.error("bad_value", values.get(other)?.span ?? keySpan, message);
  return null;
}

function whenIn(
  kind: TriggerKind,
  name: string,
  values: Values,
  keySpan: Span,
  diagnostics: Diagnostics,
): string | null {
  const zone = values.get("zone");
  const [key] = STARTS[kind].filter((one) => values.has(one));
  const value = key === undefined ? undefined : values.get(key);
  if (zone !== undefined && key !== "cron" && key !== "at")
    diagnostics.error("bad_value", zone.span, "`zone` belongs to `cron` and `at`");
  if (kind === "process") {
    const message = "a trigger with `command` starts nothing: ambit runs programs only in an agent's sandbox";
    diagnostics.warning("bad_value", value?.span ?? keySpan, message, { fix: "every: 5m" });
    return null;
  }
  if (kind === "task") return null;
  const text =
    kind === "webhook"
      ? `on webhook ${idOfRole(name)}`
      : kind === "file"
        ? `on file ${value?.text ?? ""}`
        : `${key} ${value?.text ?? ""}${zone === undefined || key === "every" ? "" : ` in ${zone.text}`}`;
  const read = parseWhen(text);
  if (read.ok) return read.text;
  diagnostics.error("bad_value", value?.span ?? keySpan, read.message, { fix: EXAMPLES[key ?? "webhook"] ?? null });
  return null;
}

const EXAMPLES: Readonly<Record<string, string>> = {
  every: "every: 30m",
  cron: "cron: 0 9 * * 1-5",
  at: "at: 2030-01-31T09:00",
  file: "file: docs/**/*.md",
  webhook: "kind: webhook, below a heading of letters and digits",
};

function promptIn(values: Values, keySpan: Span, diagnostics: Diagnostics): string {
  const prompt = values.get("prompt");
  if (prompt === undefined || prompt.text.trim() === "")
    diagnostics.error("missing_field", keySpan, "a trigger needs a text: the instructions for its agent");
  else if (prompt.text.length > promptCharactersMax)
    diagnostics.error("too_large", prompt.span, `the text of a trigger has at most ${promptCharactersMax} characters`);
  return prompt?.text ?? "";
}

function missedIn(values: Values, diagnostics: Diagnostics): Missed {
  const written = values.get("missed");
  const missed = MISSED.find((one) => one === written?.text);
  if (written !== undefined && missed === undefined)
    diagnostics.error("bad_value", written.span, "`missed` is once or skip", {
      suggestion: nearestName(written.text, MISSED),
    });
  return missed ?? "once";
}

/** What concerns several triggers: those that follow others, and two that use the same webhook. */
export function checkTriggers(triggers: readonly OrgTrigger[], diagnostics: Diagnostics): void {
  const byName = new Map(triggers.map((one) => [one.name, one]));
  const hooks = new Map<string, string>();
  for (const { name, span, when, after, kind } of triggers) {
    const other = kind === "webhook" && when !== null ? hooks.get(when) : undefined;
    if (other !== undefined)
      diagnostics.error("bad_value", span, `${quoteText(name)} and ${quoteText(other)} use the same webhook`);
    else if (kind === "webhook" && when !== null) hooks.set(when, name);
    if (after === null) continue;
    if (!byName.has(after.text))
      diagnostics.error("bad_value", after.span, `there is no trigger ${quoteText(after.text)} to follow`, {
        suggestion: nearestName(after.text, [...byName.keys()]),
      });
    else if (isCircle(name, byName))
      diagnostics.error("bad_value", after.span, `${quoteText(name)} follows itself, so nothing starts it`);
  }
}

function isCircle(name: string, byName: ReadonlyMap<string, OrgTrigger>): boolean {
  let next = byName.get(name)?.after?.text;
  for (let step = 0; next !== undefined && step <= byName.size; step++) {
    if (next === name) return true;
    next = byName.get(next)?.after?.text;
  }
  return false;
}
