// Lists of grants as the rows write them, compared by plain rules: roots, programs, hosts, ids. An independent check only.
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { HOME, WORK } from "./machine.ts";
import { hostPatternWithin } from "./model-host.ts";
import { isAtOrBelow, pathWords, wordsMatch } from "./model-words.ts";
import { textOr, textsOr, textsOrNull } from "./row.ts";

export interface PlainGrant {
  readonly verb: string;
  readonly scope: JsonObject;
}

export function plainGrants(list: Json | undefined): readonly PlainGrant[] {
  if (!isJsonList(list)) return [];
  return list.flatMap((item) => {
    if (typeof item === "string") return [{ verb: item, scope: {} }];
    return isJsonObject(item)
      ? Object.entries(item).map(([verb, scope]) => ({ verb, scope: isJsonObject(scope) ? scope : {} }))
      : [];
  });
}

export function isRooted({ verb }: PlainGrant): boolean {
  return /^(fs|proc)\./.test(verb);
}

/** The roots to which the agent and the outer configuration limit a grant. */
export interface Roots {
  readonly agent: string | null;
  readonly ceiling: string | null;
}

export const NO_ROOTS: Roots = { agent: null, ceiling: null };

export function folder(path: string): readonly string[] {
  return pathWords(path, WORK, HOME);
}

/** The folder of a grant after hoisting, or null: the grant is inert. */
export function rootOf({ verb, scope }: PlainGrant, { agent, ceiling }: Roots): readonly string[] | null {
  const outer = ceiling === null ? null : folder(ceiling);
  const written = agent === null ? null : folder(agent);
  const hoisted = written === null || (outer !== null && !isAtOrBelow(written, outer)) ? outer : written;
  const own = textOr(scope, "in", null);
  const isCommand = verb.startsWith("proc.") && ["cmds", "patterns"].some((key) => Object.hasOwn(scope, key));
  const root = own !== null ? folder(own) : (hoisted ?? (isCommand ? folder(WORK) : null));
  return root === null || (hoisted !== null && !isAtOrBelow(root, hoisted)) ? null : root;
}

/** An entry of `paths` that is outside the root it is relative to. */
export function leavesRoot(grant: PlainGrant, roots: Roots): boolean {
  const root = isRooted(grant) ? rootOf(grant, roots) : null;
  const entries = textsOr(grant.scope, "paths", []);
  return root !== null && entries.some((entry) => !isAtOrBelow(pathWords(entry, `/${root.join("/")}`, HOME), root));
}

/** Every grant of the child is inert, or within one grant of the parent. */
export function plainWithin(child: Json | undefined, parent: Json | undefined, roots: Roots = NO_ROOTS): boolean {
  const held = plainGrants(parent);
  return plainGrants(child).every((one) => isInert(one, roots) || held.some((other) => grantWithin(one, other, roots)));
}

/** As the seed compares: hosts, classes and commands, where both sides have them; roots, ids and patterns not at all. */
export function seedWithin(child: Json | undefined, parent: Json | undefined): boolean {
  const held = plainGrants(parent);
  return plainGrants(child).every((one) =>
    held.some(
      (other) =>
        one.verb === other.verb &&
        (one.verb.startsWith("net.")
          ? keyWithin("hosts", { hosts: [], ...one.scope }, { hosts: [], ...other.scope })
          : true) &&
        keyWithin("classes", one.scope, other.scope) &&
        (!Object.hasOwn(one.scope, "cmds") || keyWithin("cmds", one.scope, other.scope)),
    ),
  );
}

export function isInert(grant: PlainGrant, roots: Roots): boolean {
  if (isRooted(grant)) return rootOf(grant, roots) === null;
  return grant.verb.startsWith("net.") && textsOr(grant.scope, "hosts", []).length === 0;
}

function grantWithin(inner: PlainGrant, outer: PlainGrant, roots: Roots): boolean {
  if (inner.verb !== outer.verb) return false;
  if (isRooted(inner)) {
    const [deep, shallow] = [rootOf(inner, roots), rootOf(outer, roots)];
    if (deep === null || shallow === null || !isAtOrBelow(deep, shallow)) return false;
  }
  const commands =
    ["cmds", "patterns"].every((key) => !Object.hasOwn(outer.scope, key)) || commandsWithin(inner.scope, outer.scope);
  return (
    commands &&
    ["hosts", "classes", "ids", "id", "keys", "names"].every((key) => keyWithin(key, inner.scope, outer.scope))
  );
}

/** Some command is named, and each is named on the other side too, or matched by one of its patterns. */
function commandsWithin(inner: JsonObject, outer: JsonObject): boolean {
  const all = (scope: JsonObject): readonly string[] => [
    ...textsOr(scope, "cmds", []),
    ...textsOr(scope, "patterns", []),
  ];
  return (
    ["cmds", "patterns"].some((key) => Object.hasOwn(inner, key)) && all(inner).every((one) => all(outer).includes(one))
  );
}

function keyWithin(key: string, inner: JsonObject, outer: JsonObject): boolean {
  const limit = values(outer, key);
  if (limit === null) return true;
  const asked = values(inner, key);
  return (
    asked?.every((one) =>
      limit.some((other) =>
        key === "hosts" ? hostPatternWithin(one, other, "tree") : wordsMatch(other.split("/"), one.split("/")),
      ),
    ) ?? false
  );
}

function values(scope: JsonObject, key: string): readonly string[] | null {
  const one = textOr(scope, key, null);
  return one === null ? textsOrNull(scope, key) : [one];
}
