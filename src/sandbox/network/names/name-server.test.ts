import { expect, test } from "vitest";
import { readRequestText } from "../../../core/notation/request/request.ts";
import { namesMax } from "../limits.ts";
import { NetworkGrants, readChains } from "../network-grants.ts";
import { queryOf } from "../testing/dns.ts";
import { toAscii } from "./ascii.ts";
import { FakeNames } from "./fake-names.ts";
import { NameServer } from "./name-server.ts";

const NOW = Date.UTC(2026, 0, 1);

function served(specs: readonly (readonly string[])[]): {
  readonly ask: (name: string | readonly string[], type?: number) => string;
  readonly refused: string[];
} {
  const authority = readChains([specs]);
  if (authority === null) throw new Error("the specs do not parse");
  const refused: string[] = [];
  const server = new NameServer(new NetworkGrants(authority, () => NOW), new FakeNames(), (code, request, again) =>
    refused.push(`${code} ${request}${again ? "" : " (part of another)"}`),
  );
  return {
    refused,
    ask: (name, type = 1) => {
      const answer = Buffer.from(server.answer(queryOf(name, type)) ?? []);
      const response = (answer[3] as number) & 15;
      return answer.readUInt16BE(6) === 0 ? `response ${response}` : [...answer.subarray(-4)].join(".");
    },
  };
}

const API = "net.connect{hosts=[api.example.test],ports=[443]}";

test.each([
  ["the name itself", "api.example.test", 1, "198.18.1.0"],
  ["in capitals", "API.example.TEST", 1, "198.18.1.0"],
  ["its other address family", "api.example.test", 28, "response 0"],
  ["its service binding", "api.example.test", 65, "response 0"],
  ["its text", "api.example.test", 16, "response 0"],
  ["a subdomain", "x.api.example.test", 1, "response 3"],
  ["the parent domain", "example.test", 1, "response 3"],
  ["one character away", "apj.example.test", 1, "response 3"],
  ["a zero byte in it", ["api\0", "example", "test"], 1, "response 3"],
  ["a dot in a label", ["api.example", "test"], 1, "response 3"],
  ["another name's other family", "evil.example", 28, "response 3"],
  ["a number that parses as an address", "2130706433", 1, "response 3"],
  ["a reverse lookup", "1.0.0.127.in-addr.arpa", 12, "response 3"],
])("%s (%j, type %i) gets %s", (_, name, type, wanted) => {
  expect(served([[API]]).ask(name, type)).toBe(wanted);
});

test("names get their own addresses and keep them", () => {
  const { ask } = served([["net.connect{hosts=[*.wild.test],ports=[443]}"]]);
  expect(["a.wild.test", "b.wild.test", "a.wild.test"].map((name) => ask(name))).toEqual([
    "198.18.1.0",
    "198.18.1.1",
    "198.18.1.0",
  ]);
});

test("at the limit of names a new one is refused and an old one is still known", () => {
  const { ask, refused } = served([["net.connect{hosts=[*.wild.test],ports=[443]}"]]);
  for (let at = 0; at < namesMax; at++) ask(`n${at}.wild.test`);
  expect(ask("more.wild.test")).toBe("response 5");
  expect(ask("n0.wild.test")).toBe("198.18.1.0");
  expect(ask(`n${namesMax - 1}.wild.test`)).toBe("198.18.16.255");
  expect(refused).toEqual(["budget_exhausted net.connect more.wild.test:443"]);
});

test.each([
  ["links that share a port", [API, "net.connect{hosts=[*],ports=[1-1000]}"], "198.18.1.0"],
  ["links that share no port", [API, "net.connect{hosts=[*],ports=[444-1000]}"], "response 3"],
  ["a link that does not cover the name", [API, "net.connect{hosts=[other.test],ports=[443]}"], "response 3"],
  [
    "an expired grant",
    ["net.connect{hosts=[api.example.test],ports=[443],expires=2025-12-31T00:00:00Z}"],
    "response 3",
  ],
  ["a grant that needs approval", ["net.connect{hosts=[api.example.test],ports=[443],ask}"], "198.18.1.0"],
])("%s", (_, specs, wanted) => {
  expect(served(specs.map((spec) => [spec])).ask("api.example.test")).toBe(wanted);
});

test("denials are named in valid notation", () => {
  const { ask, refused } = served([[API]]);
  ask("evil.example", 1);
  ask("evil.example", 28);
  ask("4.3.2.1.in-addr.arpa", 12);
  expect(refused).toEqual([
    "scope_violation net.connect evil.example:443",
    "scope_violation net.connect evil.example:443 (part of another)",
  ]);
  const reading = { pathSettings: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };
  expect(readRequestText("net.connect evil.example:443", reading).ok).toBe(true);
});

test.each([
  ["an expired one", "api.example.test,ports=[5432],expires=2025-12-31T00:00:00Z", "expired", 5432],
  ["one for another name", "other.test,ports=[5432]", "scope_violation", 443],
])("a query has no port; the reported one is of the grant that covers the name: %s", (_, rest, code, port) => {
  const { ask, refused } = served([[`net.connect{hosts=[${rest.replace(",", "],")}}`]]);
  expect(ask("api.example.test")).toBe("response 3");
  expect(refused).toEqual([`${code} net.connect api.example.test:${port}`]);
});

test("bytes that are not a name are shown escaped", () => {
  const { ask, refused } = served([[API]]);
  ask(["ev\0'il", "example"]);
  expect(refused).toEqual(["invalid_input net.connect 'ev\\x00\\x27il.example:443'"]);
});
