// Where the root of an `fs.*` or `proc.*` grant comes from: its own `in`, else the agent's sandbox, else the ceiling.

import { parseRoot, pathText, proposedRoot } from "../../authority/axes/path.ts";
import type { VerbEntry } from "../../authority/catalog.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import type { GrantContext } from "../scope/scope-reader.ts";
import { reportRefusal, textOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping } from "../tree.ts";

/** A root of null covers nothing. */
export interface OwnRoot {
  readonly root: readonly string[] | null;
}

/** The root a grant is written for; null when its `in` is not understood. `in: []` is nothing, as every empty list. */
export function readOwnRoot(entry: VerbEntry, scope: Mapping | null, context: GrantContext): OwnRoot | null {
  const own = writtenRoot(entry.verb, scope, context);
  if (own?.root?.length !== 0 || entry.axes[0]?.name !== "root") return own;
  // A process that sees the whole machine has to be written as that; no shorthand makes one.
  const isWritten = scope !== null && entryOf(scope, "in") !== null;
  const { diagnostics, reading, span } = context;
  const fix = `${entry.verb}{in=${rootFor(reading)}}`;
  if (isWritten) diagnostics.warning("wide", span, `\`${entry.verb}\` has the whole machine as its root`, { fix });
  else
    diagnostics.warning(
      "inert",
      span,
      `\`${entry.verb}\` covers nothing: a process has \`/\` as its root only if \`in\` is \`/\``,
      { fix },
    );
  return isWritten ? own : NO_ROOT;
}

function writtenRoot(verb: string, scope: Mapping | null, context: GrantContext): OwnRoot | null {
  const { diagnostics, reading, span } = context;
  const entry = scope === null ? null : entryOf(scope, "in");
  if (entry === null) {
    if (context.root === null) {
      const fix = `${verb}{in=${rootFor(reading)}}`;
      diagnostics.warning("inert", span, `\`${verb}\` covers nothing: neither it nor the agent has a root`, { fix });
      return NO_ROOT;
    }
    if (reading.ceiling === null || isAtOrBelow(context.root, reading.ceiling)) return { root: context.root };
    diagnostics.warning("inert", span, `\`${verb}\` covers nothing: ${outside(context.root, reading.ceiling)}`);
    return NO_ROOT;
  }
  if (entry.value.kind === "list" && entry.value.items.length === 0) return NO_ROOT;
  const written = textOf(entry, diagnostics);
  if (written === null) return null;
  const root = readRoot(written.text, reading);
  if (!root.ok) {
    reportRefusal(root, written.span, diagnostics);
    return null;
  }
  for (const outer of [context.root, reading.ceiling]) {
    if (outer === null || isAtOrBelow(root.value, outer)) continue;
    diagnostics.warning("inert", written.span, `\`${verb}\` covers nothing: ${outside(root.value, outer)}`, {
      fix: `in: ${pathText(outer)}`,
    });
    return NO_ROOT;
  }
  return { root: root.value };
}

const NO_ROOT: OwnRoot = { root: null };

/** A root that a grant may have here: below the ceiling, where there is one. */
export function rootFor({ pathSettings, ceiling }: Reading): string {
  const isFree =
    ceiling === null || ceiling.length === 0 || (pathSettings.base !== null && isAtOrBelow(pathSettings.base, ceiling));
  return isFree ? proposedRoot(pathSettings) : pathText(ceiling);
}

/** One folder as it really lies on the machine: two names of one folder compare as equal, a link never as its name. */
export function readRoot(text: string, reading: Reading): Result<readonly string[]> {
  const root = parseRoot(text, reading.pathSettings);
  if (!root.ok || reading.realRoot === undefined) return root;
  const real = reading.realRoot(root.value);
  return real === null
    ? refuse(
        "bad_value",
        `${pathText(root.value)} does not resolve to a folder: a link in it is broken or not accessible`,
      )
    : done(real);
}

/** The agent's own root, and the one its grants hoist. */
export interface Hoist {
  readonly sandbox: readonly string[] | null;
  readonly root: readonly string[] | null;
  /** What stands there was not understood, so no `fs.*` or `proc.*` grant may count on what it would have limited. */
  readonly isBroken: boolean;
}

/** Reads `sandbox:`. One outside the ceiling becomes the ceiling; without one the ceiling is the root. */
export function readSandbox(entry: Entry | null, reading: Reading, diagnostics: Diagnostics): Hoist {
  const { ceiling } = reading;
  if (entry === null) return { sandbox: null, root: ceiling, isBroken: false };
  const written = textOf(entry, diagnostics);
  if (written === null) return BROKEN;
  const root = readRoot(written.text, reading);
  if (!root.ok) {
    reportRefusal(root, written.span, diagnostics);
    return BROKEN;
  }
  if (ceiling === null || isAtOrBelow(root.value, ceiling))
    return { sandbox: root.value, root: root.value, isBroken: false };
  const message = `the sandbox becomes ${pathText(ceiling)}: ${outside(root.value, ceiling)}`;
  diagnostics.warning("clamped", written.span, message, { fix: `sandbox: ${pathText(ceiling)}` });
  return { sandbox: ceiling, root: ceiling, isBroken: false };
}

export const BROKEN: Hoist = { sandbox: null, root: null, isBroken: true };

/** By whole segments: /a/bc is not below /a/b. */
export function isAtOrBelow(path: readonly string[], outer: readonly string[]): boolean {
  return outer.every((name, at) => name === path[at]);
}

function outside(path: readonly string[], outer: readonly string[]): string {
  return `${pathText(path)} is outside ${pathText(outer)}`;
}
