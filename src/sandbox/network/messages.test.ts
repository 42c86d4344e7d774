import fc from "fast-check";
import { expect, test } from "vitest";
import { readBrokerMessage, readMessageToBroker } from "./messages.ts";

const open = {
  ...{ kind: "open", number: 1, sandbox: "s", chains: [[["net.connect"]]], resolver: null, relay: null },
  git: null,
};
const credited = {
  ...{ kind: "credential-answer", number: 1, code: null, message: "" },
  credential: { username: "a", password: "b" },
};
const crediting = {
  ...{ kind: "credential-request", number: 1, sandbox: "s", host: "git.example" },
  ...{ repository: "a/b", service: "git-upload-pack" },
};
const upstream = { url: "https://a.example.com", header: "x-api-key", prefix: "", value: "YQ==", keepsPrompt: false };
const relay = { kind: "model-answer", number: 1, code: null, message: "", outputTokens: null, upstream };
const relaying = {
  ...{ kind: "model-request", number: 1, sandbox: "s", provider: "openai", model: "m" },
  ...{
    digest: "0".repeat(64),
    bytes: 1,
    hasForeignCredential: false,
    isCharged: true,
    isPremium: false,
    inputTokens: 1,
    outputTokens: null,
    outputLeast: 1,
  },
};
const relayed = {
  ...{ kind: "model-report", number: 1, isSent: true, status: 200, isWhole: true, prompt: null },
  ...{ input: null, output: 1, cacheRead: 0, cacheWrite: 0, milliseconds: 1 },
};
const judged = { kind: "decision", number: 1, outcome: "allow", code: null };
const denied = { kind: "denied", sandbox: "s", code: "revoked", request: "net.connect a:1", reason: "daemon" };
const judging = {
  kind: "connection-request",
  number: 1,
  sandbox: "s",
  host: "a.b",
  address: null,
  port: 443,
  manner: "sni",
};

test.each<[string, unknown, boolean]>([
  ["open", open, true],
  ["open with servers", { ...open, resolver: { servers: ["127.0.0.1:53"] } }, true],
  ["open with a host name as server", { ...open, resolver: { servers: ["dns.example"] } }, false],
  ["open with chains that are text", { ...open, chains: "net.connect" }, false],
  ["open with a link that is text", { ...open, chains: [["net.connect"]] }, false],
  ["open with a relay", { ...open, relay: 9_797 }, true],
  ["open with a port that is none", { ...open, relay: 0 }, false],
  ["a model that may be used", relay, true],
  ["a model with a header that ends the line", { ...relay, upstream: { ...upstream, header: "a\r\nb" } }, false],
  ["a model with an address that is none", { ...relay, upstream: { ...upstream, url: "file:///x" } }, false],
  ["a model without an address", { ...relay, upstream: null }, false],
  ["a model that is denied with an address", { ...relay, code: "revoked" }, false],
  ["open with an unknown key", { ...open, more: 1 }, false],
  ["give", { kind: "give", number: 1, sandbox: "s", socket: "dns" }, true],
  ["give of an unknown kind", { kind: "give", number: 1, sandbox: "s", socket: "udp" }, false],
  ["count", { kind: "count", number: 1, sandbox: "s" }, true],
  ["count without its number", { kind: "count", sandbox: "s" }, false],
  ["an invalid number", { kind: "count", number: 1.5, sandbox: "s" }, false],
  ["allowed", judged, true],
  ["allowed with a code", { ...judged, code: "revoked" }, false],
  ["denied with a code", { ...judged, outcome: "deny", code: "revoked" }, true],
  ["denied with no code", { ...judged, outcome: "deny" }, false],
  ["denied with an unknown code", { ...judged, outcome: "deny", code: "because" }, false],
  ["a credential", credited, true],
  ["half a credential", { ...credited, credential: { username: "a" } }, false],
  ["a credential of two lines", { ...credited, credential: { username: "a", password: "b\nc" } }, false],
  ["a credential with a code", { ...credited, code: "revoked" }, false],
  ["a credential that is denied", { ...credited, credential: null, code: "revoked" }, true],
  ["no credential and no code", { ...credited, credential: null }, false],
  ["open with git hosts", { ...open, git: { hosts: ["git.example"], authorities: null } }, true],
  ["open with a git host that is no name", { ...open, git: { hosts: ["git.example/"], authorities: null } }, false],
  ["a message of the broker", judging, false],
])("from the daemon: %s", (_, value, isRead) => {
  expect(readMessageToBroker(value)).toBe(isRead ? value : null);
});

test.each<[string, unknown, boolean]>([
  ["judging", judging, true],
  ["a decision without a port", { ...judging, port: 0 }, false],
  ["a decision of an unknown kind", { ...judging, manner: "any" }, false],
  ["denied", denied, true],
  ["denied for another reason", { ...denied, reason: "mood" }, false],
  ["a request of git", crediting, true],
  ["a request of git for another service", { ...crediting, service: "git-upload-archive" }, false],
  ["a request to a model", relaying, true],
  ["a request to a model of another provider", { ...relaying, provider: "other" }, false],
  ["a request to a model with an unknown key", { ...relaying, outputMax: 1 }, false],
  ["a use of a model", relayed, true],
  ["a use of a model that was perhaps sent", { ...relayed, isSent: null }, false],
  ["a use of a model with an unknown key", { ...relayed, sandbox: "s" }, false],
  ["answered", { kind: "answered", number: 1, done: true }, true],
  ["answered with text", { kind: "answered", number: 1, done: "yes" }, false],
  ["a message of the daemon", open, false],
])("from the broker: %s", (_, value, isRead) => {
  expect(readBrokerMessage(value)).toBe(isRead ? value : null);
});

test("no value makes a parser throw", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (value) => {
      expect(readMessageToBroker(value)).toBe(null);
      expect(readBrokerMessage(value)).toBe(null);
    }),
  );
});
