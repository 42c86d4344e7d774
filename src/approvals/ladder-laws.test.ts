// Laws of the ladder over random requests of every verb.
import { expect, test } from "vitest";
import { PROTECTED } from "../../test/laws/alphabet.ts";
import { grants, VERBS } from "../../test/laws/arbitraries.ts";
import { printValue } from "../../test/laws/law.ts";
import { requestNear } from "../../test/laws/requests.ts";
import { oneOf, type Source, seededSource, several } from "../../test/laws/source.ts";
import { compile } from "../core/authority/compiled.ts";
import { ALWAYS } from "../core/authority/link.ts";
import type { Request } from "../core/authority/request.ts";
import { within } from "../core/authority/witness/within.ts";
import type { Reading } from "../core/notation/reading.ts";
import { readSpecs, specsCover } from "./cover.ts";
import { EXACT_STEP, ladderOf } from "./ladder.ts";

const READING: Reading = {
  pathSettings: { home: ["h", "u"], base: ["a"], protectedPaths: PROTECTED },
  toAscii: () => null,
  ceiling: null,
};

function someRequests(source: Source): readonly Request[] {
  return several(source, 1, 3, () => {
    const verb = oneOf(source, VERBS);
    return requestNear(source, verb, grants(source, verb, 1, 2));
  });
}

test("each step covers the whole request, and nothing that a higher step does not", () => {
  const covers = specsCover(READING);
  let steps = 0;
  for (let seed = 0; seed < 1500; seed++) {
    const asking = someRequests(seededSource(seed));
    const ladder = ladderOf(asking, READING);
    expect(ladder[0]).toBe(EXACT_STEP);
    let before: readonly string[] = [];
    for (const { specs } of ladder.slice(1)) {
      steps++;
      for (const request of asking) expect(covers(specs ?? [], request), `${specs}: ${printValue(request)}`).toBe(true);
      const outer = readSpecs(specs ?? [], READING) ?? [];
      const inner = readSpecs(before, READING) ?? [];
      const link = compile({
        id: "x",
        role: "limit",
        issuer: "x",
        holder: "x",
        grants: outer,
        validity: ALWAYS,
        calls: null,
      });
      const options = { protectedPaths: PROTECTED, delegating: false };
      expect(within(inner, [[link]], options).kind, `${before} in ${specs}`).toBe("within");
      before = specs ?? [];
    }
  }
  expect(steps).toBeGreaterThan(500);
}, 180_000);

const GUARDED_VERBS = VERBS.filter(({ axes }) => axes.some(({ kind }) => kind === "path" || kind === "argv"));

test("no step opens a guarded path, option or address that was not requested", () => {
  const covers = specsCover(READING);
  let tried = 0;
  for (let seed = 0; seed < 6000; seed++) {
    const source = seededSource(seed * 31 + 7);
    const verb = oneOf(source, GUARDED_VERBS);
    const [asked, other] = [0, 1].map(() => requestNear(source, verb, grants(source, verb, 1, 1))) as [
      Request,
      Request,
    ];
    if (!isGuarded(other) || JSON.stringify(other.values, plain) === JSON.stringify(asked.values, plain)) continue;
    for (const { specs } of ladderOf([asked], READING).slice(1)) {
      tried++;
      // A guarded segment matches only its own literal, so only a request that has it.
      if (covers(specs ?? [], other))
        expect(sameGuarded(asked, other), `${specs} opens ${printValue(other)}`).toBe(true);
    }
  }
  expect(tried).toBeGreaterThan(100);
}, 180_000);

function plain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function guardedTexts({ values }: Request): readonly string[] {
  return values.flatMap((value) =>
    typeof value === "object" && "segments" in value
      ? value.segments.filter((_, at) => value.guarded?.[at] === true)
      : [],
  );
}

function isGuarded(request: Request): boolean {
  return guardedTexts(request).length > 0;
}

function sameGuarded(asked: Request, other: Request): boolean {
  return JSON.stringify(guardedTexts(asked)) === JSON.stringify(guardedTexts(other));
}
