// A page URL is parsed strictly: what two parsers could read differently is refused.
import { describe, expect, test } from "vitest";
import { destinationText } from "./destination.ts";
import { parseUrl } from "./url.ts";

const toAscii = (host: string): string | null => (host === "bücher.de" ? "xn--bcher-kva.de" : null);

describe("a page URL", () => {
  test.each([
    ["https://x.com/a?b#c", "https x.com 443 /a?b#c"],
    ["http://x.com", "http x.com 80 /"],
    ["HTTPS://X.com./", "https x.com 443 /"],
    ["http://x.com:8080?q", "http x.com 8080 /?q"],
    ["http://x.com:/", "http x.com 80 /"],
    ["https://[::1]:8443/", "https [::1] 8443 /"],
    ["https://[::ffff:1.2.3.4]/", "https 1.2.3.4 443 /"],
    ["https://1.2.3.4/", "https 1.2.3.4 443 /"],
    ["https://bücher.de/", "https xn--bcher-kva.de 443 /"],
    ["https://x.com/a@b", "https x.com 443 /a@b"],
    ["https://x.com/a\\b", "https x.com 443 /a\\b"],
  ])("%s is %s", (text, expected) => {
    const url = parseUrl(text, toAscii);
    expect(url.ok && `${url.value.scheme} ${destinationText(url.value.host)} ${url.value.port} ${url.value.rest}`).toBe(
      expected,
    );
  });

  test.each([
    ["https://x.com/", "https:/x.com/"],
    ["https://x.com/", "https//x.com/"],
    ["https://x.com/", "ftp://x.com/"],
    ["https://x.com/", "file:///x.com/"],
    ["https://x.com/", "https:///x.com/"],
    ["https://x.com/", "https://u@x.com/"],
    ["https://x.com/", "https://x.com\\@y.com/"],
    ["https://x.com/", "https://x.com /"],
    ["https://x.com/", "https://x.com\t/"],
    ["https://x.com/", "\nhttps://x.com/"],
    ["https://x.com/", "https://x.com\0/"],
    ["https://x.com:65535/", "https://x.com:65536/"],
    ["https://x.com:1/", "https://x.com:0/"],
    ["https://x.com:80/", "https://x.com:80:80/"],
    ["https://x.com:80/", "https://x.com:8o/"],
    ["https://[::1]/", "https://::1/"],
    ["https://1.2.3.4/", "https://[1.2.3.4]/"],
    ["https://1.2.3.4/", "https://1.2.3.04/"],
    ["https://127.0.0.1/", "https://127.1/"],
    ["https://127.0.0.1/", "https://2130706433/"],
    ["https://127.0.0.1/", "https://0x7f.0.0.1/"],
    ["https://x.com/", "https://x%2ecom/"],
    ["https://x.com/", "https://x..com/"],
    ["https://bücher.de/", "https://bücher.dé/"],
  ])("%j parses, %j does not", (allowed, denied) => {
    expect(parseUrl(allowed, toAscii).ok).toBe(true);
    expect(parseUrl(denied, toAscii).ok).toBe(false);
  });

  test("it has a maximum length", () => {
    expect(parseUrl(`https://x.com/${"a".repeat(8178)}`, toAscii).ok).toBe(true);
    expect(parseUrl(`https://x.com/${"a".repeat(8179)}`, toAscii)).toMatchObject({ ok: false, code: "too_long" });
  });
});
