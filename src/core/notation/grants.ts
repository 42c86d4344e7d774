// Builds grants whose scopes are known in code. What a text leaves out is decided by the notation that calls this.

import type { DestinationScope, HostEntry } from "../authority/axes/destination.ts";
import { tree } from "../authority/axes/path.ts";
import { ANY, type Scope } from "../authority/axes/scope.ts";
import { type AxisName, verbEntry } from "../authority/catalog.ts";
import { type Grant, type Level, type Span, UNCONDITIONAL } from "../authority/grant.ts";
import { DEEP, literal } from "../authority/patterns/segment.ts";
import type { Sequence } from "../authority/patterns/sequence.ts";

export interface GrantOrigin {
  /** Null for what no text at hand says. */
  readonly span: Span | null;
  readonly implied?: string | null;
  readonly root?: readonly string[] | null;
  readonly ask?: Level;
}

/** A grant of a verb of the catalog; an axis that is not named is any. Throws for a verb or an axis there is not. */
export function grantOf(name: string, scopes: Readonly<Partial<Record<AxisName, Scope>>>, written: GrantOrigin): Grant {
  const verb = verbEntry(name);
  if (verb === null) throw new Error(`${name} is not in the catalog`);
  for (const axis of Object.keys(scopes))
    if (!verb.axes.some((one) => one.name === axis)) throw new Error(`${name} has no axis ${axis}`);
  return {
    verb,
    scopes: verb.axes.map((axis) => scopes[axis.name] ?? ANY),
    conditions: written.ask === undefined ? UNCONDITIONAL : { ...UNCONDITIONAL, ask: written.ask },
    root: written.root ?? null,
    span: written.span,
    implied: written.implied ?? null,
  };
}

/** The verbs our own tools speak HTTP with. */
export const HTTP_VERBS: readonly string[] = ["net.get", "net.post", "net.put", "net.delete"];

/** Connections whose name is checked on the wire, which is what every grant means that does not say `raw`. */
export const CHECKED_NAMES: Scope = { kind: "words", of: ["sni"] };

export const EVERY_HOST: HostEntry = { kind: "every" };

export function sequences(of: readonly Sequence[]): Scope {
  return { kind: "sequences", of };
}

/** `**` is every name there is. */
export function namesOf(pattern: Sequence): Scope {
  return pattern.length === 1 && pattern[0]?.kind === "deep" ? ANY : sequences([pattern]);
}

/** A process may change its root, as far as `fs.write` covers it too. */
export const EITHER_MODE: Scope = { kind: "words", of: ["ro", "rw"] };

export function treeGrant(verb: string, root: readonly string[], written: GrantOrigin): Grant {
  return grantOf(verb, { path: sequences([tree(root)]) }, { ...written, root });
}

export function destinationsOf(entries: readonly HostEntry[]): DestinationScope {
  const every = entries.some((entry) => entry.kind === "every");
  return {
    kind: "destinations",
    names: [...(every ? [[DEEP]] : []), ...entries.flatMap((entry) => (entry.kind === "name" ? [entry.name] : []))],
    ranges: entries.flatMap((entry) => (entry.kind === "range" ? [entry.range] : [])),
    everyPublic: every,
    openings: [],
  };
}

/** What a call of any of our own tools needs, for notations that know nothing of tools. */
export function builtinTools(written: GrantOrigin): Grant {
  return grantOf("tool.invoke", { tool: sequences([[literal("builtin"), DEEP]]) }, written);
}
