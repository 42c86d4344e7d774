import { describe, expect, it } from "vitest";
import { copyPosition, isTornHeader } from "./copy-position.ts";
import { exportLine } from "./export.ts";

const header = exportLine({ kind: "header", node: "here", first: 1, keys: [], at: 7, isCopy: true });
const hash = (place: number): string => String(place % 10).repeat(64);
const entry = (place: number): string => exportLine({ kind: "entry", place, body: "{}", hash: hash(place) });
const rotation = exportLine({ kind: "rotation", text: "x" });
const note = (place: number): string => exportLine({ kind: "checkpoint", place, text: "note" });

describe("the position of a copy", () => {
  it.each<readonly [readonly string[], object]>([
    [[], { place: null, hash: null, note: null, rotations: 0 }],
    [[rotation], { place: null, hash: null, note: null, rotations: 1 }],
    [[rotation, rotation, entry(1)], { place: 1, hash: hash(1), note: null, rotations: 2 }],
    [[entry(1), note(1)], { place: 1, hash: hash(1), note: 1, rotations: 0 }],
    [[entry(1), note(1), entry(2)], { place: 2, hash: hash(2), note: null, rotations: 0 }],
    [[note(0), entry(1)], { place: 1, hash: hash(1), note: null, rotations: 0 }],
  ])("%j", (tail, value) => {
    expect(copyPosition("here", header, tail, true)).toEqual({ ok: true, value: { ...value, first: 1 } });
  });

  it("if only its end is read, a note may come first", () => {
    const standing = copyPosition("here", header, [note(7), entry(8)], false);
    expect(standing).toMatchObject({ ok: true, value: { place: 8, note: null } });
  });

  it.each<readonly [string, string, readonly string[], boolean]>([
    ["not a copy of a log", "notes", [], true],
    ["not a copy of a log", header.replace('"isCopy":true,', ""), [entry(1)], true],
    ["another log", header.replace("here", "there"), [entry(1)], true],
    ["a gap after entry 1", header, [entry(1), entry(3)], true],
    ["a gap after entry 2", header, [entry(2), entry(2)], true],
    ["an invalid line", header, [entry(1), "notes"], true],
    ["an invalid line", header, [entry(1), header], true],
    ["no entry near its end", header, [note(1)], false],
    ["the checkpoint of entry 9999 after entry 1", header, [entry(1), note(9999)], true],
    ["the checkpoint of entry 1 after entry 2", header, [entry(1), entry(2), note(1)], true],
    ["the checkpoint of entry 1 after entry 0", header, [note(1), entry(1)], true],
    ["an invalid line", header, [entry(1), rotation], true],
  ])("%s: refused", (message, first, tail, isAll) => {
    expect(copyPosition("here", first, tail, isAll)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });

  it.each([
    ["", true],
    ['{"a', true],
    [header.slice(0, 40), true],
    [header.replace('"at":7', '"at":8'), true],
    [header.replace('"first":1', '"first":9').slice(0, 30), true],
    ["\0\0\0", true],
    ['{"at":7\0\0', true],
    ["\0".repeat(header.length + 1), true],
    ["\0".repeat(header.length + 2), false],
    ["notes", false],
    ["{}", false],
    ['{"at":,', false],
    ['{"at":"2026-01-01","note":"a year of work"}', false],
    ['{"at":7,"first":1,"isCopy":tr"', false],
    [header.replace("here", "them"), false],
    [`${header}more`, false],
  ])("%j can be what is left of a first line: %s", (text, isTorn) => {
    expect(isTornHeader(text, header)).toBe(isTorn);
  });

  it("every prefix of it is one", () => {
    for (let end = 0; end <= header.length; end++) expect(isTornHeader(header.slice(0, end), header)).toBe(true);
  });
});
