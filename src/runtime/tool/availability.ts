// Whether a tool can run at all: its backends exist, and so do the secrets it names. The facts come from the caller; the
// environment is never read.
import { isJsonList, type JsonObject } from "../../core/base/json.ts";
import type { Requirement } from "./requirement.ts";

export type Backend = "network" | "secrets" | "storage" | "files" | "process";

export interface Backends {
  has(backend: Backend): boolean;
  hasSecret(name: string): boolean;
}

export interface Needs {
  readonly backends: readonly Backend[];
  /** By full names; a pattern names no single secret that could be missing. */
  readonly secrets: readonly string[];
}

export type Availability =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "not_available";
      readonly backends: readonly Backend[];
      readonly secrets: readonly string[];
    };

const BACKEND_OF: ReadonlyMap<string, Backend> = new Map([
  ["network", "network"],
  ["secrets", "secrets"],
  ["storage", "storage"],
  ["fs_reach.read", "files"],
  ["fs_reach.write", "files"],
  ["process", "process"],
]);

/** A part that grants nothing needs nothing. */
export function needsOf({ grants, parts }: Requirement, { secrets }: JsonObject): Needs {
  const used = parts.filter((part) => grants.some((grant) => grant.implied === part));
  const backends = used.map((part) => BACKEND_OF.get(part)).filter((one) => one !== undefined);
  const names = isJsonList(secrets) ? secrets.filter((one) => typeof one === "string" && !one.includes("*")) : [];
  return { backends: [...new Set(backends)], secrets: names as readonly string[] };
}

/** A backend that throws when asked counts as missing. */
export function availabilityOf({ backends, secrets }: Needs, facts: Backends): Availability {
  const isThere = (ask: () => boolean): boolean => {
    try {
      return ask() === true;
    } catch {
      return false;
    }
  };
  const missing = backends.filter((one) => !isThere(() => facts.has(one)));
  const unknown = secrets.filter((one) => !isThere(() => facts.hasSecret(one)));
  return missing.length === 0 && unknown.length === 0
    ? { ok: true }
    : { ok: false, code: "not_available", backends: missing, secrets: unknown };
}

export function missingText({ backends, secrets }: Exclude<Availability, { ok: true }>): string {
  return `it declares something that is not available: ${[...backends, ...secrets.map((name) => `the secret ${name}`)].join(", ")}`;
}

/** What a call of a tool is told whose own `isAvailable` answers false. */
export const SAYS_UNAVAILABLE = "the tool reports that it is not available: its `isAvailable` is false";
