// The registry of tools: what there is, for whom, and whether it can run at all. Registering is against a policy, and
// its errors are data; everything it hands out is frozen.
import { byRisk, type Risk } from "../authority/catalog.ts";
import type { Authority } from "../authority/chain.ts";
import { type CompiledLink, compile, type Moment } from "../authority/compiled.ts";
import { copyJson, isJsonObject, type JsonObject } from "../authority/json.ts";
import { ALWAYS } from "../authority/link.ts";
import type { Request } from "../authority/request.ts";
import { done, type Result, refuse } from "../authority/result.ts";
import { type Asked, type Asking, requestOf } from "../context/asking.ts";
import { type Availability, availabilityOf, type Backends, type Needs, needsOf } from "./availability.ts";
import { STORES, type StorageScope, type Store } from "./declaration.ts";
import type { Tool } from "./define.ts";
import type { KnownTool, ToolLookup } from "./known-tool.ts";
import { reachesOf } from "./reachable.ts";
import {
  type Policy,
  type ReadRequirement,
  type RegistrationError,
  type Requirement,
  requirementErrors,
} from "./requirement.ts";
import { likeness, parseToolName, type ToolOrigin } from "./tool-name.ts";

export interface RegistryParts {
  readonly read: ReadRequirement;
  readonly policy: Policy;
  readonly backends: Backends;
  readonly ground: Asking["ground"];
  readonly toAscii: Asking["toAscii"];
}

export interface RegisteredTool extends KnownTool {
  readonly tool: Tool;
  readonly origin: ToolOrigin;
  readonly risk: Risk;
  readonly requirement: CompiledLink;
  readonly declared: Requirement;
  readonly needs: Needs;
  readonly store: Store | null;
}

/** A tool as it is shown: to a model, in a list, at a face. */
export interface ToolListing {
  readonly name: string;
  readonly origin: ToolOrigin;
  readonly description: string;
  readonly risk: Risk;
  readonly schema: JsonObject | null;
  readonly capabilities: JsonObject;
  readonly availability: Availability;
}

export type Registration =
  | { readonly ok: true; readonly name: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly RegistrationError[] };

export interface RegistryChange {
  readonly kind: "added" | "removed";
  readonly name: string;
}

export interface Registry {
  register(tool: Tool, origin: ToolOrigin): Registration;
  remove(name: string): boolean;
  find(name: string): RegisteredTool | null;
  /** For the gate. */
  readonly lookup: ToolLookup;
  /** Sorted by name. */
  list(): readonly ToolListing[];
  /** Only what these grants can ever allow. */
  listFor(authority: Authority, moment: Moment): readonly ToolListing[];
  availability(name: string): Availability | null;
  /** Told of every change, after it; hands back the way to be told no more. Null where too many listen. */
  watch(listener: (change: RegistryChange) => void): (() => void) | null;
}

const toolsMax = 10_000;
const watchersMax = 256;
const requestsMax = 256;

