// Parts of the tools of MCP servers: what their arguments ask for, what of their schemas is checked, and what is answered where a person has
// to sign in first.

import type { PathSettings } from "../../core/authority/axes/path.ts";
import { copyJson, type JsonObject } from "../../core/base/json.ts";
import { done } from "../../core/base/result.ts";
import type { RequestsResult } from "../../core/gate/known-tool.ts";
import { type ArgumentMap, mappedTargets } from "../../core/notation/servers/argument-map.ts";
import { packageCommand } from "../../core/notation/servers/package-command.ts";
import type { Pin } from "../../gateway/pins.ts";
import { requestOf, type ToolRequest } from "../../runtime/context/tool-request.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import type { DaemonTool } from "../tools/daemon-tool.ts";
import type { CatalogServer } from "./server-catalog.ts";
import { NEEDS_SIGN_IN } from "./server-message.ts";

/** What a model is told where a person has to sign in. */
export function signInFix(
  { server }: CatalogServer,
  { code, message }: { readonly code?: string; readonly message: string },
): { readonly message?: string; readonly fix?: string } {
  if (code !== "sign_in_required") return {};
  const why = message === NEEDS_SIGN_IN ? "" : ` (${message})`;
  const told = `the server ${server.name} needs a sign-in by a person${why}; do not retry, and tell the user to sign in`;
  return { message: told, fix: `ambit mcp login ${server.name}` };
}

/** A schema with parts that cannot be checked within limits accepts every object here; the server checks its own. */
export function checkedSchema(schema: JsonObject): JsonSchema {
  const { $schema: _dialect, ...rest } = schema;
  const copy = copyJson(rest) as JsonSchema | undefined;
  return copy !== undefined && inputParser(copy).faults.length === 0 ? copy : { type: "object" };
}

/** Why the tools of a server are not known yet. */
export type StartProblem = "no sign-in" | "failed" | "slow";

/** Answers a call of a server whose tools are not known yet, where the agent could call one. */
export function unknownServerTool(one: CatalogServer, name: string, problem: StartProblem): DaemonTool {
  return {
    ...{ name, description: "", input: { type: "object" }, verbs: [], isOfServer: true },
    requests: () => done([]),
    execute: async () => ({ ok: false, ...startFailure(one, problem) }),
  };
}

/** INVARIANT: nothing of what the server wrote: no person has seen it. */
function startFailure(
  one: CatalogServer,
  problem: StartProblem,
): { readonly code: string; readonly message: string; readonly fix: string | null } {
  const { name, endpoint } = one.server;
  // No start could fetch it: a sandbox of a server reaches no registry.
  if (endpoint.kind === "program" && endpoint.package === null && packageCommand(endpoint.command) !== null)
    return {
      code: "not_available",
      message: `the package of the server ${name} is not fetched; do not retry, and tell the user`,
      fix: `ambit mcp fetch ${name}`,
    };
  switch (problem) {
    case "no sign-in": {
      const { message = "", fix = null } = signInFix(one, { code: "sign_in_required", message: NEEDS_SIGN_IN });
      return { code: "sign_in_required", message, fix };
    }
    case "failed":
      return {
        code: "not_available",
        message: `the server ${name} could not be started, so its tools are not known; do not retry, and tell the user`,
        fix: `ambit mcp show ${name}`,
      };
    case "slow":
      return {
        code: "not_available",
        message: `the server ${name} has not started yet, so its tools are not known; try again in a minute`,
        fix: `ambit mcp show ${name}`,
      };
    default:
      return problem satisfies never;
  }
}

export function mappedRequests(
  map: ArgumentMap,
  input: JsonObject,
  tool: string,
  pathSettings: PathSettings,
  toAscii: Parameters<typeof requestOf>[1]["toAscii"],
): RequestsResult {
  const targets = mappedTargets(map, input);
  if (!targets.ok) return targets;
  const requests = [];
  for (const { verb, target } of targets.value) {
    const wanted = (verb.startsWith("fs.") ? { verb, path: target } : { verb, url: target }) as ToolRequest;
    const request = requestOf(wanted, { pathSettings, toAscii, tool });
    if (!request.ok) return request;
    requests.push(request.value);
  }
  return done(requests);
}

/** By the pinned schema, where it can be read within limits. */
export function outputFault(pin: Pin | null, tool: string, structured: JsonObject): string | null {
  const schema = pin?.tools.find(({ name }) => name === tool)?.outputSchema ?? null;
  if (schema === null) return null;
  const accepted = inputParser(checkedSchema(schema)).accept(structured);
  if (accepted.ok) return null;
  const [issue] = accepted.issues;
  return `the server's structured result does not match its own schema: ${issue?.at ?? ""} ${issue?.message ?? ""}`.trim();
}
