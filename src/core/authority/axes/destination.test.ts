// Hosts: a name, a name and its subdomains, only subdomains, any name; addresses only where they are written.
import { describe, expect, test } from "vitest";
import { parseAddress, parseRange } from "../../base/address.ts";
import type { Result } from "../../base/result.ts";
import { DEEP } from "../patterns/segment.ts";
import {
  type DestinationScope,
  destinationMatches,
  destinationText,
  hostPatternText,
  hostTexts,
  openingTexts,
  parseHost,
  parseHostEntry,
  parseHostPattern,
} from "./destination.ts";

const toAscii = (host: string): string | null =>
  ({
    "bücher.de": "xn--bcher-kva.de",
    "xn--bcher-kva.de": "xn--bcher-kva.de",
    "xn--bcher-kvb.de": "xn--bcher-kvb.de",
    "１２７.0.0.1": "127.0.0.1",
  })[host] ?? null;

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function scope(entries: readonly string[], openings: readonly string[] = []): DestinationScope {
  const read = entries.map((text) => good(parseHostEntry(text, toAscii)));
  const every = read.some(({ kind }) => kind === "every");
  return {
    kind: "destinations",
    names: [...(every ? [[DEEP]] : []), ...read.flatMap((entry) => (entry.kind === "name" ? [entry.name] : []))],
    ranges: read.flatMap((entry) => (entry.kind === "range" ? [entry.range] : [])),
    everyPublic: every,
    openings: openings.map((text) => {
      const [name = "", range = ""] = text.split("=");
      return { name: name === "*" ? [DEEP] : good(parseHostPattern(name, toAscii)), range: good(parseRange(range)) };
    }),
  };
}

/** `name` or `name=address it resolved to`. */
function covers(hosts: DestinationScope, text: string): boolean {
  const [host = "", resolved] = text.split("=");
  const value = good(parseHost(host, toAscii));
  if (resolved === undefined || value.name === null) return destinationMatches(hosts, value);
  const address = parseAddress(resolved);
  if (address === null) throw new Error(resolved);
  return destinationMatches(hosts, { name: value.name, address });
}

describe("an entry of hosts covers", () => {
  test.each([
    ["a name is itself", ["x.com"], "x.com", "y.com"],
    ["a name does not cover its subdomains", ["x.com"], "x.com", "a.x.com"],
    ["a name is not a longer name", ["x.com"], "x.com", "x.com.evil"],
    ["`*.x` is x itself", ["*.x.com"], "x.com", "xx.com"],
    ["`*.x` is everything below x, at any depth", ["*.x.com"], "a.b.x.com", "a.b.y.com"],
    ["`*.x` does not end in the middle of a label", ["*.x.com"], "a.x.com", "ax.com"],
    ["`+.x` is strictly below x", ["+.x.com"], "a.x.com", "x.com"],
    ["`+.x` is below x at any depth", ["+.x.com"], "a.b.x.com", "a.b.xx.com"],
    ["`*` is any name, but no name that leads to a private address", ["*"], "x.com", "x.com=10.0.0.1"],
    ["`*` is any public literal, but no special one", ["*"], "8.8.8.8", "127.0.0.1"],
    ["`*` is any public v6 literal, but no special one", ["*"], "2606::1", "::1"],
    ["case does not matter, letters do", ["X.com"], "x.COM", "y.COM"],
    ["one trailing dot does not matter", ["x.com."], "x.com", "x.co"],
    ["an address is that address", ["10.0.0.1"], "10.0.0.1", "10.0.0.2"],
    ["an address does not cover a name that resolves to it", ["10.0.0.1", "x.com"], "x.com", "x.com=10.0.0.1"],
    ["a range covers the literals in it", ["10.0.0.0/8"], "10.1.2.3", "11.1.2.3"],
    ["a range covers no name", ["8.0.0.0/8"], "8.8.8.8", "x.com=8.8.8.8"],
    ["a mapped address is the IPv4 address", ["10.0.0.1"], "::ffff:10.0.0.1", "::ffff:10.0.0.2"],
    ["an international name is its ASCII form", ["bücher.de"], "xn--bcher-kva.de", "xn--bcher-kvb.de"],
  ])("%s", (_rule, entries, allowed, denied) => {
    expect(covers(scope(entries), allowed)).toBe(true);
    expect(covers(scope(entries), denied)).toBe(false);
  });
});

