// Every spelling of an address that is not public, through web_fetch itself: a denial, before any packet.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebFixture } from "./web-fixture.ts";

const fixture = new WebFixture();
/** Servers on this machine that a mistake would reach. */
let taken = 0;
let port = 0;

beforeAll(async () => {
  await fixture.start();
  port = await fixture.http("127.0.0.1", (_, response) => {
    taken++;
    response.end("inside");
  });
});
beforeEach(() => {
  taken = 0;
});
afterAll(() => fixture.stop());

const EVERYWHERE = { specs: ["net.get{hosts=[*]}"] };

describe("an address that is not public is denied by the gate, however it is spelled", () => {
  test.each([
    ...["127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"],
    ...["100.64.0.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[::ffff:127.0.0.1]"],
    ...["[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "[2001::1]"],
  ])("%s", async (host) => {
    const got = await fixture.web(EVERYWHERE, { url: `http://${host}:${port}/` });
    expect(got).toMatchObject({ said: "address_refused", by: "gate" });
    expect(taken).toBe(0);
  });
});

describe("what other parsers take for an address is not one here", () => {
  test.each([
    ...["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.1", "0x7f.1", "127.0.0.1.", "127。0。0。1"],
    ...["①②⑦.⓪.⓪.①", "[::1%25lo]", "[::1]x", "127.0.0.1%00", "127.0.0.1%2e", "localhost%00.example.com"],
    ...[
      "a@127.0.0.1",
      "a:b@127.0.0.1",
      "127.0.0.1\\@example.com",
      "example.com\\127.0.0.1",
      "127.0.0.1 ",
      "\t127.0.0.1",
    ],
    ...["127.0.0.1#@example.com", "example.com:80@127.0.0.1", "[127.0.0.1]", "0", "00000000000.0.0.1", "127.0.0.256"],
  ])("%j", async (host) => {
    const got = await fixture.web(EVERYWHERE, { url: `http://${host}:${port}/` });
    expect(["invalid_input", "address_refused"]).toContain(got.said);
    expect(got.by).not.toBe(null);
    expect(taken).toBe(0);
  });

  test.each([
    ...[
      "file:///etc/passwd",
      "gopher://127.0.0.1/",
      "ftp://127.0.0.1/",
      "data:text/plain,x",
      "javascript:1",
      "//127.0.0.1/",
    ],
    ...["http:127.0.0.1/", "http:/127.0.0.1/", "http:///127.0.0.1/", "http://", "unix:/run/x.sock", "", "http://[::1"],
  ])("%j is not a valid page URL", async (url) => {
    expect(await fixture.web(EVERYWHERE, { url })).toMatchObject({ said: "invalid_input", by: "gate" });
    expect(taken).toBe(0);
  });
});

describe("a host name is decided by its addresses", () => {
  test.each([
    ["this machine", [["127.0.0.1"]]],
    ["IPv6 loopback", [["::1"]]],
    ["IPv4 loopback mapped to IPv6", [["::ffff:127.0.0.1"]]],
    ["the cloud metadata address behind NAT64", [["64:ff9b::a9fe:a9fe"]]],
    ["a public address and one that is not", [["93.184.215.14", "127.0.0.1"]]],
  ])("%s: denied without a connection", async (_, answers) => {
    fixture.names.names.set("led.example", answers);
    const got = await fixture.web(EVERYWHERE, { url: `http://led.example:${port}/` });
    expect(got).toMatchObject({ said: "address_refused", by: "way" });
    expect(taken).toBe(0);
  });

  test("no address: the tool fails without a connection", async () => {
    fixture.names.names.set("led.example", [[]]);
    const got = await fixture.web(EVERYWHERE, { url: `http://led.example:${port}/` });
    expect(got).toMatchObject({ said: "not_available", by: "world" });
    expect(taken).toBe(0);
  });

  test.each(["localhost", "localhost.", "ip6-localhost", "metadata.google.internal", "a.local"])(
    "%s is an ordinary name, and resolves to no permitted address",
    async (host) => {
      fixture.names.names.set(host.replace(/\.$/, ""), [["127.0.0.1"]]);
      const got = await fixture.web(EVERYWHERE, { url: `http://${host}:${port}/` });
      expect(got).toMatchObject({ said: "address_refused" });
      expect(taken).toBe(0);
    },
  );
});
