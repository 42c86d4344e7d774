import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHost } from "../core/authority/axes/destination.ts";
import { toAscii } from "./ascii.ts";

describe("an international name has an ASCII form, and one character away it has none", () => {
  it.each([
    ["bücher.de", "xn--bcher-kva.de", "bücher.de/"],
    ["例え.jp", "xn--r8jz45g.jp", "例え.jp?"],
    ["ß.de", "xn--zca.de", "ß.de#"],
    ["Ä.de", "xn--4ca.de", "Ä .de"],
    ["ä.de", "xn--4ca.de", "ä\t.de"],
    ["ä.de", "xn--4ca.de", "ä@.de"],
    ["ä.de", "xn--4ca.de", "ä:.de"],
    ["ä.de", "xn--4ca.de", "ä\\.de"],
    ["ä.de", "xn--4ca.de", "ä%.de"],
    ["ä.de", "xn--4ca.de", "*ä.de"],
    ["ä.de", "xn--4ca.de", "ä\u202e.de"],
    ["ä。de", "xn--4ca.de", "ä／de"],
    ["ä.１a", "xn--4ca.1a", "ä.１"],
    ["a", "a", ""],
  ])("%s", (host, ascii, refused) => {
    expect(toAscii(host)).toBe(ascii);
    expect(toAscii(refused)).toBeNull();
  });

  it.each(["１２７.0.0.1", "127.1", "0x7f.１", "［::1］", "ä%2ede", "\u00ad"])(
    "no address is accepted as a name: %s",
    (host) => {
      expect(toAscii(host)).toBeNull();
      expect(parseHost(host, toAscii)).toMatchObject({ ok: false });
    },
  );

  it("for all texts the answer is a name or none, and is idempotent", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string({ unit: fc.constantFrom("ä", "a", ".", "/", "%", "2", "e", "@", ":", "１", "。", "\u200d") }),
        ),
        (host) => {
          const ascii = toAscii(host);
          if (ascii === null) return;
          expect(ascii).toMatch(/^[a-z0-9._-]+$/);
          expect(toAscii(ascii)).toBe(ascii);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
