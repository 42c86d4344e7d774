// Grants that are a little wider, or equally wide in another form: random pairs are seldom nested, these often are.
import type { Constraint } from "../../src/core/authority/axes/constraint.ts";
import { ANY, type Scope } from "../../src/core/authority/axes/scope.ts";
import type { Conditions, Grant } from "../../src/core/authority/grant.ts";
import { UNCONDITIONAL } from "../../src/core/authority/grant.ts";
import { DEEP, ONE, type Segment } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import { OTHER_GROUND, PATH_SETTINGS } from "./alphabet.ts";
import { chance, oneOf, type Source } from "./source.ts";

/** Often wider, mostly not narrower; the laws only need such pairs to be frequent. */
export function widenGrant(source: Source, grant: Grant): Grant {
  return {
    ...grant,
    scopes: grant.scopes.map((scope) => widenedScope(source, scope)),
    conditions: widenedConditions(source, grant.conditions),
  };
}

function widenedConditions(source: Source, conditions: Conditions): Conditions {
  if (chance(source, 40)) return UNCONDITIONAL;
  return {
    ...conditions,
    ask: chance(source, 50) ? 0 : conditions.ask,
    clean: chance(source, 50) ? false : conditions.clean,
    principals: chance(source, 50) ? null : conditions.principals,
  };
}

function widenedScope(source: Source, scope: Scope): Scope {
  switch (scope.kind) {
    case "sequences":
      return chance(source, 10)
        ? ANY
        : { kind: "sequences", of: scope.of.flatMap((pattern) => widenedSequence(source, pattern)) };
    case "destinations":
      return {
        ...scope,
        names: scope.names.flatMap((name) =>
          chance(source, 30) && name.at(-1)?.kind === "literal" ? [[...name, DEEP]] : [name],
        ),
      };
    case "ports":
      return {
        kind: "ports",
        of: scope.of.flatMap(({ low, high }) =>
          low < high && chance(source, 40)
            ? [
                { low, high: low },
                { low: low + 1, high },
              ]
            : [{ low, high: Math.min(65_535, high + source.below(2)) }],
        ),
      };
    case "arguments":
      return {
        ...scope,
        constrained: scope.constrained
          .slice(chance(source, 40) ? source.below(2) : 0)
          .map((argument) => ({ ...argument, constraint: moved(source, argument.constraint) })),
      };
    case "any":
    case "words":
      return scope;
  }
}

/** The same patterns, relative to another folder. */
function moved(source: Source, constraint: Constraint): Constraint {
  return constraint.kind === "path" && chance(source, 25)
    ? { ...constraint, pathSettings: oneOf(source, [PATH_SETTINGS, OTHER_GROUND]) }
    : constraint;
}

/** The same in two halves (`**` is nothing, or something and `**`), or with one segment opened. */
function widenedSequence(source: Source, pattern: Sequence): readonly Sequence[] {
  const at = source.below(pattern.length + 1);
  const segment = pattern[at] as Segment | undefined;
  if (segment === undefined) return [pattern];
  const put = (...segments: readonly Segment[]): Sequence => [
    ...pattern.slice(0, at),
    ...segments,
    ...pattern.slice(at + 1),
  ];
  if (segment.kind === "deep") return oneOf(source, [[put(), put(ONE, DEEP)], [put(), put(DEEP, ONE)], [pattern]]);
  if (segment.kind === "rest") return [pattern];
  return oneOf(source, [[put(ONE)], [put(DEEP)], [pattern]]);
}
