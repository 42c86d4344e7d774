// Decisions about web addresses, and about the hosts of a declaration under a policy.

import type { JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { bare, isAddress, isSpecial } from "./model-address.ts";
import { commonHosts, isNoHost, isRespelled, someHostCovers } from "./model-host.ts";
import { has, mapOr, type Row, textAt, textsAt, textsOr, textsOrNull } from "./row.ts";
import { seedResolved, seedUrl } from "./seed-rules.ts";

const URL_FILES: readonly string[] = ["ethos-validate-url"];

/** The host as written between the scheme and the path. */
function writtenHost(input: Row): string {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(textAt(input, "url"))?.[1] ?? "";
  return authority.replace(/^.*@/, "").replace(/:\d*$/, "");
}

function allowed(input: Row): readonly string[] {
  return textsOr(mapOr(input, "policy"), "allow", ["*"]);
}

function answers(input: Row): readonly string[] | null {
  return textsOrNull(input, "dns");
}

/** Scheme, host, then every address of the answer. Only its literal opens a private one. */
function reaches(input: Row): JsonObject {
  const host = writtenHost(input);
  const isWeb = /^https?:\/\//i.test(textAt(input, "url")) && !/^[^/]*\/\/[^/?#]*@/.test(textAt(input, "url"));
  if (!isWeb || !someHostCovers(allowed(input), host, "tree")) return { expect: "deny" };
  if (isAddress(bare(host))) return { expect: "allow" };
  const found = answers(input);
  return { expect: found !== null && found.length > 0 && !found.some(isSpecial) ? "allow" : "deny" };
}

function seeds(input: Row): JsonObject {
  return seedUrl(input, writtenHost(input));
}

function isLiteral(input: Row): boolean {
  return isAddress(bare(writtenHost(input)));
}

const RESOLVE: readonly string[] = ["ethos-resolve-hosts"];

function resolved(input: Row): JsonObject {
  return { resolved: commonHosts(textsAt(input, "declared"), allowed(input), "below") };
}

export const WEB_DECISIONS: readonly Decision[] = [
  {
    record: "0008-special-addresses",
    when: "the host is a literal address in a special range: only its own entry opens it",
    files: URL_FILES,
    holds: (input) => isLiteral(input) && isSpecial(bare(writtenHost(input))),
    answer: reaches,
    seed: seeds,
  },
  {
    record: "0008-special-addresses",
    when: "a name resolves to a special address; there is no switch that opens them all",
    files: URL_FILES,
    holds: (input) => !isLiteral(input) && (answers(input)?.some(isSpecial) ?? false),
    answer: reaches,
    seed: seeds,
  },
  {
    record: "0008-special-addresses",
    when: "a name does not resolve, or to nothing",
    files: URL_FILES,
    holds: (input) => !isLiteral(input) && (answers(input)?.length ?? 0) === 0,
    answer: reaches,
    seed: seeds,
  },
  {
    record: "0004-host-patterns",
    when: "the policy allows a lone star, which is any host",
    files: URL_FILES,
    holds: (input) => allowed(input).includes("*") && has(mapOr(input, "policy"), "allow"),
    answer: reaches,
    seed: seeds,
  },
  {
    record: "0004-host-patterns",
    when: "host or entry is spelled in capitals, with one last dot, or outside ASCII",
    files: URL_FILES,
    holds: (input) => [writtenHost(input), ...allowed(input)].some(isRespelled),
    answer: reaches,
    seed: seeds,
  },
  {
    record: "0004-host-patterns",
    when: "the host is no host, or reads as a number that others take for an address",
    files: URL_FILES,
    holds: (input) => isNoHost(writtenHost(input)),
    answer: reaches,
    seed: seeds,
  },
  {
    record: "0011-declarations",
    when: "the policy's list is empty, which is nothing",
    files: URL_FILES,
    holds: (input) => allowed(input).length === 0,
    answer: () => ({ expect: "deny" }),
    seed: seeds,
  },
  {
    record: "0004-host-patterns",
    when: "a star is declared without a policy: any host, for there is nothing to hold it to",
    files: RESOLVE,
    holds: (input) => textsAt(input, "declared").includes("*") && !has(mapOr(input, "policy"), "allow"),
    answer: resolved,
    seed: seedResolved,
  },
  {
    record: "0004-host-patterns",
    when: "a domain is declared with its star: it is met with the policy exactly",
    files: RESOLVE,
    holds: (input) => textsAt(input, "declared").some((host) => host.startsWith("*.")),
    answer: resolved,
    seed: seedResolved,
  },
  {
    record: "0004-host-patterns",
    when: "a host is spelled in capitals, with one last dot, or outside ASCII; or the policy is a lone star",
    files: RESOLVE,
    holds: (input) =>
      [...textsAt(input, "declared"), ...allowed(input)].some(isRespelled) || allowed(input).includes("*"),
    answer: resolved,
    seed: seedResolved,
  },
];
