import { describe, expect, test } from "vitest";
import { parseUri, parseUriPattern, uriPatternText, uriText } from "./uri.ts";

const segments = (text: string): readonly string[] | string => {
  const parsed = parseUri(text);
  return parsed.ok ? parsed.value.segments : parsed.code;
};

describe("URIs of resources", () => {
  test.each([
    ["docs://pages/a", ["docs:", "pages", "a"]],
    ["DOCS://pages/a", ["docs:", "pages", "a"]],
    ["docs://pages", ["docs:", "pages"]],
    ["docs:///pages/a", ["docs:", "[]", "pages", "a"]],
    ["docs:/pages/a", ["docs:", "[]", "pages", "a"]],
    ["file:///etc/passwd", ["file:", "localhost", "etc", "passwd"]],
    ["file://localhost/etc/passwd", ["file:", "localhost", "etc", "passwd"]],
    ["urn:isbn:1", ["urn:isbn:1"]],
    ["prompt:greet", ["prompt:greet"]],
  ])("%s has one spelling", (text, expected) => {
    expect(segments(text)).toEqual(expected);
  });

  test.each([
    "docs://pages/../secret",
    "docs://pages/./a",
    "docs://pages/%2e%2e/secret",
    "docs://pages%2Fsecret",
    "docs://pages\\..\\secret",
    "docs://pages//a",
    "docs://pages/",
    "docs://",
    "",
    "docs://*",
    "docs://a\u0000",
    "docs://a%00",
    "docs://pages/secret?.md",
    "docs://pages/secret#.md",
    "docs://pages/pub/..?",
    "https://evil.example?.good.example/x",
  ])("%j has none", (text) => {
    expect(segments(text)).toBe("bad_value");
  });

  test.each(["docs://pages/a", "docs:///a", "urn:isbn:1", "prompt:greet", "file://localhost/a"])(
    "%s is printed as it is read",
    (text) => {
      expect(uriText(segments(text) as readonly string[])).toBe(text);
    },
  );

  test.each(["docs://pages/**", "docs://*/a", "docs:///a*", "**", "prompt:*"])("the pattern %s, too", (text) => {
    const parsed = parseUriPattern(text);
    expect(parsed.ok && uriPatternText(parsed.value)).toBe(text);
  });
});