describe("private and special addresses are refused for every name", () => {
  test.each([
    ["a name may resolve to a public address, not to a private one", ["x.com"], [], "x.com=8.8.8.8", "x.com=10.0.0.8"],
    ["a name may not resolve to loopback", ["x.com"], [], "x.com=8.8.8.8", "x.com=127.0.0.1"],
    ["nor in its mapped spelling", ["x.com"], [], "x.com=::ffff:8.8.8.8", "x.com=::ffff:127.0.0.1"],
    ["an opening opens its range, not the next", ["db.in"], ["db.in=10.1.0.0/16"], "db.in=10.1.0.1", "db.in=10.2.0.1"],
    [
      "an opening opens for its name, not for another",
      ["db.in", "dc.in"],
      ["db.in=10.1.0.0/16"],
      "db.in=10.1.0.1",
      "dc.in=10.1.0.1",
    ],
    ["an opening does not grant its name", ["db.in"], ["*.in=10.1.0.0/16"], "db.in=10.1.0.1", "dc.in=10.1.0.1"],
    [
      "an opening too wide opens nothing",
      ["db.in"],
      ["db.in=10.0.0.0/8", "db.in=192.0.0.0/7"],
      "db.in=10.0.0.1",
      "db.in=192.168.0.1",
    ],
    [
      "metadata is opened by its own entry only",
      ["db.in", "dc.in"],
      ["db.in=169.254.169.254", "dc.in=169.254.0.0/16"],
      "db.in=169.254.169.254",
      "dc.in=169.254.169.254",
    ],
    ["an opening opens no literal", ["db.in"], ["db.in=10.0.0.0/8"], "db.in=10.0.0.1", "10.0.0.1"],
  ])("%s", (_rule, entries, openings, allowed, denied) => {
    expect(covers(scope(entries, openings), allowed)).toBe(true);
    expect(covers(scope(entries, openings), denied)).toBe(false);
  });
});

describe("parsing", () => {
  test.each([
    ["x.com", "x..com"],
    ["x.com.", "x.com.."],
    ["x_y.com", "x y.com"],
    ["bücher.de", "bücher.dé"],
    ["xn--bcher-kva.de", "xn--bcher.de"],
    ["1.com", "com.1"],
    ["127.0.0.1", "127.0.0.1."],
    ["127.0.0.1", "127.1"],
    ["127.0.0.1", "0177.0.0.1"],
    ["127.0.0.1", "１２７.0.0.1"],
    ["x0x7f", "0x7f"],
    ["[::1]", "[::1"],
    ["::1", "::1%1"],
    ["x.com", "x.com\0"],
    ["x.com", "*.x.com"],
    [`${"a".repeat(63)}.com`, `${"a".repeat(64)}.com`],
    ["a", ""],
  ])("%j is a host, %j is not", (allowed, denied) => {
    expect(parseHost(allowed, toAscii).ok).toBe(true);
    expect(parseHost(denied, toAscii).ok).toBe(false);
  });

  test.each([
    ["*.x.com", "a*.x.com"],
    ["*.x.com", "*.*.com"],
    ["*.x.com", "x.*.com"],
    ["+.x.com", "+x.com"],
    ["*", "**"],
    ["10.0.0.0/8", "10.0.0.1/8"],
    ["1.2.3.4", "1.2.3"],
    ["*.x.com", "*.1.2.3.4"],
    ["x.com", "x.com:443"],
    ["x.com", "http://x.com"],
  ])("%j is an entry, %j is not", (allowed, denied) => {
    expect(parseHostEntry(allowed, toAscii).ok).toBe(true);
    expect(parseHostEntry(denied, toAscii).ok).toBe(false);
  });

  test.each([
    ["*.X.com.", "*.x.com"],
    ["+.a.x.com", "+.a.x.com"],
    ["a.x.com", "a.x.com"],
  ])("the pattern %s is printed %s", (text, expected) => {
    expect(hostPatternText(good(parseHostPattern(text, toAscii)))).toBe(expected);
  });

  test.each([
    ["A.x.com.", "a.x.com"],
    ["[::1]", "[::1]"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
  ])("the host %s is printed %s", (text, expected) => {
    expect(destinationText(good(parseHost(text, toAscii)))).toBe(expected);
  });

  test("a scope is printed as it is written", () => {
    const written = scope(["*", "*.x.com", "10.0.0.0/8"], ["db.in=10.1.0.0/16"]);
    expect(hostTexts(written)).toEqual(["*", "*.x.com", "10.0.0.0/8"]);
    expect(openingTexts(written)).toEqual(["db.in=10.1.0.0/16"]);
  });
});
