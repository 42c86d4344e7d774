// Law 19: an explanation is true. The grant it names covers alone, and the one it suggests is the smallest that would.
import { describe, expect, test, vi } from "vitest";
import { ANY, type Scope, type Value } from "../../src/core/authority/axes/scope.ts";
import type { Chain } from "../../src/core/authority/chain.ts";
import { compile } from "../../src/core/authority/compiled.ts";
import { explain } from "../../src/core/authority/explain.ts";
import { type Grant, UNCONDITIONAL } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { DEEP, literal, ONE, type Segment } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { authorityOf, chain, grantOf, grants, moment, PLAIN_MOMENT, VERBS } from "./arbitraries.ts";
import { CORE, single } from "./implementation.ts";
import { casesReached, casesWanted, caught, findViolation, LAW_TIMEOUT, type Law, printValue, shrunk } from "./law.ts";
import { suggestsMore } from "./mutants.ts";
import { naiveGrant } from "./naive.ts";
import { requestNear } from "./requests.ts";
import { chance, oneOf, type Source } from "./source.ts";

vi.setConfig({ testTimeout: LAW_TIMEOUT });

/** Agents are named by their id, and the pattern over ids is matched against the same id. */
function someRequest(source: Source): Request {
  const verb = oneOf(source, VERBS);
  const request = requestNear(source, verb, grants(source, verb, 1, 2));
  const id = verb.axes.findIndex(({ name }) => name === "id");
  return id < 0 ? request : { verb, values: request.values.map(() => request.values[id]) };
}

