// Decisions about a tool's declaration under a personality.
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Decision } from "./decision.ts";
import { declarationOf } from "./ethos-tools.ts";
import { folder } from "./model-grant.ts";
import { hostPatternWithin, isNoHostPattern, isRespelled } from "./model-host.ts";
import { isAtOrBelow } from "./model-words.ts";
import { has, mapOr, type Row, textsOr, textsOrNull } from "./row.ts";
import { seedHolds } from "./seed-rules.ts";

const REGISTER: readonly string[] = ["ethos-validate-registration"];

/**
 * The parts of a tool that exceed the personality. Empty and absent are nothing, paths are trees, a star is whatever is allowed.
 */
function registers(input: Row): JsonObject {
  const [tool, personality] = [declarationOf(input), mapOr(input, "personality")];
  const hosts = textsOr(mapOr(tool, "network"), "allowedHosts", []);
  const allow = textsOr(mapOr(mapOr(personality, "safety"), "network"), "allow", []);
  const isHeld =
    hosts.includes("*") ||
    hosts.every((host) => isNoHostPattern(host) || allow.some((entry) => hostPatternWithin(host, entry, "below")));
  const errors = isHeld ? [] : ["network"];
  for (const mode of ["read", "write"]) {
    const held = textsOr(mapOr(personality, "fs_reach"), mode, []).map(folder);
    const asked = textsOr(mapOr(tool, "fs_reach"), mode, []).map(folder);
    if (!asked.every((path) => held.some((root) => isAtOrBelow(path, root)))) errors.push(`fs_reach.${mode}`);
  }
  return { expect: errors.length === 0 ? "accept" : "reject", errors: errors.sort() };
}

/** Empty and absent are open, and a path is below another if its text continues with a slash. */
function seedRegisters(input: Row): JsonObject {
  const [tool, personality] = [declarationOf(input), mapOr(input, "personality")];
  const allow = textsOr(mapOr(mapOr(personality, "safety"), "network"), "allow", []);
  const hosts = textsOr(mapOr(tool, "network"), "allowedHosts", []);
  const isHeld = allow.length === 0 || hosts.every((host) => seedHolds(allow, host));
  const errors = isHeld ? [] : ["network"];
  for (const mode of ["read", "write"]) {
    const held = textsOrNull(mapOr(personality, "fs_reach"), mode);
    const asked = textsOr(mapOr(tool, "fs_reach"), mode, []);
    const lies = (path: string): boolean => held?.some((root) => path === root || path.startsWith(`${root}/`)) ?? true;
    if (!asked.every(lies)) errors.push(`fs_reach.${mode}`);
  }
  return { expect: errors.length === 0 ? "accept" : "reject", errors: errors.sort() };
}

function reachesOf(side: JsonObject): readonly string[] {
  return ["read", "write"].flatMap((mode) => textsOr(mapOr(side, "fs_reach"), mode, []));
}

function isMissing(input: Row): boolean {
  const [tool, personality] = [declarationOf(input), mapOr(input, "personality")];
  const allow = textsOr(mapOr(mapOr(personality, "safety"), "network"), "allow", []);
  if (has(tool, "network") && allow.length === 0) return true;
  return ["read", "write"].some(
    (mode) => has(mapOr(tool, "fs_reach"), mode) && textsOr(mapOr(personality, "fs_reach"), mode, []).length === 0,
  );
}

function hostsOf(input: Row): readonly string[] {
  const allow = textsOr(mapOr(mapOr(mapOr(input, "personality"), "safety"), "network"), "allow", []);
  return [...textsOr(mapOr(declarationOf(input), "network"), "allowedHosts", []), ...allow];
}

export const REGISTRATION_DECISIONS: readonly Decision[] = [
  {
    record: "0011-declarations",
    when: "the personality has no such part, or an empty one: that is nothing",
    files: REGISTER,
    holds: isMissing,
    answer: registers,
    seed: seedRegisters,
  },
  {
    record: "0011-declarations",
    when: "a path ends in a slash, is /, or has detours: an entry is a tree, and normal",
    files: REGISTER,
    holds: (input) =>
      [...reachesOf(declarationOf(input)), ...reachesOf(mapOr(input, "personality"))].some((path) =>
        /\/$|\/\/|(^|\/)\.{1,2}(\/|$)/.test(path),
      ),
    answer: registers,
    seed: seedRegisters,
  },
  {
    record: "0011-declarations",
    when: "the tool declares a star: whatever the policy allows",
    files: REGISTER,
    holds: (input) => textsOr(mapOr(declarationOf(input), "network"), "allowedHosts", []).includes("*"),
    answer: registers,
    seed: seedRegisters,
  },
  {
    record: "0004-host-patterns",
    when: "a host is spelled in capitals, with one last dot, or outside ASCII",
    files: REGISTER,
    holds: (input) => hostsOf(input).some(isRespelled),
    answer: registers,
    seed: seedRegisters,
  },
];
