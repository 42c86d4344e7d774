// The request of an `egghead-check` row, for the decisions about it.
import type { JsonObject } from "../../src/core/base/json.ts";
import { type PlainGrant, plainGrants, type Roots } from "./model-grant.ts";
import { mapOr, type Row, textOr, textsOr, textsOrNull } from "./row.ts";

export function askedOf(input: Row): JsonObject {
  return mapOr(input, "request");
}

export function verbOf(input: Row): string {
  return `${textOr(askedOf(input), "resource", "")}.${textOr(askedOf(input), "verb", "")}`;
}

/** The grants of that verb, including old names. */
export function grantsFor(input: Row): readonly PlainGrant[] {
  return plainGrants(input["grants"]).filter(({ verb }) => verb.replace(/^shell\./, "proc.") === verbOf(input));
}

export function rootsOf(input: Row): Roots {
  return { agent: textOr(input, "agent_sandbox", null), ceiling: textOr(input, "config_sandbox", null) };
}

export function argvOf(input: Row): readonly string[] {
  return textsOrNull(askedOf(input), "argv") ?? [textOr(askedOf(input), "cmd", "")];
}

export function hostOf(input: Row): string | null {
  return textOr(askedOf(input), "host", null);
}

export function hostsFor(input: Row): readonly string[] {
  return grantsFor(input).flatMap(({ scope }) => textsOr(scope, "hosts", []));
}
