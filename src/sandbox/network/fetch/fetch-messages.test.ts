// Messages about fetches parse completely or not at all, on both sides.
import { describe, expect, test } from "vitest";
import { readBrokerMessage, readMessageToBroker } from "../messages.ts";
import { fetchHeadersMax, requestBodyBytesMax } from "./fetch-limits.ts";
import type { FetchBrokerMessage, FetchMessage } from "./fetch-messages.ts";

const ASKED: FetchMessage = {
  kind: "fetch",
  number: 1,
  method: "GET",
  url: "https://example.com/",
  headers: [["X", "y"]],
  body: null,
  limits: { headerBytes: 16_384, bodyBytes: 1000, milliseconds: 1000, redirects: 10 },
  secrets: [{ name: "token", value: "c2VjcmV0", hosts: ["example.com"], isSignOnly: false }],
  sign: null,
  resolver: null,
  authorities: null,
};

describe("the daemon's side", () => {
  test.each<[string, object]>([
    ["a fetch", ASKED],
    ["more", { kind: "fetch-more", number: 1 }],
    ["a stop", { kind: "fetch-stop", number: 1 }],
  ])("%s parses", (_, message) => {
    expect(readMessageToBroker(message)).toEqual(message);
  });

  test.each<[string, object]>([
    ["another method", { ...ASKED, method: "CONNECT" }],
    ["a long URL", { ...ASKED, url: `https://x/${"y".repeat(8192)}` }],
    ["a header of three parts", { ...ASKED, headers: [["a", "b", "c"]] }],
    ["a header that is not text", { ...ASKED, headers: [["a", 1]] }],
    ["many headers", { ...ASKED, headers: new Array(fetchHeadersMax + 1).fill(["a", "b"]) }],
    ["a body that is not base64", { ...ASKED, body: "***" }],
    ["a large body", { ...ASKED, body: "A".repeat(Math.ceil(requestBodyBytesMax / 3) * 4 + 4) }],
    ["many redirects", { ...ASKED, limits: { ...ASKED.limits, redirects: 11 } }],
    ["a fractional limit", { ...ASKED, limits: { headerBytes: 1, bodyBytes: 1 } }],
    ["a secret with an unknown key", { ...ASKED, secrets: [{ ...ASKED.secrets[0], more: 1 }] }],
    ["an unknown key", { ...ASKED, more: 1 }],
    ["a missing key", { ...ASKED, resolver: undefined }],
    ["an invalid number", { kind: "fetch-more", number: 0 }],
  ])("%s does not parse", (_, message) => {
    expect(readMessageToBroker(message)).toBe(null);
  });
});

describe("the broker's side", () => {
  const GOOD: readonly FetchBrokerMessage[] = [
    {
      kind: "hop-request",
      number: 1,
      fetch: 2,
      method: "GET",
      scheme: "https",
      host: "example.com",
      port: 443,
      addresses: null,
    },
    {
      kind: "hop-request",
      number: 1,
      fetch: 2,
      method: "PUT",
      scheme: "http",
      host: "example.com",
      port: 443,
      addresses: ["1.2.3.4"],
    },
    { kind: "fetch-head", number: 1, status: 200, url: "https://x/", headers: [["a", "b"]], hops: [], used: [] },
    { kind: "fetch-bytes", number: 1, bytes: "aGVsbG8=" },
    { kind: "fetch-end", number: 1, code: null, message: "", seen: ["token"] },
    { kind: "fetch-end", number: 1, code: "not_available", message: "no", seen: [] },
  ];

  test.each(GOOD)("$kind parses, and with an unknown key it does not", (message) => {
    expect(readBrokerMessage(message)).toEqual(message);
    expect(readBrokerMessage({ ...message, more: 1 })).toBe(null);
  });

  test.each<[string, object]>([
    ["a chunk that is too large", { kind: "fetch-bytes", number: 1, bytes: "A".repeat(100_000) }],
    ["an invalid code", { kind: "fetch-end", number: 1, code: "fine", message: "", seen: [] }],
    ["an invalid status", { ...GOOD[2], status: 20 }],
    ["an invalid scheme", { ...GOOD[0], scheme: "ftp" }],
    ["too many addresses", { ...GOOD[1], addresses: new Array(65).fill("1.2.3.4") }],
  ])("%s does not parse", (_, message) => {
    expect(readBrokerMessage(message)).toBe(null);
  });
});
