import { describe, expect, it } from "vitest";
import { copyStanding, isTornHeader } from "./copy-standing.ts";
import { exportLine } from "./export.ts";

const header = exportLine({ kind: "header", node: "here", first: 1, keys: [], at: 7, isCopy: true });
const hash = (place: number): string => String(place % 10).repeat(64);
const entry = (place: number): string => exportLine({ kind: "entry", place, body: "{}", hash: hash(place) });
const note = (place: number): string => exportLine({ kind: "checkpoint", place, text: "note" });

describe("where a copy stands", () => {
  it.each<readonly [readonly string[], object]>([
    [[], { place: null, hash: null, note: null, first: 1 }],
    [[exportLine({ kind: "rotation", text: "x" })], { place: null, hash: null, note: null, first: 1 }],
    [[entry(1)], { place: 1, hash: hash(1), note: null, first: 1 }],
    [[entry(1), note(1)], { place: 1, hash: hash(1), note: 1, first: 1 }],
    [[entry(1), note(1), entry(2)], { place: 2, hash: hash(2), note: null, first: 1 }],
  ])("%j", (tail, value) => {
    expect(copyStanding("here", header, tail, true)).toEqual({ ok: true, value });
  });

  it.each<readonly [string, string, readonly string[], boolean]>([
    ["no copy of a log", "notes", [], true],
    ["no copy of a log", header.replace('"isCopy":true,', ""), [entry(1)], true],
    ["another log", header.replace("here", "there"), [entry(1)], true],
    ["a gap behind entry 1", header, [entry(1), entry(3)], true],
    ["a gap behind entry 2", header, [entry(2), entry(2)], true],
    ["no line of a copy", header, [entry(1), "notes"], true],
    ["no line of a copy", header, [entry(1), header], true],
    ["no entry near its end", header, [note(1)], false],
  ])("%s: refused", (message, first, tail, isAll) => {
    expect(copyStanding("here", first, tail, isAll)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });

  it.each([
    ["", true],
    ['{"a', true],
    [header.slice(0, 40), true],
    ["\0\0\0", true],
    ["notes", false],
    ["{}", false],
  ])("%j can be what is left of a first line: %s", (text, isTorn) => {
    expect(isTornHeader(text)).toBe(isTorn);
  });
});
