// Prepares a tool for the gate: its name, its requirement as a link, its risk, and its request derivation. Or why it is invalid.
import { byRisk, type Risk } from "../../core/authority/catalog.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { copyJson, isJsonObject, type JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { KnownTool } from "../../core/gate/known-tool.ts";
import { type RequestReading, requestOf, type ToolRequest } from "../context/tool-request.ts";
import { type Backends, type Needs, needsOf } from "./availability.ts";
import { STORES, type StorageScope, type Store } from "./declaration.ts";
import type { Tool } from "./define.ts";
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
  readonly pathSettings: RequestReading["pathSettings"];
  readonly toAscii: RequestReading["toAscii"];
}

export interface RegisteredTool extends KnownTool {
  readonly tool: Tool;
  readonly origin: ToolOrigin;
  readonly risk: Risk;
  /** Null for a built-in tool without a declaration: it requests everything it does, and only the agent's grants limit it. */
  readonly requirement: CompiledLink | null;
  readonly declared: Requirement;
  readonly needs: Needs;
  readonly store: Store | null;
}

const toolsMax = 10_000;
const requestsMax = 256;

export type PreparedTool =
  | { readonly ok: true; readonly value: RegisteredTool; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly RegistrationError[] };

export function prepareTool(
  tool: Tool,
  origin: ToolOrigin,
  parts: RegistryParts,
  taken: readonly string[],
  /** One more policy that the declaration must lie within. */
  also: Policy | null = null,
): PreparedTool {
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
    if (other !== undefined) errors.push(error("name", `a tool ${other} already exists`, "duplicate", shown));
    if (taken.length >= toolsMax) errors.push(error("name", `the limit of ${toolsMax} tools is reached`));
  }
  const policies = also === null ? [parts.policy] : [parts.policy, also];
  for (const policy of capabilities === null ? [] : policies)
    errors.push(...requirementErrors(shown, capabilities as JsonObject, parts.read, policy));
  const reading = capabilities === null ? null : parts.read(capabilities);
  if (errors.length > 0 || !name.ok || capabilities === null || reading === null || reading.requirement === null)
    return { ok: false, errors: Object.freeze(errors) };
  const { requirement: declared, diagnostics } = reading;
  const link = compile({
    ...{ id: `tool:${name.value}`, role: "limit", issuer: "tool", holder: name.value },
    ...{ grants: declared.grants, validity: ALWAYS, calls: null },
  });
  const isUnbounded = origin === "builtin" && Object.keys(capabilities).length === 0;
  const asking: RequestReading = { pathSettings: parts.pathSettings, toAscii: parts.toAscii, tool: name.value };
  const value: RegisteredTool = Object.freeze({
    ...{ name: name.value, origin, tool, requirement: isUnbounded ? null : link, declared },
    risk: riskOf(tool, declared),
    needs: needsOf(declared, capabilities),
    store: storeOf(capabilities),
    requests: (input: JsonObject) => requestsOf(tool, input, asking),
  });
  const warnings = diagnostics.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  return { ok: true, value, warnings };
}

/** The higher of the author's risk and the declaration's. */
function riskOf({ risk }: Tool, { grants }: Requirement): Risk {
  const order: readonly Risk[] = ["low", "medium", "high"];
  const highest =
    grants
      .map(({ verb }) => verb)
      .sort(byRisk)
      .at(0)?.risk ?? "low";
  return order[Math.max(order.indexOf(risk ?? "low"), order.indexOf(highest))] as Risk;
}

function storeOf({ storage }: JsonObject): Store | null {
  const scope = isJsonObject(storage) ? storage["scope"] : null;
  return typeof scope === "string" && Object.hasOwn(STORES, scope) ? STORES[scope as StorageScope] : null;
}

/** Requests are copied before they are parsed: a decision is about values, not about objects that may change. */
function requestsOf(tool: Tool, input: JsonObject, asking: RequestReading): Result<readonly Request[]> {
  const accepted = tool.accept(input);
  if (!accepted.ok) {
    const [issue] = accepted.issues;
    return refuse("bad_value", issue === undefined ? "the input is refused" : `${issue.at} ${issue.message}`.trim());
  }
  const asked = copyJson(tool.requests(accepted.value));
  if (!Array.isArray(asked) || asked.length > requestsMax)
    return refuse("bad_value", `a tool must return a list of at most ${requestsMax} requests`);
  const requests: Request[] = [];
  for (const one of asked) {
    if (!isJsonObject(one)) return refuse("bad_value", "a request needs a verb and a target");
    const request = requestOf(one as unknown as ToolRequest, asking);
    if (!request.ok) return request;
    requests.push(request.value);
  }
  return done(requests);
}