/** A request that one grant can express: it names its values, and its arguments are a few plain values. */
function isSayable({ verb, values }: Request): boolean {
  if (verb.family === "external" && verb.axes.length > 0 && values[0] === undefined) return false;
  return values.every((value, at) => {
    const kind = verb.axes[at]?.kind;
    if (kind === "path" && typeof value === "object" && "segments" in value)
      return !value.segments.some((text) => /[*?[\]{}]|[@+!]\(/.test(text));
    if (typeof value !== "object" || !("kind" in value) || value.kind !== "json") return true;
    const all = Object.values(value.value);
    return all.length <= 6 && all.every((one) => typeof one !== "object" || one === null);
  });
}

const covers: Law = (core, source) => {
  const request = someRequest(source);
  const grant = core.suggest(request);
  if (grant === null) return isSayable(request) ? `nothing suggested for ${printValue(request)}` : null;
  if (!naiveGrant(grant, request)) return `does not cover ${printValue(request)}\n${printValue(grant)}`;
  return core.level(single([grant]), request, PLAIN_MOMENT, "use") === 0 ? null : printValue(request);
};

/** One pattern on each axis that the grammar can write and that matches the value. */
function oneSegment(source: Source, text: string): Segment {
  const cut = source.below(text.length + 1);
  return oneOf<Segment>(source, [
    literal(text),
    ONE,
    DEEP,
    { kind: "glob", parts: [text.slice(0, cut), ""] },
    { kind: "glob", parts: ["", text.slice(cut)] },
  ]);
}

function around(source: Source, request: Request, at: number): Scope {
  const axis = request.verb.axes[at];
  const value: Value = request.values[at];
  if (axis === undefined || value === undefined || axis.kind === "arguments" || chance(source, 25)) return ANY;
  if (typeof value === "number")
    return { kind: "ports", of: [{ low: value - source.below(2), high: value + source.below(2) }] };
  if (typeof value === "string")
    return {
      kind: "words",
      of:
        value === "ro" || value === "sni"
          ? [value]
          : axis.name === "raw"
            ? ["sni", "raw"]
            : value === "live"
              ? ["ro", "rw", "live"]
              : ["ro", "rw"],
    };
  if ("segments" in value) {
    const segments = value.segments.map((text) => oneSegment(source, text));
    const of: Sequence =
      axis.name === "root"
        ? [...value.segments.slice(0, source.below(value.segments.length + 1)).map(literal), DEEP]
        : chance(source, 30)
          ? [...segments, DEEP]
          : segments;
    return { kind: "sequences", of: [of] };
  }
  if (!("address" in value)) return ANY;
  if (value.name === null)
    return {
      kind: "destinations",
      names: chance(source, 50) ? [[DEEP]] : [],
      ranges: chance(source, 50)
        ? [
            {
              family: value.address.family,
              low: value.address.number,
              high: value.address.number,
              prefix: value.address.family === 4 ? 32 : 128,
            },
          ]
        : [],
      everyPublic: true,
      openings: [],
    };
  const exact = value.name.segments.map(literal);
  const name: Sequence = oneOf<Sequence>(source, [
    exact,
    [...exact, DEEP],
    [...exact.slice(0, -1), ONE, DEEP],
    [...exact.slice(0, 1), DEEP],
    [DEEP],
  ]);
  const opening =
    value.address === null
      ? []
      : [
          {
            name,
            range: {
              family: value.address.family,
              low: value.address.number,
              high: value.address.number,
              prefix: value.address.family === 4 ? 32 : 128,
            },
          },
        ];
  return { kind: "destinations", names: [name], ranges: [], everyPublic: false, openings: opening };
}

const smallest: Law = (core, source) => {
  const request = someRequest(source);
  const suggested = core.suggest(request);
  if (suggested === null) return null;
  const named = request.verb.axes.some(({ name }) => name === "id");
  for (let count = 0; count < 3; count++) {
    const scopes = request.verb.axes.map((axis, at) =>
      named && axis.name === "path" ? ANY : around(source, request, at),
    );
    const other = grantOf(request.verb, scopes, UNCONDITIONAL);
    if (!naiveGrant(other, request)) continue;
    const found = core.within([suggested], single([other]), false);
    if (found.kind === "exceeds")
      return `${printValue(suggested.scopes)} is more than ${printValue(scopes)} for ${printValue(request)}`;
  }
  return null;
};

const namesTheGrant: Law = (_, source) => {
  const verb = oneOf(source, VERBS);
  const links = chain(source, verb, 3);
  const request = requestNear(
    source,
    verb,
    links.flatMap(({ link }) => link.grants),
  );
  const at = moment(source);
  const decision = judge([links], request, at);
  if (decision.outcome === "deny") return null;
  for (const [place, index] of decision.by.grants.entries()) {
    const grant = (links[place] as Chain[number]).link.grants[index];
    if (grant === undefined || !naiveGrant(grant, request))
      return `link ${place} names ${index}\n${printValue(links.map(({ link }) => link))}\n${printValue(request)}`;
    if (decision.outcome === "allow" && grant.conditions.ask !== 0) return "an allowance named a grant that asks";
  }
  const { links: explained } = explain([links], request, at, decision);
  return explained.every(({ covers: one }, place) => one && explained[place]?.grant === decision.by.grants[place])
    ? null
    : "the explanation names other grants";
};

/** Adding the suggestion, and nothing else, turns the denial into an allowance. */
const helps: Law = (_, source) => {
  const verb = oneOf(source, VERBS);
  const list: readonly Grant[] = grants(source, verb, 0, 3);
  const request = requestNear(source, verb, list);
  const at = moment(source);
  const authority = authorityOf(list);
  const decision = judge(authority, request, at);
  if (decision.outcome !== "deny") return null;
  const { suggest, isSpecial } = explain(authority, request, at, decision);
  // For an address that is not public nothing is proposed.
  if (isSpecial) return null;
  // If a condition of a held grant is not met, nothing is proposed that would drop it.
  const isHeld = list.some((grant) => naiveGrant(grant, request));
  const isGuarded = isHeld || list.some(({ conditions }) => printValue(conditions) !== printValue(UNCONDITIONAL));
  if (suggest === null) return isGuarded || !isSayable(request) ? null : `nothing suggested for ${decision.code}`;
  if (isHeld && suggest.verb === verb) return `suggested for ${decision.code}, and held: ${printValue(list)}`;
  // A process that changes its root needs a second grant, for writing there.
  if (request.values.includes("rw") || request.values.includes("live")) return null;
  const after = judge([[compile({ ...(authority[0] as Chain)[0].link, grants: [...list, suggest] })]], request, at);
  return after.outcome === "allow"
    ? null
    : `${decision.code} stayed ${after.outcome}\n${printValue(request)}\n${printValue(suggest)}`;
};

describe("explanations", () => {
  test.each([
    ["law 19: the suggested grant alone covers the request", covers, 2_000],
    ["law 19: the suggested grant is within every one-pattern grant that covers", smallest, 1_500],
    ["law 19: each grant that a decision names covers the request alone", namesTheGrant, 1_500],
    ["law 19: adding the suggestion and nothing else allows the request", helps, 1_500],
  ] as const)("%s", (_title, law, count) => {
    expect(findViolation(law, CORE, count)).toBeNull();
    expect(shrunk(law, CORE, 60)).toBeNull();
  });

  test("mutant: a suggestion of the folder and of any port is caught", () => {
    expect(caught(smallest, suggestsMore, 5_000)).toBe(true);
  });

  test("the cases were run", () => {
    expect(casesReached()).toBeGreaterThanOrEqual(casesWanted("suggest"));
  });
});
