// Addresses outside the public Internet are refused unless a written range opens them: not too wide, and metadata by its own
// entry.
import { describe, expect, test } from "vitest";
import { type Address, parseAddress, parseRange } from "./address.ts";
import { isMetadata, isSpecial, rangeOpens } from "./special.ts";

function address(text: string): Address {
  const found = parseAddress(text);
  if (found === null) throw new Error(text);
  return found;
}

/** The last address of each special range beside the public one next to it. */
describe("special addresses", () => {
  test.each([
    ["0.255.255.255", "1.0.0.0"],
    ["10.0.0.0", "9.255.255.255"],
    ["10.255.255.255", "11.0.0.0"],
    ["100.64.0.0", "100.63.255.255"],
    ["100.127.255.255", "100.128.0.0"],
    ["127.0.0.1", "128.0.0.1"],
    ["127.255.255.255", "126.255.255.255"],
    ["169.254.0.0", "169.253.255.255"],
    ["169.254.255.255", "169.255.0.0"],
    ["172.16.0.0", "172.15.255.255"],
    ["172.31.255.255", "172.32.0.0"],
    ["192.0.0.255", "192.0.1.0"],
    ["192.0.2.1", "192.0.3.1"],
    ["192.88.99.1", "192.88.98.1"],
    ["192.168.0.1", "192.169.0.1"],
    ["198.18.0.0", "198.17.255.255"],
    ["198.19.255.255", "198.20.0.0"],
    ["198.51.100.1", "198.51.101.1"],
    ["203.0.113.1", "203.0.112.1"],
    ["224.0.0.1", "223.255.255.255"],
    ["255.255.255.255", "8.8.8.8"],
    ["168.63.129.16", "168.63.129.17"],
    ["::", "2000::"],
    ["::1", "2606::1"],
    ["64:ff9b::808:808", "2606:ff9b::808:808"],
    ["1fff:ffff::", "2000::1"],
    ["2001::1", "2001:200::1"],
    ["2001:db8::1", "2001:db9::1"],
    ["2002:808:808::", "2003:808:808::"],
    ["3fff::1", "3ffe::1"],
    ["4000::", "3fff:1000::"],
    ["fc00::1", "2a00::1"],
    ["fd00::1", "2d00::1"],
    ["fe80::1", "2e80::1"],
    ["ff02::1", "2f02::1"],
    ["::ffff:127.0.0.1", "::ffff:8.8.8.8"],
    ["::ffff:a00:1", "::ffff:b00:1"],
  ])("%s is special, %s is public", (special, open) => {
    expect(isSpecial(address(special))).toBe(true);
    expect(isSpecial(address(open))).toBe(false);
  });

  test.each([
    ["169.254.169.254", "169.254.169.252"],
    ["169.254.170.2", "169.254.170.3"],
    ["100.100.100.200", "100.100.100.201"],
    ["168.63.129.16", "168.63.129.18"],
    ["fd00:ec2::254", "fd00:ec2::255"],
    ["::ffff:169.254.169.254", "::ffff:169.254.169.252"],
  ])("%s is a metadata address, %s is not", (metadata, other) => {
    expect(isMetadata(address(metadata))).toBe(true);
    expect(isMetadata(address(other))).toBe(false);
    expect(isSpecial(address(metadata))).toBe(true);
  });
});

describe("a written range opens", () => {
  test.each([
    ["a literal opens itself", "10.0.0.1", "10.0.0.1", "10.0.0.2"],
    ["a range opens what is in it", "10.1.0.0/16", "10.1.255.255", "10.2.0.0"],
    ["a /8 still opens special addresses", "10.0.0.0/8", "10.9.9.9", "11.9.9.9"],
    ["a /7 opens public addresses only", "10.0.0.0/7", "11.0.0.1", "10.0.0.1"],
    ["everything opens public addresses only", "0.0.0.0/0", "8.8.8.8", "192.168.0.1"],
    ["a v6 /32 still opens special addresses", "fd00::/32", "fd00::1", "fd01::1"],
    ["a v6 /31 opens public addresses only", "2000::/31", "2000::1", "fd00::1"],
    ["a v6 /8 does not open special addresses", "2600::/8", "2600::1", "fd00::1"],
    ["metadata is opened by its own entry", "169.254.169.254", "169.254.169.254", "169.254.169.253"],
    ["metadata does not open by a /31", "169.254.169.254/31", "169.254.169.255", "169.254.169.254"],
    ["metadata is not opened by its network", "169.254.0.0/16", "169.254.1.1", "169.254.169.254"],
    ["a mapped spelling is the IPv4 range", "::ffff:10.0.0.0/104", "10.0.0.1", "11.0.0.1"],
    ["a v6 range holds no IPv4 address, however spelled", "::/64", "::1", "::ffff:127.0.0.1"],
  ])("%s", (_rule, text, allowed, denied) => {
    const range = parseRange(text);
    if (!range.ok) throw new Error(range.message);
    expect(rangeOpens(range.value, address(allowed))).toBe(true);
    expect(rangeOpens(range.value, address(denied))).toBe(false);
  });
});
