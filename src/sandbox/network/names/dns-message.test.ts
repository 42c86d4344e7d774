import fc from "fast-check";
import { expect, test } from "vitest";
import { queryOf } from "../testing/dns.ts";
import { answerTo, RECORD, RESPONSE, readQuestion } from "./dns-message.ts";

test("a query is parsed in lower case and answered with its original letters", () => {
  const read = readQuestion(queryOf("aPi.Example.TEST", RECORD.address));
  if (read.kind !== "question") throw new Error(read.kind);
  expect(read.question.name).toBe("api.example.test");
  const answer = Buffer.from(answerTo(read.question, RESPONSE.done, new Uint8Array([198, 18, 1, 0])));
  expect(answer.subarray(0, 2)).toEqual(Buffer.from([0x12, 0x34]));
  expect(answer.toString("latin1")).toContain("aPi\x07Example\x04TEST");
  expect(answer.subarray(-4)).toEqual(Buffer.from([198, 18, 1, 0]));
});

test.each([
  ["letters, digits, dash, underscore", "_a-1.example", "_a-1.example"],
  ["a zero byte", "attacker\0.example", null],
  ["a dot inside a label", ["a.b", "example"], null],
  ["a space", "a b.example", null],
  ["a letter beyond ASCII", "\xe4.example", null],
  ["nothing: the root", "", null],
])("%s: the name is %j -> %j", (_, name, wanted) => {
  const read = readQuestion(queryOf(name, RECORD.address));
  expect(read.kind === "question" ? read.question.name : read.kind).toBe(wanted);
});

const plain = queryOf("a.example", RECORD.address);
const changed = (at: number, ...bytes: number[]): Uint8Array => {
  const copy = new Uint8Array(plain);
  copy.set(bytes, at);
  return copy;
};

test.each([
  ["valid", plain, "question"],
  ["an answer", changed(2, 0x81), "nothing"],
  ["too short for a header", plain.slice(0, 11), "nothing"],
  ["too long for a query", Buffer.concat([plain, Buffer.alloc(1300)]), "nothing"],
  ["two questions", changed(4, 0, 2), "malformed"],
  ["no question", changed(4, 0, 0), "malformed"],
  ["an answer section", changed(6, 0, 1), "malformed"],
  ["another operation", changed(2, 0x28), "malformed"],
  ["a pointer in the name", changed(12, 0xc0, 12), "malformed"],
  ["a label of 64 characters", changed(12, 64), "malformed"],
  ["a label beyond the end", changed(14, 60), "malformed"],
  ["another class", changed(plain.length - 2, 0, 3), "malformed"],
  ["data after the question", Buffer.concat([plain, Buffer.from([0])]), "malformed"],
  ["cut off", plain.slice(0, -1), "malformed"],
  ["the extension", queryOf("a.example", 1, [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]), "question"],
  ["the extension with data", queryOf("a.example", 1, [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 2, 7, 7]), "question"],
  ["the extension, truncated", queryOf("a.example", 1, [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 2, 7]), "malformed"],
  ["a record that is not the extension", queryOf("a.example", 1, [0, 0, 1, 4, 208, 0, 0, 0, 0, 0, 0]), "malformed"],
])("%s: %#", (_, bytes, kind) => {
  expect(readQuestion(bytes).kind).toBe(kind);
});

test("a name of 253 characters parses, one of 255 does not", () => {
  const long = (last: number): string =>
    [..."abc"]
      .map((one) => one.repeat(63))
      .join(".")
      .concat(".", "d".repeat(last));
  expect(readQuestion(queryOf(long(61), 1)).kind).toBe("question");
  expect(readQuestion(queryOf(long(63), 1)).kind).toBe("malformed");
});

test("no bytes make it throw, and a parsed name contains only host name characters", () => {
  const questions = fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.nat(), fc.nat(255)).map(([noise, at, byte]) => {
    const bytes = Buffer.concat([plain, noise]);
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), questions), (bytes) => {
      const read = readQuestion(bytes);
      if (read.kind !== "question") return;
      if (read.question.name !== null) expect(read.question.name).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/);
      expect(read.question.shown).toMatch(/^[\x21-\x7e]*$/);
      const answer = answerTo(read.question, RESPONSE.done, new Uint8Array(4));
      expect(Buffer.from(answer).includes(Buffer.from(read.question.echo))).toBe(true);
    }),
  );
});
