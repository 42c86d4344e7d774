// Decisions about valid notation: our catalog, lists of capabilities, and org policy.
import { scopeKeys, verbEntry } from "../../src/core/authority/catalog.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { leavesRoot, NO_ROOTS, plainGrants } from "./model-grant.ts";
import { isNoHostPattern } from "./model-host.ts";
import { has, mapOr, type Row, textsOr } from "./row.ts";

/** The scope keys of the seed's catalog. Other verbs do not exist there. */
const SEED_KEYS: Readonly<Record<string, string>> = {
  "records.read": "",
  "records.create": "classes",
  "records.update": "classes paths",
  "records.delete": "classes",
  "agent.create": "id",
  "agent.update": "id ids paths",
  "agent.delete": "id ids",
  "agent.grant": "id",
  "fs.read": "in paths",
  "fs.write": "in paths",
  "fs.delete": "in paths",
  "net.get": "hosts",
  "net.post": "hosts",
  "net.put": "hosts",
  "net.delete": "hosts",
  "proc.exec": "in cmds patterns",
  "proc.eval": "in",
};

const CONDITIONS = ["ask", "calls", "rate", "expires", "pass", "clean"];

function isOurs(verb: string, key: string | null): boolean {
  const entry = verbEntry(verb);
  return entry !== null && (key === null || CONDITIONS.includes(key) || scopeKeys(entry).some((one) => one === key));
}

function isSeeds(verb: string, key: string | null): boolean {
  const keys = Object.hasOwn(SEED_KEYS, verb) ? SEED_KEYS[verb] : undefined;
  return keys !== undefined && (key === null || keys.split(" ").includes(key));
}

/** Verbs, and verbs with a key, of a list of capabilities. */
function written(input: Row): readonly (readonly [string, string | null])[] {
  return plainGrants(input["input"]).flatMap(({ verb, scope }) => [
    [verb, null] as const,
    ...Object.keys(scope).map((key) => [verb, key] as const),
  ]);
}

/** Agent over org over base, and every capability that comes out as ask. */
function rulings(input: Row, header: JsonObject): JsonObject {
  return { ...mapOr(header, "base"), ...mapOr(input, "org"), ...mapOr(input, "agent") };
}

function isWritten(input: Row, capability: string): boolean {
  return has(mapOr(input, "agent"), capability) || has(mapOr(input, "org"), capability);
}

/** The scope of `WebFetch` or `WebFetch(domain:host)` named alone; null for any other list of tools. */
function fetchScope({ allowed_tools: tools }: Row): string | null {
  const found = /^\s*WebFetch(?:\(domain:\s*([\w.*-]+)\))?\s*$/.exec(typeof tools === "string" ? tools : "");
  return found === null ? null : `{hosts=[${found[1] ?? ""}]}`;
}

function fetchNeeds(input: Row, verbs: readonly string[]): JsonObject {
  return { verbs, requests: verbs.map((verb) => `${verb}${fetchScope(input) ?? ""}`) };
}

/** The command of `Bash(git log:*)` named alone; null for any other list of tools. */
function prefixOf({ allowed_tools: tools }: Row): string | null {
  return /^\s*Bash\(([\w.-]+(?: [\w.-]+)+):\*\)\s*$/.exec(typeof tools === "string" ? tools : "")?.[1] ?? null;
}

function prefixNeeds(pattern: string): JsonObject {
  return { verbs: ["proc.exec"], requests: [`proc.exec{in=/w,patterns=["${pattern}"]}`] };
}

export const NOTATION_DECISIONS: readonly Decision[] = [
  {
    record: "0088-records-as-the-seed-writes-them",
    when: "a skill names WebFetch: fetching needs net.get, as the seed's page says",
    files: ["egghead-skills"],
    holds: (input) => fetchScope(input) !== null,
    answer: (input) => fetchNeeds(input, ["net.get"]),
    seed: (input) => fetchNeeds(input, ["net.get", "net.post"]),
  },
  {
    record: "0110-prefixes-of-allowed-tools",
    when: "a skill names Bash with a command of several words and `:*`: that command with anything behind it",
    files: ["egghead-skills"],
    holds: (input) => prefixOf(input) !== null,
    answer: (input) => prefixNeeds(`${prefixOf(input)} **`),
    seed: (input) => prefixNeeds(`${prefixOf(input)}:*`),
  },
  {
    record: "0013-catalog",
    when: "every verb and key is in our catalog, and one of them is not in the seed's",
    files: ["egghead-validate"],
    holds: (input) =>
      written(input).every(([verb, key]) => isOurs(verb, key)) &&
      written(input).some(([verb, key]) => !isSeeds(verb, key)),
    answer: () => ({ ok: true, suggestion: null }),
    seed: () => ({ ok: false }),
  },
  {
    record: "0004-host-patterns",
    when: "an entry of `hosts` is no host pattern: it is refused where it is written",
    files: ["egghead-validate"],
    holds: (input) =>
      plainGrants(input["input"]).some(({ scope }) => textsOr(scope, "hosts", []).some(isNoHostPattern)),
    answer: () => ({ ok: false }),
    seed: () => ({ ok: true }),
  },
  {
    record: "0009-roots",
    when: "an entry of `paths` leaves the root beside it: it is refused where it is written",
    files: ["egghead-validate"],
    holds: (input) => plainGrants(input["input"]).some((grant) => leavesRoot(grant, NO_ROOTS)),
    answer: () => ({ ok: false }),
    seed: () => ({ ok: true }),
  },
  {
    record: "0009-roots",
    when: "a verb stands in the list twice: grants are kept apart, never merged",
    files: ["egghead-parse"],
    holds: (input) => {
      const verbs = plainGrants(input["input"]).map(({ verb }) => verb);
      return new Set(verbs).size < verbs.length;
    },
    answer: (input) => ({ each: input["input"] ?? [] }),
    seed: () => ({ each: [] }),
  },
  {
    record: "0019-policy-requests",
    when: "an ask that was written stands beside one of the base: both are asked for",
    files: ["quorum-policy-resolution"],
    holds: (input, header) => {
      const asks = Object.entries(rulings(input, header)).flatMap(([capability, ruling]) =>
        ruling === "ask" ? [capability] : [],
      );
      const written = (capability: string): boolean => isWritten(input, capability);
      return asks.some(written) && !asks.every(written);
    },
    answer: (input, header) => ({
      effective: rulings(input, header),
      requests: Object.entries(rulings(input, header))
        .flatMap(([capability, ruling]) => (ruling === "ask" ? [`capability:${capability}`] : []))
        .sort(),
    }),
    seed: (input, header) => ({
      requests: Object.entries(rulings(input, header))
        .flatMap(([capability, ruling]) =>
          ruling === "ask" && isWritten(input, capability) ? [`capability:${capability}`] : [],
        )
        .sort(),
    }),
  },
];
