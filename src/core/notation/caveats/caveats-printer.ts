// Grants back to caveats, where caveats can say exactly what the grants allow; null where they cannot.

import { programOf } from "../../authority/axes/argv.ts";
import { type DestinationScope, hostPatternText } from "../../authority/axes/destination.ts";
import { type PathSettings, pathText } from "../../authority/axes/path.ts";
import { isNothing, type Scope } from "../../authority/axes/scope.ts";
import type { AxisName } from "../../authority/catalog.ts";
import { type Conditions, type Grant, isCounted } from "../../authority/grant.ts";
import type { Sequence } from "../../authority/patterns/sequence.ts";
import { rangeText } from "../../base/address.ts";
import { HTTP_VERBS } from "../grants.ts";
import { literalPrefix } from "../policy/ceiling.ts";
import { treeRoots } from "./caveats-trees.ts";

export type CaveatsScope = "all" | { readonly only: readonly string[] };

export interface CaveatsJson {
  readonly fs_read: CaveatsScope;
  readonly fs_write: CaveatsScope;
  readonly exec: CaveatsScope;
  readonly net: CaveatsScope;
  readonly max_calls: "unlimited" | { readonly at_most: number };
  readonly valid_for_generation: "all" | { readonly only: readonly number[] };
}

const NET_VERBS: readonly string[] = [...HTTP_VERBS, "net.connect"];
const VERBS: readonly string[] = ["fs.read", "fs.write", "fs.delete", "proc.exec", "tool.invoke", ...NET_VERBS];

/**
 * `protectedPaths`: a path that came out of a meet with a tree above it opens no protected path, and a written one
 * does. Without the list the two cannot be told apart, and such a path has no exact spelling.
 */
export function caveatsOf(
  grants: readonly Grant[],
  calls: number | null,
  generations: readonly number[] | null,
  protectedPaths: PathSettings["protectedPaths"] | null = null,
): CaveatsJson | null {
  const live = grants.filter((grant) => !grant.scopes.some(isNothing));
  if (live.some(({ verb, conditions }) => !VERBS.includes(verb.verb) || !isUnconditional(conditions))) return null;
  const of = (verb: string): readonly Grant[] => live.filter((grant) => grant.verb.verb === verb);
  const fs_read = treesOf(of("fs.read"), protectedPaths);
  const fs_write = treesOf(of("fs.write"), protectedPaths);
  const fs_delete = treesOf(of("fs.delete"), protectedPaths);
  const exec = execOf(of("proc.exec"), fs_read);
  const nets = NET_VERBS.map((verb) => hostsOf(of(verb)));
  const net = nets[0] ?? null;
  if (fs_read === null || fs_write === null || exec === null || net === null) return null;
  if (!same(fs_write, fs_delete) || !nets.every((one) => same(net, one))) return null;
  // Tools alone reach nothing, so a call of them that was left over by a meet needs no words.
  if (
    !toolsAreImplied(
      of("tool.invoke"),
      live.some((grant) => grant.verb.verb !== "tool.invoke"),
    )
  )
    return null;
  return {
    fs_read,
    fs_write,
    exec,
    net,
    max_calls: calls === null ? "unlimited" : { at_most: calls },
    valid_for_generation:
      generations === null ? "all" : { only: [...new Set(generations)].toSorted((left, right) => left - right) },
  };
}

function isUnconditional(conditions: Conditions): boolean {
  const { ask, expires, principals, pass, clean } = conditions;
  if (principals !== null || isCounted(conditions)) return false;
  return ask === 0 && expires === null && pass === "both" && !clean;
}

function scopeOf(grant: Grant, axis: AxisName): Scope {
  return grant.scopes[grant.verb.axes.findIndex((one) => one.name === axis)] as Scope;
}

function treesOf(grants: readonly Grant[], protectedPaths: PathSettings["protectedPaths"] | null): CaveatsScope | null {
  const patterns: Sequence[] = [];
  for (const grant of grants) {
    const path = scopeOf(grant, "path");
    if (path.kind !== "sequences") return null;
    patterns.push(...path.of);
  }
  const roots = treeRoots(patterns, protectedPaths);
  if (roots === null) return null;
  return roots.length === 1 && roots[0]?.length === 0 ? "all" : only(roots.map(pathText));
}

