// Grants in the notation of the rows. A `proc.*` scope with commands but no `in` is evaluated under an agent whose sandbox is /w.
import type { Grant } from "../../src/core/authority/grant.ts";
import { isJsonList, isJsonObject, type Json } from "../../src/core/base/json.ts";
import { type Diagnostic, Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { readCapabilities } from "../../src/core/notation/record/capabilities.ts";
import { treeOf } from "./json-tree.ts";
import { READING, rootOf, WORK } from "./machine.ts";

export interface Written {
  readonly grants: readonly Grant[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Items are parsed one by one, because each may be under a root of its own. `root`: that of the agent, if it has one. */
export function readWritten(value: Json, root: readonly string[] | null = null, reading: Reading = READING): Written {
  const diagnostics = new Diagnostics();
  const items = isJsonList(value) ? value.map((item) => [item]) : [value];
  const grants = items.flatMap((item) =>
    readCapabilities(treeOf(item), { reading, diagnostics, root: root ?? (isRootless(item) ? rootOf(WORK) : null) }),
  );
  return { grants, diagnostics: diagnostics.list };
}

function isRootless(value: Json): boolean {
  if (isJsonList(value)) return value.some(isRootless);
  if (typeof value === "string") return rootlessSpec(value);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([verb, scope]) => isProcess(verb) && isJsonObject(scope) && isUnrooted(Object.keys(scope)),
  );
}

function isProcess(verb: string): boolean {
  return /^(proc|shell)\./.test(verb);
}

function isUnrooted(keys: readonly string[]): boolean {
  return !keys.includes("in") && (keys.includes("cmds") || keys.includes("patterns"));
}

/** A line of specs, or one. */
function rootlessSpec(text: string): boolean {
  return [...text.matchAll(/([\w.]+)\{([^}]*)\}?/g)].some(
    ([, verb, scope]) =>
      isProcess(verb ?? "") &&
      isUnrooted([...(scope ?? "").matchAll(/(?:^|,)\s*(\w+)\s*=/g)].map(([, key]) => key ?? "")),
  );
}

/** The root a process of this scope runs in: its own `in`, or /w. */
export function workingFolder(scope: Json | undefined): string {
  return isJsonObject(scope ?? null) && typeof (scope as { in?: unknown }).in === "string"
    ? (scope as { in: string }).in
    : WORK;
}
