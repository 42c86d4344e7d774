// Decisions about granted and required caveats: entries are trees, and programs run only where files may be read.
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { wholeCaveats } from "./caveats.ts";
import type { Decision } from "./decision.ts";
import { WORK } from "./machine.ts";
import { folder } from "./model-grant.ts";
import { isAtOrBelow } from "./model-words.ts";
import { mapOr, type Row, textsOr } from "./row.ts";

const GATE: readonly string[] = ["bridle-gate"];
const FILES: readonly string[] = ["fs_read", "fs_write"];

/** `all` is null. */
function onlyOf(scope: Json | undefined): readonly Json[] | null {
  const only = isJsonObject(scope) ? scope["only"] : undefined;
  return isJsonList(only) ? only : null;
}

function sides(input: Row): readonly [JsonObject, JsonObject] {
  return [wholeCaveats(mapOr(input, "granted")), wholeCaveats(mapOr(input, "required"))];
}

type Common = (left: readonly Json[], right: readonly Json[]) => readonly Json[];

function exactly(left: readonly Json[], right: readonly Json[]): readonly Json[] {
  return left.filter((one) => right.includes(one));
}

/** The deeper path of every nested pair. */
function trees(left: readonly Json[], right: readonly Json[]): readonly Json[] {
  return left.flatMap((one) => right.flatMap((other) => (lies(one, other) ? [one] : lies(other, one) ? [other] : [])));
}

function lies(inner: Json, outer: Json): boolean {
  return isAtOrBelow(folder(String(inner)), folder(String(outer)));
}

function effective(input: Row, files: Common): Record<string, Json> {
  const [granted, required] = sides(input);
  const met: Record<string, Json> = {};
  for (const axis of Object.keys(granted)) {
    const [one, other] = [granted[axis] as Json, required[axis] as Json];
    const [left, right] = [onlyOf(one), onlyOf(other)];
    if (axis === "max_calls")
      met[axis] =
        one === "unlimited" ? other : other === "unlimited" ? one : { at_most: Math.min(atMost(one), atMost(other)) };
    else if (left === null || right === null) met[axis] = setOf(left ?? right);
    else met[axis] = setOf((FILES.includes(axis) ? files : exactly)(left, right));
  }
  return met;
}

function setOf(list: readonly Json[] | null): Json {
  return list === null ? "all" : { only: [...new Set(list)].sort() };
}

function atMost(scope: Json): number {
  return Number(isJsonObject(scope) ? scope["at_most"] : Number.NaN);
}

/** Neither the working folder nor anything in it may be read. */
function isBlind(caveats: JsonObject): boolean {
  const read = onlyOf(caveats["fs_read"]);
  return read !== null && !read.some((entry) => lies(entry, WORK) || lies(WORK, entry));
}

function ours(input: Row): JsonObject {
  const met = effective(input, trees);
  return { effective: sides(input).some(isBlind) ? { ...met, exec: { only: [] } } : met };
}

function seeds(input: Row): JsonObject {
  return { effective: effective(input, exactly) };
}

export const CAVEATS_DECISIONS: readonly Decision[] = [
  {
    record: "0009-roots",
    when: "programs are granted where no file may be read: a process sees its root, so there is none it may run in",
    files: GATE,
    holds: (input) => sides(input).some(isBlind),
    answer: ours,
    seed: seeds,
  },
  {
    record: "0005-path-patterns",
    when: "a path of one side lies below one of the other: an entry is a tree, and they meet in the deeper one",
    files: GATE,
    holds: (input) =>
      FILES.some((axis) => {
        const [left, right] = sides(input).map((side) => textsOr(mapOr(side, axis), "only", [])) as [
          readonly string[],
          readonly string[],
        ];
        return trees(left, right).length !== exactly(left, right).length;
      }),
    answer: ours,
    seed: seeds,
  },
];
