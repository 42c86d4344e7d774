// `extends: ambit:coder@1`: a union with the grants of versioned presets.
import type { Grant, Span } from "../../authority/grant.ts";
import { readCompact } from "../compact/compact.ts";
import { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import type { Reading } from "../reading.ts";
import { textsOf } from "../scope/scope-values.ts";
import type { Entry } from "../tree.ts";
import { rootFor } from "./hoist.ts";
import { PRESETS } from "./presets.ts";

export interface ExtendedRecord {
  /** Names of the presets that exist. */
  readonly names: readonly string[];
  readonly grants: readonly Grant[];
}

const presetsMax = 32;

export interface ExtendsContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  readonly root: readonly string[] | null;
}

export function readExtends(entry: Entry, context: ExtendsContext): ExtendedRecord {
  const { value } = entry;
  const isOne = value.kind === "scalar" && typeof value.value === "string";
  const list: Entry = isOne ? { ...entry, value: { kind: "list", items: [value], span: value.span } } : entry;
  const texts = textsOf(list, context.diagnostics) ?? [];
  if (texts.length > presetsMax) {
    context.diagnostics.error("too_large", entry.value.span, `\`extends\` names more than ${presetsMax} presets`);
    return { names: [], grants: [] };
  }
  const names: string[] = [];
  const grants: Grant[] = [];
  for (const { text, span } of texts) {
    const specs = PRESETS.get(text);
    if (specs === undefined) {
      const suggestion = nearestName(text, [...PRESETS.keys()].reverse());
      context.diagnostics.error("unknown_preset", span, `unknown preset ${JSON.stringify(text.slice(0, 80))}`, {
        suggestion,
      });
    } else if (!names.includes(text)) {
      names.push(text);
      grants.push(...presetGrants(text, specs, span, context));
    }
  }
  return { names, grants };
}

/** Spans and diagnostics are those of the name: the specs stand in no text of the reader's. */
function presetGrants(name: string, specs: readonly string[], span: Span, context: ExtendsContext): readonly Grant[] {
  const inner = new Diagnostics();
  const grants: Grant[] = [];
  for (const spec of specs) {
    const whole = { source: name, start: 0, end: spec.length };
    const grant = readCompact(spec, { ...context, diagnostics: inner, span: whole, implied: name });
    if (grant !== null) grants.push({ ...grant, span });
  }
  for (const message of new Set(inner.list.map((one) => one.message))) {
    context.diagnostics.warning("inert", span, `${name}: ${message}`, {
      fix: `sandbox: ${rootFor(context.reading)}`,
    });
  }
  return grants;
}
