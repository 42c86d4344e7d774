// The answers of the seeds' own rules, as their files state them. A decision excuses only where these differ from ours: a wrong
// expectation on an input about which seed and we agree is a failure, whatever predicate holds.
import { isJsonObject, type JsonObject } from "../../src/core/base/json.ts";
import { inRanges, isAddress } from "./model-address.ts";
import { has, mapOr, type Row, textAt, textsAt, textsOr, textsOrNull } from "./row.ts";

interface HostRule {
  /** `*.x` matches x too. */
  readonly apex: boolean;
  /** A lone star is any host. */
  readonly every: boolean;
  readonly fold: boolean;
}

const EGGHEAD: HostRule = { apex: true, every: true, fold: true };
const POLICY: HostRule = { apex: true, every: false, fold: true };
const CORE: HostRule = { apex: false, every: true, fold: false };

function hostMatches(pattern: string, host: string, { apex, every, fold }: HostRule): boolean {
  const [held, asked] = fold ? [pattern.toLowerCase(), host.toLowerCase()] : [pattern, host];
  if (held === "*" && every) return true;
  if (!held.startsWith("*.")) return held === asked;
  return asked.endsWith(held.slice(1)) || (apex && asked === held.slice(2));
}

export function seedHostMatch(input: Row, file: "egghead" | "policy"): JsonObject {
  return {
    matches: hostMatches(textAt(input, "pattern"), textAt(input, "host"), file === "egghead" ? EGGHEAD : POLICY),
  };
}

export function seedCheckHost(hosts: readonly string[], host: string): boolean {
  return hosts.some((pattern) => hostMatches(pattern, host, EGGHEAD));
}

export function seedFetch(input: Row): JsonObject {
  const host = textAt(input, "urlHost").toLowerCase();
  return {
    expect: textsAt(input, "allowedHosts").some((pattern) => hostMatches(pattern, host, CORE)) ? "allow" : "deny",
  };
}

/** A host that a tool declares, against the list of a personality, both as written. */
export function seedHolds(allow: readonly string[], host: string): boolean {
  return allow.some((entry) => hostMatches(entry, host, CORE));
}

export function seedResolved(input: Row): JsonObject {
  const [declared, policy] = [textsAt(input, "declared"), mapOr(input, "policy")];
  const allow = textsOrNull(policy, "allow");
  if (declared.includes("*")) return { resolved: [...(allow ?? [])].sort() };
  const kept = declared.filter((host) => allow === null || allow.some((entry) => hostMatches(entry, host, CORE)));
  return { resolved: kept.sort() };
}

/** Blocked by both seeds; they miss the other special ranges. */
const PRIVATE =
  "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 0.0.0.0/8 100.64.0.0/10 240.0.0.0/4 ::/127 fc00::/7";
const BRIDLE = `${PRIVATE} 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 fe80::/10 ff00::/8`.split(" ");
const ETHOS = `${PRIVATE} 224.0.0.0/4 fe80::/16 ff00::/8`.split(" ");

export function seedBlocks(address: string): boolean {
  const embedded = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  return inRanges(BRIDLE, address) || (embedded !== undefined && inRanges(BRIDLE, embedded));
}

/** Exact names; blocked addresses are dropped and one must remain, or the name is in `net_private`. */
export function seedScreen(input: Row): JsonObject {
  const listed = (key: string): boolean =>
    input[key] === "all" || textsOr(mapOr(input, key), "only", []).includes(textAt(input, "host"));
  if (!listed("net")) return { expect: "deny", code: "scope_violation" };
  const isOpen = textsAt(input, "resolved").some((address) => listed("net_private") || !seedBlocks(address));
  return isOpen ? { expect: "allow" } : { expect: "deny", code: "address_refused" };
}

/** An empty list is open, a failed lookup too; private addresses by a switch, metadata never. */
export function seedUrl(input: Row, host: string): JsonObject {
  const policy = mapOr(input, "policy");
  const allow = textsOr(policy, "allow", []);
  const name = plainHost(host);
  const isListed = allow.length === 0 || allow.some((pattern) => hostMatches(pattern, name, POLICY));
  const addresses = isAddress(name) ? [name] : textsOr(input, "dns", []);
  const isRefused = (address: string): boolean =>
    inRanges(METADATA, address) || (policy["allow_private_urls"] !== true && inRanges(ETHOS, address));
  return {
    expect: /^https?:/i.test(textAt(input, "url")) && isListed && !addresses.some(isRefused) ? "allow" : "deny",
  };
}

const METADATA = "169.254.169.254/32 100.100.100.200/32 169.254.0.23/32 fd00:ec2::254/128".split(" ");

/** As the platform's URL parser spells it: numbers become dotted, letters lower case. */
function plainHost(host: string): string {
  try {
    return new URL(`http://${host}/`).hostname.replace(/^\[(.*)\]$/, "$1");
  } catch {
    return host;
  }
}

/** As given, or by its last part. */
export function seedExec(input: Row): JsonObject {
  const [exec, program] = [input["exec"] ?? null, textAt(input, "program")];
  const only = isJsonObject(exec) ? textsOr(exec, "only", []) : [];
  const base = program.replace(/\/+$/, "").replace(/^.*\//s, "");
  return { allowed: exec === "all" || only.includes(program) || (base !== ".." && only.includes(base)) };
}

/** Text with stars, over the arguments joined by a space. */
export function seedCommand(scope: JsonObject, argv: readonly string[]): boolean {
  const [cmds, patterns] = [textsOrNull(scope, "cmds"), textsOrNull(scope, "patterns")];
  if (cmds === null && patterns === null) return has(scope, "in");
  return (cmds ?? []).includes(argv[0] ?? "") || (patterns ?? []).some((pattern) => lineMatches(pattern, argv));
}

function lineMatches(pattern: string, argv: readonly string[]): boolean {
  const program = /^([^\s:]+):\*$/.exec(pattern)?.[1];
  if (program !== undefined) return argv[0] === program;
  const line = argv.join(" ");
  if (pattern.endsWith(" *") && starred(pattern.slice(0, -2), ".*").test(line)) return true;
  return starred(pattern, ".*").test(line);
}

function starred(pattern: string, star: string): RegExp {
  return new RegExp(`^${pattern.split("*").map(escaped).join(star)}$`, "s");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** `**` matches any text, `*` and `?` none with a slash, everything else literally. */
export function seedGlob(input: Row): JsonObject {
  const source = textAt(input, "pattern").replace(/\*\*|\*|\?|[^*?]+/g, (part) => GLOB[part] ?? escaped(part));
  return { matches: new RegExp(`^${source}$`, "s").test(textAt(input, "path")) };
}

const GLOB: Readonly<Record<string, string>> = { "**": ".*", "*": "[^/]*", "?": "[^/]" };

/** Exact, or everything below `namespace/*`. */
export function seedSecret(input: Row): JsonObject {
  const ref = textAt(input, "ref");
  const isPlain = ref.split("/").every((segment) => !/^\.{0,2}$/.test(segment));
  const isBelow = (entry: string): boolean =>
    isPlain && /^[^*/].*\/\*$/s.test(entry) && ref.startsWith(entry.slice(0, -1));
  return { expect: textsAt(input, "declared").some((entry) => entry === ref || isBelow(entry)) ? "allow" : "deny" };
}
