// `args` and `args_only`: what the arguments of a tool call may be. Each named argument has exactly one constraint.
import { type ConstrainedArgument, type Constraint, placeText } from "../../authority/axes/constraint.ts";
import { ANY, type Scope } from "../../authority/axes/scope.ts";
import { isPlainText } from "../../authority/patterns/reserved.ts";
import { constrainedArgumentsMax, patternCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { nearestName } from "../nearest.ts";
import { type Entry, entryOf, type List, type Mapping, type Scalar } from "../tree.ts";
import { readDestinations } from "./destination-reader.ts";
import { readFreePath } from "./path-entry.ts";
import { parsePlace } from "./place.ts";
import type { GrantContext } from "./scope-reader.ts";
import { flagOf, itemsOf, kindName, readEach, reportRefusal, single } from "./scope-values.ts";

export function readArguments(scope: Mapping | null, context: GrantContext): Scope | null {
  const { diagnostics } = context;
  const onlyEntry = scope === null ? null : entryOf(scope, "args_only");
  const entry = scope === null ? null : entryOf(scope, "args");
  const only = onlyEntry === null ? false : flagOf(onlyEntry, diagnostics);
  const constrained = entry === null ? [] : readConstrained(entry, context);
  if (only === null || constrained === null) return null;
  if (constrained.length > 0 || only) return { kind: "arguments", constrained, only };
  if (entry === null) return ANY;
  // "No arguments" and "any arguments" both read so: neither is taken for granted.
  diagnostics.error(
    "bad_value",
    entry.value.span,
    "an empty `args` constrains nothing; name an argument, or leave it out",
    {
      fix: "args_only: true",
    },
  );
  return null;
}

function readConstrained(entry: Entry, context: GrantContext): readonly ConstrainedArgument[] | null {
  const { diagnostics } = context;
  const { value } = entry;
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`args\` must be a map of arguments, not ${kindName(value)}`, {
      fix: "args: { amount: { range: [0, 100] } }",
    });
    return null;
  }
  if (value.entries.length > constrainedArgumentsMax) {
    diagnostics.error("too_large", value.span, `\`args\` names more than ${constrainedArgumentsMax} arguments`);
    return null;
  }
  const constrained: ConstrainedArgument[] = [];
  const places = new Set<string>();
  let failed = false;
  for (const one of value.entries) {
    const argument = readArgument(one, context);
    if (argument !== null && places.has(placeText(argument.at))) {
      diagnostics.error("bad_value", one.keySpan, `${placeText(argument.at)} is constrained twice`);
      failed = true;
    } else if (argument !== null) {
      constrained.push(argument);
      places.add(placeText(argument.at));
    }
    failed ||= argument === null;
  }
  return failed ? null : constrained;
}

function readArgument(entry: Entry, context: GrantContext): ConstrainedArgument | null {
  const { diagnostics } = context;
  const { value } = entry;
  const at = parsePlace(entry.key);
  if (!at.ok) reportRefusal(at, entry.keySpan, diagnostics);
  const kind = value.kind === "map" ? value.entries[0] : undefined;
  if (value.kind !== "map" || kind === undefined || value.entries.length !== 1) {
    const message = `${JSON.stringify(entry.key.slice(0, 80))} has exactly one constraint: ${KINDS.join(", ")}`;
    diagnostics.error("wrong_type", value.span, message, { fix: "{ values: [a, b] }" });
    return null;
  }
  const constraint = readConstraint(kind, context);
  return at.ok && constraint !== null ? { at: at.value, constraint } : null;
}

const KINDS: readonly Constraint["kind"][] = ["values", "range", "max_length", "text", "path", "url"];

function readConstraint(entry: Entry, context: GrantContext): Constraint | null {
  const { diagnostics, reading, root } = context;
  switch (entry.key) {
    case "values":
      return readValues(entry, context);
    case "range":
      return readRange(entry, context);
    case "max_length": {
      const length = entry.value.kind === "scalar" ? entry.value.value : null;
      if (typeof length === "number" && Number.isSafeInteger(length) && length >= 0)
        return { kind: "max_length", length };
      diagnostics.error("bad_value", entry.value.span, "`max_length` is a whole number", { fix: "max_length: 20" });
      return null;
    }
    case "text": {
      const patterns = readEach(entry, diagnostics, (text) => single(textPattern(text)));
      return patterns === null ? null : { kind: "text", patterns };
    }
    case "path": {
      const pathSettings = { ...reading.pathSettings, base: root ?? reading.pathSettings.base };
      const patterns = readEach(entry, diagnostics, (text) => readFreePath(text, root, reading.pathSettings));
      return patterns === null ? null : { kind: "path", patterns, pathSettings };
    }
    case "url": {
      const hosts = readDestinations(entry, null, reading.toAscii, diagnostics, false);
      return hosts === null ? null : { kind: "url", hosts, toAscii: reading.toAscii };
    }
    default: {
      const message = `${JSON.stringify(entry.key.slice(0, 80))} is not a kind of constraint: ${KINDS.join(", ")}`;
      diagnostics.error("unknown_key", entry.keySpan, message, { suggestion: nearestName(entry.key, KINDS) });
      return null;
    }
  }
}

function readValues(entry: Entry, { diagnostics }: GrantContext): Constraint | null {
  const items = itemsOf(entry, diagnostics);
  if (items === null) return null;
  const values: Scalar["value"][] = [];
  for (const { value, span } of items) {
    const isText = typeof value === "string";
    if (
      isText ? !isPlainText(value) || value.length > patternCharactersMax : typeof value === "number" && !isExact(value)
    ) {
      diagnostics.error(
        "bad_value",
        span,
        isText
          ? "this text is not valid Unicode, so no argument can match it"
          : "this number cannot be represented exactly",
      );
    } else values.push(value === 0 ? 0 : value);
  }
  return values.length === items.length ? { kind: "values", values } : null;
}

function readRange(entry: Entry, { diagnostics }: GrantContext): Constraint | null {
  const ends = entry.value.kind === "list" ? rangeEnds(entry.value) : null;
  if (ends !== null) return { kind: "range", ...ends };
  diagnostics.error("bad_value", entry.value.span, "`range` is [low, high]; null is an open end", {
    fix: "range: [0, 100]",
  });
  return null;
}

function rangeEnds({ items }: List): { readonly low: number; readonly high: number } | null {
  if (items.length !== 2) return null;
  const [low, high] = items.map((item, at) => {
    if (item.kind !== "scalar") return null;
    if (item.value === null) return at === 0 ? -Infinity : Infinity;
    return typeof item.value === "number" && isExact(item.value) ? item.value || 0 : null;
  }) as [number | null, number | null];
  return low === null || high === null || low > high ? null : { low, high };
}

/** Not infinite, and not a whole number that lost digits when it was read. */
function isExact(number: number): boolean {
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
}

/** The text between the stars. */
function textPattern(text: string): Result<readonly string[]> {
  if (text.length > patternCharactersMax)
    return refuse("too_long", `the pattern is longer than ${patternCharactersMax} characters`);
  return isPlainText(text)
    ? done(text.split(/\*+/))
    : refuse("bad_value", "the pattern contains an unpaired surrogate");
}
