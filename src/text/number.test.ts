import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactNumber } from "./number.ts";

describe("a number is exactly what was written, or refused", () => {
  it.each([
    ["0.1", 0.1, "0.10000000000000001"],
    ["9007199254740991", 9007199254740991, "9007199254740992"],
    ["-9007199254740991", -9007199254740991, "-9007199254740993"],
    ["1e15", 1e15, "1e16"],
    ["0x1FFFFFFFFFFFFF", 9007199254740991, "0x20000000000000"],
    ["1.50", 1.5, "1.50000000000000001"],
    ["5e-324", 5e-324, "5e-325"],
    ["1e3", 1000, "1e999"],
    ["+.5", 0.5, "+.5."],
    ["5.", 5, "5.."],
    ["-0", 0, "-"],
    ["0e9999", 0, "1e-9999"],
    [`1.${"0".repeat(62)}`, 1, `1.${"0".repeat(63)}`],
  ])("%s", (text, value, refused) => {
    expect(exactNumber(text)).toBe(value);
    expect(exactNumber(refused)).toBeNull();
  });

  it("every finite number that is not a large integer round-trips through its text", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        fc.pre(!Number.isInteger(value) || Number.isSafeInteger(value));
        expect(exactNumber(String(value))).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  it("digits after the seventeenth are never dropped silently", () => {
    fc.assert(
      fc.property(fc.bigInt(10n ** 17n, 10n ** 30n), (digits) => {
        const value = exactNumber(`0.${digits}`);
        if (value !== null) expect(String(value)).toContain(String(digits).replace(/0+$/, ""));
      }),
    );
  });
});
