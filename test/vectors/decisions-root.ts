// Decisions about what counts when one list of grants is compared with another: roots, ids, patterns, missing commands.
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { isInert, isRooted, NO_ROOTS, type PlainGrant, plainGrants, plainWithin, seedWithin } from "./model-grant.ts";
import type { Row } from "./row.ts";

const SUBSET: readonly string[] = ["egghead-subset"];

function subsets(input: Row): JsonObject {
  return { subset: plainWithin(input["child"], input["parent"]) };
}

function seeds(input: Row): JsonObject {
  return { subset: seedWithin(input["child"], input["parent"]) };
}

/** Some grant of one side differs from one of the other in a part that the seed ignores when it compares. */
export function differsInIgnored(child: Json | undefined, parent: Json | undefined): boolean {
  const held = plainGrants(parent);
  return plainGrants(child).some((one) => held.some((other) => one.verb === other.verb && isIgnored(one, other)));
}

function isIgnored(one: PlainGrant, other: PlainGrant): boolean {
  const keys = new Set([...Object.keys(one.scope), ...Object.keys(other.scope)]);
  const isLimit = ["id", "ids", "patterns"].some((key) => keys.has(key)) || (isRooted(one) && keys.has("in"));
  return isLimit || (keys.has("cmds") && !Object.hasOwn(one.scope, "cmds"));
}

export const ROOT_DECISIONS: readonly Decision[] = [
  {
    record: "0025-walls",
    when: "temporary files are asked for: they have a private folder, never one in the root",
    files: ["egghead-sandbox"],
    holds: (input) => input["attempt"] === "TMPDIR",
    answer: () => ({ expect: "private" }),
    seed: () => ({ expect: "<root>/.egghead-tmp" }),
  },
  {
    record: "0009-roots",
    when: "roots, ids, patterns or missing commands take part: they are part of the comparison",
    files: SUBSET,
    holds: (input) => differsInIgnored(input["child"], input["parent"]),
    answer: subsets,
    seed: seeds,
  },
  {
    record: "0009-roots",
    when: "a grant has no root at any level: it is inert, so it lies within everything, and only nothing lies within it",
    files: SUBSET,
    holds: (input) =>
      [...plainGrants(input["child"]), ...plainGrants(input["parent"])].some(
        (grant) => isRooted(grant) && isInert(grant, NO_ROOTS),
      ),
    answer: subsets,
    seed: seeds,
  },
];
