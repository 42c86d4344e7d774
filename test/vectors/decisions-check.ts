// Decisions about one request against an agent's grants.
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { argvOf, askedOf, grantsFor, hostOf, hostsFor, rootsOf, verbOf } from "./asked.ts";
import type { Decision } from "./decision.ts";
import { commandCovered, isOddCommand } from "./decisions-command.ts";
import { differsInIgnored } from "./decisions-root.ts";
import { bare, isAddress, isSpecial } from "./model-address.ts";
import { folder, isInert, isRooted, leavesRoot, plainGrants, plainWithin, rootOf, seedWithin } from "./model-grant.ts";
import { isNoHost, isRespelled, someHostCovers } from "./model-host.ts";
import { isAtOrBelow } from "./model-words.ts";
import { has, type Row, textOr, textsOr } from "./row.ts";
import { seedCheckHost, seedCommand, seedGlob } from "./seed-rules.ts";

const CHECK: readonly string[] = ["egghead-check"];

function said(isAllowed: boolean): JsonObject {
  return { expect: isAllowed ? "allow" : "deny" };
}

/** A file in the hoisted root of some grant, or a command of it. */
function rooted(input: Row): JsonObject {
  const path = textOr(askedOf(input), "path", null);
  const isCovered = grantsFor(input).some((grant) => {
    const root = rootOf(grant, rootsOf(input));
    if (root === null) return false;
    return path === null ? commandCovered({ in: "", ...grant.scope }, argvOf(input)) : isAtOrBelow(folder(path), root);
  });
  return said(isCovered);
}

/** The agent's root takes precedence over the configured one; without any, paths are absolute and a shell line is allowed. */
function seedRooted(input: Row): JsonObject {
  const path = textOr(askedOf(input), "path", null);
  const { agent, ceiling } = rootsOf(input);
  const isCovered = grantsFor(input).some(({ verb, scope }) => {
    if (verb.endsWith(".eval")) return true;
    const root = textOr(scope, "in", null) ?? agent ?? ceiling;
    if (path === null) return seedCommand(root === null ? scope : { ...scope, in: root }, argvOf(input));
    const patterns = textsOr(scope, "paths", []);
    if (patterns.length === 0) return root !== null && isAtOrBelow(folder(path), folder(root));
    return patterns.some(
      (one) => seedGlob({ pattern: /^[/~]/.test(one) ? one : `${root}/${one}`, path })["matches"] === true,
    );
  });
  return said(isCovered);
}

function isOutside(inner: string | null, outer: string | null): boolean {
  return inner !== null && outer !== null && !isAtOrBelow(folder(inner), folder(outer));
}

const LIMITS = [
  ["classes", "class"],
  ["paths", "id"],
] as const;

const HOSTED: Pick<Decision, "files" | "answer" | "seed"> = {
  files: CHECK,
  answer: (input) => said(someHostCovers(hostsFor(input), hostOf(input) ?? "", "tree")),
  seed: (input) => said(seedCheckHost(hostsFor(input), hostOf(input) ?? "")),
};

const ROOTED: Pick<Decision, "files" | "answer" | "seed"> = { files: CHECK, answer: rooted, seed: seedRooted };

export const CHECK_DECISIONS: readonly Decision[] = [
  {
    record: "0009-roots",
    when: "the agent's sandbox lies outside the configured one and becomes it",
    holds: (input) => isOutside(rootsOf(input).agent, rootsOf(input).ceiling) && /^(fs|proc)\./.test(verbOf(input)),
    ...ROOTED,
  },
  {
    record: "0009-roots",
    when: "a grant's own root lies outside the agent's or the configured one, or it has none at any level: it is inert",
    holds: (input) => grantsFor(input).some((grant) => isRooted(grant) && isInert(grant, rootsOf(input))),
    ...ROOTED,
  },
  {
    record: "0009-roots",
    when: "an entry of `paths` leaves its root: the grant is refused where it is written",
    files: CHECK,
    holds: (input) =>
      grantsFor(input).length > 0 && grantsFor(input).every((grant) => leavesRoot(grant, rootsOf(input))),
    answer: () => ({ expect: "deny", code: "capability_absent" }),
    seed: (input) => ({ code: "scope_violation", ...seedRooted(input) }),
  },
  {
    record: "0006-argv-patterns",
    when: "a star stays in its word, arguments are not joined, and a star takes no risky option",
    holds: (input) =>
      verbOf(input) === "proc.exec" && grantsFor(input).some(({ scope }) => isOddCommand(scope, argvOf(input))),
    ...ROOTED,
  },
  {
    record: "0009-roots",
    when: "an agent's grant names one agent, and another one is asked for",
    files: CHECK,
    holds: (input) =>
      verbOf(input).startsWith("agent.") &&
      grantsFor(input).length > 0 &&
      grantsFor(input).every(({ scope }) => has(scope, "id") && scope["id"] !== askedOf(input)["id"]),
    answer: () => said(false),
    seed: () => said(true),
  },
  {
    record: "0009-roots",
    when: "what is passed on differs from what is held in roots, ids, patterns or missing commands, or has no root",
    files: CHECK,
    holds: (input) =>
      verbOf(input) === "agent.grant" &&
      (differsInIgnored(askedOf(input)["granted"], input["grants"]) ||
        [askedOf(input)["granted"], input["grants"]].some((list) => hasInert(list, input))),
    answer: (input) => granted(plainWithin(askedOf(input)["granted"], input["grants"], rootsOf(input))),
    seed: (input) => granted(seedWithin(askedOf(input)["granted"], input["grants"])),
  },
  {
    record: "0013-catalog",
    when: "the request does not say what a grant limits: a missing axis is never filled in when matching",
    files: CHECK,
    holds: (input) =>
      verbOf(input).startsWith("records.") &&
      grantsFor(input).length > 0 &&
      grantsFor(input).every(({ scope }) =>
        LIMITS.some(([key, axis]) => has(scope, key) && !has(askedOf(input), axis)),
      ),
    answer: () => said(false),
    seed: () => said(true),
  },
  {
    record: "0004-host-patterns",
    when: "host or pattern is spelled in capitals or with one last dot, the host is none, or the pattern begins with `+.`",
    holds: (input) =>
      hostOf(input) !== null &&
      (isNoHost(hostOf(input) ?? "") ||
        [hostOf(input) ?? "", ...hostsFor(input)].some((text) => isRespelled(text) || text.startsWith("+."))),
    ...HOSTED,
  },
  {
    record: "0008-special-addresses",
    when: "the host is a literal address that is not public",
    holds: (input) => isAddress(bare(hostOf(input) ?? "")) && isSpecial(bare(hostOf(input) ?? "")),
    ...HOSTED,
  },
];

function granted(isAllowed: boolean): JsonObject {
  return isAllowed ? { expect: "allow" } : { expect: "deny", code: "exceeds_grantor_authority" };
}

function hasInert(list: Json | undefined, input: Row): boolean {
  return plainGrants(list).some((grant) => isRooted(grant) && isInert(grant, rootsOf(input)));
}
