// Addresses have one spelling; anything else is not an address.
import { describe, expect, test } from "vitest";
import { addressText, parseAddress, parseRange, rangeText } from "./address.ts";

describe("an address", () => {
  test.each([
    ["127.0.0.1", "127.0.0.01"],
    ["127.0.0.1", "127.1"],
    ["1.2.3.4", "1.2.3.4."],
    ["1.2.3.255", "1.2.3.256"],
    ["1.2.3.4", "1.2.3.0x4"],
    ["::1", ":::1"],
    ["::1", "::1%eth0"],
    ["1::8", "1::2::8"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:8::"],
    ["::ffff", "::fffff"],
    ["::1.2.3.4", "::1.2.3"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4"],
    ["::", ":"],
  ])("%j is an address, %j is not", (allowed, denied) => {
    expect(parseAddress(allowed)).not.toBeNull();
    expect(parseAddress(denied)).toBeNull();
  });

  test.each([
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:102:304", "1.2.3.4"],
    ["::fffe:1.2.3.4", "::fffe:102:304"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["1:0:0:0:0:0:0:0", "1::"],
    ["0:0:0:0:0:0:0:1", "::1"],
  ])("%s is written %s", (text, expected) => {
    const address = parseAddress(text);
    expect(address && addressText(address)).toBe(expected);
  });
});

describe("a range", () => {
  test.each([
    ["10.0.0.0/8", "10.0.0.1/8"],
    ["10.0.0.0/32", "10.0.0.0/33"],
    ["10.0.0.0/8", "10.0.0.0/08"],
    ["10.0.0.0/8", "10.0.0.0/"],
    ["fd00::/8", "fd00::1/8"],
    ["::/128", "::/129"],
    ["::ffff:0:0/96", "::ffff:0:0/95"],
  ])("%s is a range, %s is not", (allowed, denied) => {
    expect(parseRange(allowed).ok).toBe(true);
    expect(parseRange(denied).ok).toBe(false);
  });

  test.each([
    ["10.0.0.0/32", "10.0.0.0"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["FD00::/8", "fd00::/8"],
    ["0.0.0.0/0", "0.0.0.0/0"],
  ])("%s is written %s", (text, expected) => {
    const range = parseRange(text);
    expect(range.ok && rangeText(range.value)).toBe(expected);
  });

  test("a range with bits below its prefix gets a suggestion", () => {
    expect(parseRange("10.1.2.3/8")).toMatchObject({ ok: false, fix: "10.0.0.0/8" });
  });
});
