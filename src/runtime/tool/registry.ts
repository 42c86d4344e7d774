// The registry of tools: which exist, who can see them, and whether they can run. Registration is against a policy, and its
// errors are data; all returned objects are frozen.
import type { Risk } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { ToolLookup } from "../../core/gate/known-tool.ts";
import type { Context } from "../context/context.ts";
import type { ToolRequest } from "../context/tool-request.ts";
import { type Availability, availabilityOf } from "./availability.ts";
import { defineTool, type Tool, type ToolDefinition } from "./define.ts";
import type { InputSchema } from "./input.ts";
import { reachesOf } from "./reachable.ts";
import { prepareTool, type RegisteredTool, type RegistryParts } from "./registered.ts";
import type { Policy, RegistrationError } from "./requirement.ts";
import type { ToolOrigin } from "./tool-name.ts";

export type { RegistryParts } from "./registered.ts";

/** A tool as shown to a model, in a list, at a face. */
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
  /** Never throws: a definition that was not made with `defineTool` is read like one. `also`: one more policy. */
  register(tool: Tool | PlainTool, origin: ToolOrigin, also?: Policy): Registration;
  remove(name: string): boolean;
  find(name: string): RegisteredTool | null;
  /** For the gate. */
  readonly lookup: ToolLookup;
  /** Sorted by name. */
  list(): readonly ToolListing[];
  /** Only tools that these grants can ever allow. */
  listFor(authority: Authority, moment: Moment): readonly ToolListing[];
  availability(name: string): Availability | null;
  /** Called after every change; returns a function that removes the listener. Null if there are too many listeners. */
  watch(listener: (change: RegistryChange) => void): (() => void) | null;
}

/** A definition as plain data and functions. Types that `defineTool` would infer are not known of it. */
export type PlainTool = Omit<ToolDefinition<InputSchema>, "execute" | "requests"> & {
  execute(input: never, context: Context): unknown;
  requests?(input: never): readonly ToolRequest[];
};

const watchersMax = 256;

/** A getter or a proxy may throw: whatever is not a tool is an error as data. */
function asTool(given: unknown): { readonly ok: true; readonly value: Tool } | Extract<Registration, { ok: false }> {
  try {
    if (isTool(given)) return { ok: true, value: given };
    if (typeof given === "object" && given !== null)
      return { ok: true, value: defineTool(given as ToolDefinition<InputSchema>) as Tool };
  } catch {
    // Reported below.
  }
  const message = "a tool must be an object with name, description, capabilities, input and execute";
  const error = { tool: "", capability: "definition", entry: null, code: "bad_definition", message } as const;
  return { ok: false, errors: Object.freeze([{ ...error, counterexample: null }]) };
}

function isTool(given: unknown): given is Tool {
  const { accept, faults } = (given ?? {}) as Partial<Tool>;
  return Object.isFrozen(given) && typeof accept === "function" && Array.isArray(faults);
}

export function createRegistry(parts: RegistryParts): Registry {
  const tools = new Map<string, RegisteredTool>();
  const watchers = new Set<(change: RegistryChange) => void>();
  const tell = (change: RegistryChange): void => {
    for (const watcher of [...watchers]) {
      try {
        watcher(Object.freeze({ ...change }));
      } catch {
        // A listener's exception is ignored.
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
    register: (given: Tool | PlainTool, origin: ToolOrigin, also: Policy | null = null): Registration => {
      const tool = asTool(given);
      if (!tool.ok) return tool;
      const made = prepareTool(tool.value, origin, parts, [...tools.keys()], also);
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

/** With or without its origin prefix. */
function ownName(text: string): string {
  return text.replace(/^(?:builtin|tool):/, "");
}