export function createRegistry(parts: RegistryParts): Registry {
  const tools = new Map<string, RegisteredTool>();
  const watchers = new Set<(change: RegistryChange) => void>();
  const tell = (change: RegistryChange): void => {
    for (const watcher of [...watchers]) {
      try {
        watcher(Object.freeze({ ...change }));
      } catch {
        // What a listener does wrong is its own.
      }
    }
  };
  const find = (name: string): RegisteredTool | null => tools.get(ownName(name)) ?? null;
  const listing = (one: RegisteredTool): ToolListing => {
    const { tool, origin, name, risk, needs } = one;
    const { description, schema, capabilities } = tool;
    const availability = availabilityOf(needs, parts.backends);
    return Object.freeze({ name, origin, description, risk, schema, capabilities: capabilities ?? {}, availability });
  };
  const sorted = (): readonly RegisteredTool[] =>
    [...tools.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  return Object.freeze({
    register: (tool: Tool, origin: ToolOrigin): Registration => {
      const made = registered(tool, origin, parts, [...tools.keys()]);
      if (!made.ok) return made;
      tools.set(made.value.name, made.value);
      tell({ kind: "added", name: made.value.name });
      return { ok: true, name: made.value.name, warnings: made.warnings };
    },
    remove: (name: string): boolean => {
      const isGone = tools.delete(ownName(name));
      if (isGone) tell({ kind: "removed", name: ownName(name) });
      return isGone;
    },
    find,
    lookup: find,
    list: () => sorted().map(listing),
    listFor: (authority: Authority, moment: Moment) => {
      const reaches = reachesOf(authority, moment);
      return sorted()
        .filter(({ name, declared }) => reaches(name, declared))
        .map(listing);
    },
    availability: (name: string) => {
      const one = find(name);
      return one === null ? null : availabilityOf(one.needs, parts.backends);
    },
    watch: (listener: (change: RegistryChange) => void) => {
      if (watchers.size >= watchersMax) return null;
      const own = (change: RegistryChange): void => listener(change);
      watchers.add(own);
      return () => {
        watchers.delete(own);
      };
    },
  });
}

/** With or without its origin in front. */
function ownName(text: string): string {
  return text.replace(/^(?:builtin|tool):/, "");
}

type Made =
  | { readonly ok: true; readonly value: RegisteredTool; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly RegistrationError[] };

function registered(tool: Tool, origin: ToolOrigin, parts: RegistryParts, taken: readonly string[]): Made {
  const { name: written, capabilities, faults } = tool;
  const shown = String(written).slice(0, 100);
  const error = (
    capability: string,
    message: string,
    code: RegistrationError["code"] = "bad_definition",
    entry: string | null = null,
  ): RegistrationError => ({ tool: shown, capability, entry, code, message, counterexample: null });
  const errors = faults.map(({ part, at, message }) => error(part, message, "bad_definition", at));
  const name = parseToolName(shown === written ? written : "", origin);
  if (!name.ok) errors.push(error("name", name.message, "bad_definition", shown));
  else {
    const other = taken.find((one) => likeness(one) === likeness(name.value));
    if (other !== undefined) errors.push(error("name", `there is a tool ${other} already`, "duplicate", shown));
    if (taken.length >= toolsMax) errors.push(error("name", `there are ${toolsMax} tools already`));
  }
  if (capabilities !== null) errors.push(...requirementErrors(shown, capabilities, parts.read, parts.policy));
  const reading = capabilities === null ? null : parts.read(capabilities);
  if (errors.length > 0 || !name.ok || capabilities === null || reading === null || reading.requirement === null)
    return { ok: false, errors: Object.freeze(errors) };
  const { requirement: declared, diagnostics } = reading;
  const link = compile({
    ...{ id: `tool:${name.value}`, role: "limit", issuer: "tool", holder: name.value },
    ...{ grants: declared.grants, validity: ALWAYS, calls: null },
  });
  const asking: Asking = { ground: parts.ground, toAscii: parts.toAscii, tool: name.value };
  const value: RegisteredTool = Object.freeze({
    ...{ name: name.value, origin, tool, requirement: link, declared },
    risk: riskOf(tool, declared),
    needs: needsOf(declared, capabilities),
    store: storeOf(capabilities),
    requests: (input: JsonObject) => requestsOf(tool, input, asking),
  });
  const warnings = diagnostics.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  return { ok: true, value, warnings };
}

/** The highest of what its author says and of what it declares. */
function riskOf({ risk }: Tool, { grants }: Requirement): Risk {
  const order: readonly Risk[] = ["low", "medium", "high"];
  const highest =
    grants
      .map(({ verb }) => verb)
      .sort(byRisk)
      .at(-1)?.risk ?? "low";
  return order[Math.max(order.indexOf(risk ?? "low"), order.indexOf(highest))] as Risk;
}

function storeOf({ storage }: JsonObject): Store | null {
  const scope = isJsonObject(storage) ? storage["scope"] : null;
  return typeof scope === "string" && Object.hasOwn(STORES, scope) ? STORES[scope as StorageScope] : null;
}

/** What is asked for is copied before it is read: a decision is about values, not about objects that may change. */
function requestsOf(tool: Tool, input: JsonObject, asking: Asking): Result<readonly Request[]> {
  const accepted = tool.accept(input);
  if (!accepted.ok) {
    const [issue] = accepted.issues;
    return refuse("bad_value", issue === undefined ? "the input is refused" : `${issue.at} ${issue.message}`.trim());
  }
  const asked = copyJson(tool.requests(accepted.value));
  if (!Array.isArray(asked) || asked.length > requestsMax)
    return refuse("bad_value", `a tool asks for a list of at most ${requestsMax} requests`);
  const requests: Request[] = [];
  for (const one of asked) {
    if (!isJsonObject(one)) return refuse("bad_value", "a request has a verb and says what it is about");
    const request = requestOf(one as unknown as Asked, asking);
    if (!request.ok) return request;
    requests.push(request.value);
  }
  return done(requests);
}