/**
 * Any arguments of whole programs. Caveats cannot name a root, so every root must run the same programs, and must lie
 * in what may be read: that is where reading them again puts it.
 */
function execOf(grants: readonly Grant[], read: CaveatsScope | null): CaveatsScope | null {
  const byRoot = new Map<string, string[]>();
  for (const grant of grants) {
    const root = scopeOf(grant, "root");
    const programs = programsOf(scopeOf(grant, "argv"));
    const mode = scopeOf(grant, "mode");
    // Read again it is rw: neither less nor more may be printed.
    const isWhole = mode.kind === "words" && mode.of.includes("rw") && !mode.of.includes("live");
    if (root.kind !== "sequences" || !isWhole || programs === null) return null;
    for (const pattern of root.of) {
      const text = pathText(literalPrefix(pattern));
      if (pattern.at(-1)?.kind !== "deep" || !isReadable(text, read)) return null;
      byRoot.set(text, [...(byRoot.get(text) ?? []), ...programs]);
    }
  }
  const [first, ...others] = [...byRoot.values()].map((programs) =>
    programs.includes(EVERY_PROGRAM) ? "all" : only(programs),
  );
  if (first === undefined) return only([]);
  return others.every((other) => same(first, other)) ? first : null;
}

/** No program has this name. */
const EVERY_PROGRAM = "*";

function programsOf(argv: Scope): readonly string[] | null {
  if (argv.kind === "any") return [EVERY_PROGRAM];
  const programs = argv.kind === "sequences" ? argv.of.map(programOf) : [null];
  return programs.every((program) => program !== null) ? programs : null;
}

function isReadable(root: string, read: CaveatsScope | null): boolean {
  if (read === null || read === "all") return read === "all";
  return read.only.some((outer) => root === outer || root.startsWith(outer === "/" ? "/" : `${outer}/`));
}

function hostsOf(grants: readonly Grant[]): CaveatsScope | null {
  const hosts: string[] = [];
  let every = false;
  for (const grant of grants) {
    const host = scopeOf(grant, "host");
    const isConnect = grant.verb.verb === "net.connect";
    const raw = isConnect ? scopeOf(grant, "raw") : null;
    if (host.kind !== "destinations" || scopeOf(grant, "port").kind !== "any" || host.openings.length > 0) return null;
    if (raw !== null && (raw.kind !== "words" || raw.of.join() !== "sni")) return null;
    every ||= host.everyPublic;
    const texts = exactHosts(host);
    if (texts === null) return null;
    hosts.push(...texts);
  }
  if (!every) return only(hosts);
  return hosts.length === 0 ? "all" : null;
}

function exactHosts({ names, ranges, everyPublic }: DestinationScope): readonly string[] | null {
  const written = names.filter((name) => !(name.length === 1 && name[0]?.kind === "deep"));
  if (everyPublic !== written.length < names.length) return null;
  if (written.some((name) => name.some((segment) => segment.kind !== "literal"))) return null;
  if (ranges.some((range) => range.low !== range.high)) return null;
  return [...written.map(hostPatternText), ...ranges.map(rangeText)];
}

function toolsAreImplied(grants: readonly Grant[], anything: boolean): boolean {
  if (grants.length === 0) return !anything;
  return grants.every((grant) => {
    const tool = scopeOf(grant, "tool");
    if (tool.kind !== "sequences" || scopeOf(grant, "arguments").kind !== "any") return false;
    return tool.of.every(
      (pattern) =>
        pattern.length === 2 &&
        pattern[0]?.kind === "literal" &&
        pattern[0].text === "builtin" &&
        pattern[1]?.kind === "deep",
    );
  });
}

function only(texts: readonly string[]): CaveatsScope {
  return { only: [...new Set(texts)].toSorted() };
}

function same(left: CaveatsScope, right: CaveatsScope | null): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
