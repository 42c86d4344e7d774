// How far an answer to one request may be widened, for each verb: named grants, narrowest first.

import { tree } from "../core/authority/axes/path.ts";
import { ANY, isDestination, isSegments, type Scope, type Value } from "../core/authority/axes/scope.ts";
import type { Axis } from "../core/authority/catalog.ts";
import type { Grant } from "../core/authority/grant.ts";
import { DEEP, literal, ONE } from "../core/authority/patterns/segment.ts";
import type { Segments, Sequence } from "../core/authority/patterns/sequence.ts";
import type { Request } from "../core/authority/request.ts";
import { suggestGrant } from "../core/authority/suggest.ts";
import { isSpecial } from "../core/base/special.ts";
import { commandWords, isRunner } from "./program-words.ts";

export interface Step {
  readonly name: string;
  readonly grant: Grant;
}

/** A whole tree is offered from this depth on: not `/`, not `/etc`, not a home folder. */
const treeSegmentsMin = 3;

/** Empty if the request can only be approved exactly. */
export function stepsOf(request: Request): readonly Step[] {
  const { verb, values } = request;
  if (request.delegation !== undefined || ONLY_EXACT.has(verb.verb)) return [];
  // Only "any" covers an axis without a value, and the approver agreed to the values shown.
  if (verb.axes.some((axis, at) => values[at] === undefined && !mayBeUnsaid(axis))) return [];
  const least = suggestGrant(withoutArguments(request));
  if (least === null) return [];
  switch (verb.verb.slice(0, verb.verb.indexOf("."))) {
    case "proc":
      return programSteps(least, values[1]);
    case "fs":
      return fileSteps(least, values[0]);
    case "net":
      return [{ name: "endpoint", grant: least }, ...hostSteps(least, values[0])];
    case "memory":
      return [{ name: "key", grant: least }, ...groupSteps(least, 0, values[0])];
    case "records":
      return [{ name: "record", grant: least }, ...groupSteps(least, 1, values[1])];
    case "agent":
    case "obs":
      return [{ name: "agent", grant: least }];
    case "secret":
      return [{ name: "secret", grant: least }];
    case "model":
      return [{ name: "model", grant: least }];
    case "mcp":
      return [{ name: "resource", grant: least }];
    case "tool":
      return [{ name: "tool", grant: least }];
    case "provider":
      return verb.axes.length === 0 ? [] : [{ name: "host", grant: least }];
    case "task":
    case "sandbox":
      return [{ name: "any", grant: least }];
    default:
      return [];
  }
}

/** A shell line and delegated authority are not axes of the request, so no grant can express "this one". */
const ONLY_EXACT: ReadonlySet<string> = new Set(["proc.eval", "agent.grant", "agent.create", "agent.update"]);
/** Irreversible: no step covers other files, records or agents than the one shown. */
const NEVER_WIDER: ReadonlySet<string> = new Set(["fs.delete", "records.delete", "agent.delete"]);

function mayBeUnsaid({ name }: Axis): boolean {
  return name === "class" || name === "arguments";
}

/** "This tool" means with any arguments: they are decided by requests of their own. */
function withoutArguments(request: Request): Request {
  const at = request.verb.axes.findIndex(({ kind }) => kind === "arguments");
  return at < 0
    ? request
    : { ...request, values: request.values.map((value, place) => (place === at ? undefined : value)) };
}

function withScope(grant: Grant, at: number, scope: Scope, root: Grant["root"] = grant.root): Grant {
  return { ...grant, scopes: grant.scopes.map((old, place) => (place === at ? scope : old)), root };
}

function sequenceScope(pattern: Sequence): Scope {
  return { kind: "sequences", of: [pattern] };
}

/** INVARIANT: only wildcards that exclude risky options, never `cmds`, which includes them. */
function programSteps(least: Grant, argv: Value): readonly Step[] {
  if (!isSegments(argv) || argv.guarded !== null) return [];
  const { segments } = argv;
  const count = commandWords(segments);
  const behind = (words: number): Grant =>
    withScope(least, 1, sequenceScope([...segments.slice(0, words).map(literal), DEEP]));
  return [
    { name: "command", grant: least },
    ...(count === 0 ? [] : [{ name: "prefix", grant: behind(count) }]),
    ...(isRunner(segments[0] ?? "") ? [] : [{ name: "program", grant: behind(1) }]),
  ];
}

/** A protected file has other files beside it, so it is approved alone. */
function fileSteps(least: Grant, path: Value): readonly Step[] {
  const file: Step = { name: "file", grant: least };
  if (!isSegments(path) || NEVER_WIDER.has(least.verb.verb) || isGuarded(path)) return [file];
  const folder = path.segments.slice(0, -1);
  if (folder.length === 0) return [file];
  const beside = withScope(least, 0, sequenceScope([...folder.map(literal), ONE]), folder);
  const below = withScope(least, 0, sequenceScope(tree(folder)), folder);
  return [
    file,
    { name: "folder", grant: beside },
    ...(folder.length < treeSegmentsMin ? [] : [{ name: "tree", grant: below }]),
  ];
}

function isGuarded({ guarded }: Segments): boolean {
  return guarded?.includes(true) === true;
}

/** On an address that is not public, every port may be another private service. */
function hostSteps(least: Grant, host: Value): readonly Step[] {
  if (!isDestination(host) || (host.address !== null && isSpecial(host.address))) return [];
  return [{ name: "host", grant: withScope(least, 1, ANY) }];
}

function groupSteps(least: Grant, at: number, name: Value): readonly Step[] {
  if (!isSegments(name) || name.segments.length < 2 || NEVER_WIDER.has(least.verb.verb)) return [];
  const pattern = [...name.segments.slice(0, -1).map(literal), DEEP];
  return [{ name: "group", grant: withScope(least, at, sequenceScope(pattern)) }];
}
