// Decisions about tokens: endpoints, tools, and verbs we do not have.
import { verbEntry } from "../../src/core/authority/catalog.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { bare, inRanges, isAddress, isSpecial } from "./model-address.ts";
import { hostCovered, isRespelled } from "./model-host.ts";
import { wordsMatch } from "./model-words.ts";
import { type Row, textAt } from "./row.ts";
import { seedGlob } from "./seed-rules.ts";

const TOKENS: readonly string[] = ["scarab-token-glob"];

interface Token {
  readonly verb: string;
  readonly scope: string | null;
}

function tokenOf(input: Row, key: string): Token {
  const [verb = "", ...scope] = textAt(input, key).split(":");
  return { verb, scope: scope.length === 0 ? null : scope.join(":") };
}

function endpoint(input: Row, key: string): { readonly host: string; readonly port: string | null } | null {
  const { verb, scope } = tokenOf(input, key);
  if (!verb.startsWith("net.")) return null;
  const match = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(scope ?? "*:*");
  return match === null ? null : { host: match[1] ?? "", port: match[2] ?? null };
}

/** Host by the foreign star, port exactly; a `net.connect` without a port matches nothing. */
function connects(input: Row): JsonObject {
  const [held, asked] = [endpoint(input, "held"), endpoint(input, "request")];
  if (held === null || asked === null || tokenOf(input, "held").verb !== tokenOf(input, "request").verb)
    return { expect: "deny" };
  const isPort =
    held.port === null ? tokenOf(input, "held").verb !== "net.connect" : held.port === "*" || held.port === asked.port;
  return { expect: isPort && hostCovered(held.host, asked.host, "below") ? "allow" : "deny" };
}

/** A star before the last part of a tool's name is one part; a last one matches the rest. */
function invokes(input: Row): JsonObject {
  const [held, asked] = [tokenOf(input, "held").scope ?? "**", tokenOf(input, "request").scope ?? ""];
  const parts = held.split(".");
  const pattern = parts.at(-1)?.includes("*") ? [...parts, "**"] : parts;
  return { expect: wordsMatch(pattern, asked.split(".")) ? "allow" : "deny" };
}

/** Exact text but for a first star, any address by a lone one. */
function seedConnects(input: Row): JsonObject {
  const [held, asked] = [endpoint(input, "held"), endpoint(input, "request")];
  if (held === null || asked === null || tokenOf(input, "held").verb !== tokenOf(input, "request").verb)
    return { expect: "deny" };
  const isPort = held.port === null || held.port === "*" || held.port === asked.port;
  const isHost =
    held.host === "*" ||
    held.host === asked.host ||
    (held.host.startsWith("*.") && asked.host.endsWith(held.host.slice(1)));
  return { expect: isPort && (isHost || inRanges([held.host], asked.host)) ? "allow" : "deny" };
}

/** A star matches everything but a slash. */
function seedScopes(input: Row): JsonObject {
  if (tokenOf(input, "held").verb !== tokenOf(input, "request").verb) return { expect: "deny" };
  const [pattern, path] = [tokenOf(input, "held").scope ?? "**", tokenOf(input, "request").scope ?? ""];
  return { expect: seedGlob({ pattern, path })["matches"] === true ? "allow" : "deny" };
}

export const TOKEN_DECISIONS: readonly Decision[] = [
  {
    record: "0013-catalog",
    when: "the token's verb is not in our catalog, or it is `net.connect` without a port",
    files: TOKENS,
    holds: (input) => {
      const { verb, scope } = tokenOf(input, "held");
      return (
        verbEntry(verb) === null || (verb === "net.connect" && scope !== null && endpoint(input, "held")?.port === null)
      );
    },
    answer: () => ({ expect: "deny" }),
    seed: (input) => (endpoint(input, "held") === null ? seedScopes(input) : seedConnects(input)),
  },
  {
    record: "0004-host-patterns",
    when: "a host is spelled in capitals, with one last dot, or outside ASCII",
    files: TOKENS,
    holds: (input) => ["held", "request"].some((key) => isRespelled(endpoint(input, key)?.host ?? "")),
    answer: connects,
    seed: seedConnects,
  },
  {
    record: "0008-special-addresses",
    when: "a literal address is asked for that is not public",
    files: TOKENS,
    holds: (input) => {
      const host = bare(endpoint(input, "request")?.host ?? "");
      return isAddress(host) && isSpecial(host);
    },
    answer: connects,
    seed: seedConnects,
  },
  {
    record: "0010-names-and-tools",
    when: "a star stands before the last part of a tool's name",
    files: TOKENS,
    holds: (input) =>
      tokenOf(input, "held").verb === "tool.invoke" && /\*.*\./.test(tokenOf(input, "held").scope ?? ""),
    answer: invokes,
    seed: seedScopes,
  },
];
