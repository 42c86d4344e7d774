// Decisions about hosts and addresses, for files that match one host against patterns.
import { isJsonObject, type JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { bare, isAddress, isMetadata, isSpecial } from "./model-address.ts";
import {
  canonicalHost,
  hostCovered,
  hostPatternWithin,
  isNoHost,
  isRespelled,
  type Star,
  someHostCovers,
} from "./model-host.ts";
import { mapOr, type Row, textAt, textsAt, textsOr } from "./row.ts";
import { seedBlocks, seedFetch, seedHostMatch, seedScreen } from "./seed-rules.ts";

/** One host and the patterns it is matched against. */
interface HostCase {
  readonly host: string;
  readonly patterns: readonly string[];
  readonly star: Star;
}

function matchHeld(input: Row): HostCase {
  return { host: textAt(input, "host"), patterns: [textAt(input, "pattern")], star: "tree" };
}

function matches(input: Row): JsonObject {
  const { host, patterns, star } = matchHeld(input);
  const [pattern = ""] = patterns;
  return { matches: host.includes("*") ? hostPatternWithin(host, pattern, star) : hostCovered(pattern, host, star) };
}

function fetchHeld(input: Row): HostCase {
  return { host: textAt(input, "urlHost"), patterns: textsAt(input, "allowedHosts"), star: "below" };
}

function fetches(input: Row): JsonObject {
  const { host, patterns, star } = fetchHeld(input);
  return { expect: someHostCovers(patterns, host, star) ? "allow" : "deny" };
}

/** The differences for every file of this kind, whatever its columns are called. */
function about(
  files: readonly string[],
  held: (input: Row) => HostCase,
  answer: (input: Row) => JsonObject,
  seed: (input: Row) => JsonObject,
): readonly Decision[] {
  return [
    {
      record: "0004-host-patterns",
      when: "host or pattern is spelled in capitals, with one last dot, or outside ASCII",
      files,
      holds: (input) => [held(input).host, ...held(input).patterns].some(isRespelled),
      answer,
      seed,
    },
    {
      record: "0004-host-patterns",
      when: "a pattern is a lone star, or `+.` and a domain",
      files,
      holds: (input) => held(input).patterns.some((pattern) => pattern === "*" || pattern.startsWith("+.")),
      answer,
      seed,
    },
    {
      record: "0004-host-patterns",
      when: "the host is no host: it has a port, an empty label, or reads as a number",
      files,
      holds: (input) => !held(input).host.includes("*") && isNoHost(held(input).host),
      answer,
      seed,
    },
    {
      record: "0008-special-addresses",
      when: "the host is a literal address that is not public",
      files,
      holds: (input) => isAddress(bare(held(input).host)) && isSpecial(bare(held(input).host)),
      answer,
      seed,
    },
  ];
}

/** Names, their addresses and the rule for literals, for caveats. */
function screens(input: Row): JsonObject {
  const net = input["net"] ?? null;
  const listed = net === "all" ? ["*"] : isJsonObject(net) ? textsOr(net, "only", []) : [];
  const host = textAt(input, "host");
  const isListed = someHostCovers(
    listed.filter((entry) => net === "all" || !entry.includes("*")),
    host,
    "tree",
  );
  if (!isListed) return { expect: "deny", pinned: [] };
  if (isAddress(bare(host))) return { expect: "allow", pinned: [bare(host)] };
  const answers = textsAt(input, "resolved");
  const isOpen =
    answers.length > 0 && answers.every((address) => !isSpecial(address) || isOpened(input, host, address));
  return isOpen
    ? { expect: "allow", pinned: answers.map(unmapped).sort() }
    : { expect: "deny", code: "address_refused", pinned: [] };
}

function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function isOpened(input: Row, host: string, address: string): boolean {
  if (input["net_private"] === "all") return !isMetadata(address);
  return textsOr(mapOr(input, "net_private"), "only", []).some((name) => canonicalHost(name) === canonicalHost(host));
}

const SCREEN: readonly string[] = ["bridle-net-screen"];

export const HOST_DECISIONS: readonly Decision[] = [
  ...about(["egghead-host-match"], matchHeld, matches, (input) => seedHostMatch(input, "egghead")),
  ...about(["ethos-network-policy-host"], matchHeld, matches, (input) => seedHostMatch(input, "policy")),
  ...about(["ethos-scoped-fetch-host"], fetchHeld, fetches, seedFetch),
  {
    record: "0004-host-patterns",
    when: "host or entry is spelled in capitals, with one last dot, or outside ASCII",
    files: SCREEN,
    holds: (input) => [textAt(input, "host"), ...textsOr(mapOr(input, "net"), "only", [])].some(isRespelled),
    answer: screens,
    seed: seedScreen,
  },
  {
    record: "0008-special-addresses",
    when: "the host is a literal address that is not public: it is opened by its own entry in `net`",
    files: SCREEN,
    holds: (input) => isAddress(bare(textAt(input, "host"))) && isSpecial(bare(textAt(input, "host"))),
    answer: screens,
    seed: seedScreen,
  },
  {
    record: "0008-special-addresses",
    when: "an address of the answer is special: metadata is opened by its literal only, and one refused address refuses all",
    files: SCREEN,
    holds: (input) => !isAddress(bare(textAt(input, "host"))) && textsAt(input, "resolved").some(isSpecial),
    answer: screens,
    seed: seedScreen,
  },
  {
    record: "0008-special-addresses",
    when: "the address lies in a special-purpose range",
    files: ["bridle-ssrf-ip"],
    holds: (input) => isAddress(textAt(input, "ip")) && isSpecial(textAt(input, "ip")),
    answer: () => ({ blocked: true }),
    seed: (input) => ({ blocked: seedBlocks(textAt(input, "ip")) }),
  },
];
