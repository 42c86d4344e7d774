// A signed note has one encoding, parses back to what was signed, and nothing else parses as one.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NODE, newSigner, PORTS } from "../../../test/audit/written-log.ts";
import { sha256 } from "../../platform/digest.ts";
import { type Checkpoint, makeCheckpoint, parseCheckpoint } from "./checkpoint.ts";

const signer = newSigner();
const checkpoint: Checkpoint = { node: NODE, size: 12, hash: sha256("x"), at: 1_700_000_000_000, next: null };

describe("a signed note", () => {
  test("has the shape that transparency logs share", () => {
    const lines = makeCheckpoint(checkpoint, signer).split("\n");
    expect(lines.slice(0, 5)).toEqual([
      "ambit audit node-1",
      "12",
      Buffer.from(checkpoint.hash, "hex").toString("base64"),
      "time 1700000000000",
      "",
    ]);
    expect(lines[5]).toMatch(/^— ambit-audit-key [A-Za-z0-9+/]{91}=$/);
    expect(lines[6]).toBe("");
    expect(
      Buffer.from(lines[5]?.split(" ")[2] ?? "", "base64")
        .toString("hex")
        .slice(0, 8),
    ).toBe(signer.key.split("+")[1]);
  });

  test("says that every commit is signed in a line of its own, which is signed, too", () => {
    const text = makeCheckpoint({ ...checkpoint, isEveryCommitSigned: true }, signer);
    expect(text.split("\n").slice(3, 6)).toEqual(["time 1700000000000", "signs every commit", ""]);
    expect(parseCheckpoint(text)?.isEveryCommitSigned).toBe(true);
    const without = parseCheckpoint(text.replace("signs every commit\n", ""));
    expect(without !== null && PORTS.check(signer.key, without.signed, without.signature)).toBe(false);
  });

  test.each([null, newSigner().key])("parses back, and its signature is valid: next %s", (next) => {
    const note = parseCheckpoint(makeCheckpoint({ ...checkpoint, next }, signer));
    expect(note).toMatchObject({ ...checkpoint, next, keyNumber: signer.key.split("+")[1] });
    expect(note !== null && PORTS.check(signer.key, note.signed, note.signature)).toBe(true);
    expect(note !== null && PORTS.check(newSigner().key, note.signed, note.signature)).toBe(false);
    expect(note !== null && PORTS.check(signer.key, `${note.signed} `, note.signature)).toBe(false);
  });

  test("with any character changed does not parse, or has no valid signature", () => {
    const text = makeCheckpoint({ ...checkpoint, next: newSigner().key }, signer);
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.string({ unit: "binary", maxLength: 2 }), (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1);
        if (changed === text) return;
        const note = parseCheckpoint(changed);
        expect(
          note !== null &&
            note.keyNumber === signer.key.split("+")[1] &&
            PORTS.check(signer.key, note.signed, note.signature),
        ).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["a node with a space", { node: "a b" }],
    ["a node with a line break", { node: "a\nb" }],
    ["no node", { node: "" }],
    ["a fractional entry", { size: 1.5 }],
    ["a negative number", { size: -1 }],
    ["an invalid hash", { hash: "xyz" }],
    ["no time", { at: Number.NaN }],
    ["an invalid key", { next: "ambit-audit-key+xx" }],
  ])("is not made of %s", (_what, wrong) => {
    expect(() => makeCheckpoint({ ...checkpoint, ...wrong }, signer)).toThrow(TypeError);
  });
});
