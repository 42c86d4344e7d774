// The protocol of a session's door: decisions, explanations, and MCP over HTTP without a session of its own (one JSON-RPC
// message in, one answer out). It only translates: every answer is the session's.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { DoorAnswer, DoorCall, DoorEntry, DoorProtocol, DoorSession } from "../core/ports/daemon/door.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";
import type { DecisionView } from "../core/ports/daemon/holding-view.ts";
import {
  type CallResult,
  deniedResult,
  doneResult,
  refusedResult,
  type ServedResult,
  servedResult,
} from "./call-result.ts";
import { toMcpTools } from "./tool-list.ts";

const wordsMax = 4_096;
const idCharactersMax = 128;

/** Revisions without requests of the server's own; the newest is the answer to an unknown one. */
const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;

export interface DoorOptions {
  readonly version: string;
  /** A tool's result for display. */
  present(tool: string, input: JsonObject, result: Json): Promise<Json>;
}

export const doorProtocol =
  (options: DoorOptions): DoorProtocol =>
  async (session, call) => {
    const value = parsed(call.body);
    if (value === null && call.route === "mcp") return rpcError(null, -32_700, "the message is not a JSON object");
    if (value === null) return fault(call, 400, "the body is not a JSON object");
    switch (call.route) {
      case "can":
        return canAnswer(session, call, value);
      case "why":
        return whyAnswer(session, call, value);
      case "mcp":
        return mcpAnswer(session, value, options);
      default:
        return fault(call, 404, "no such route; the routes are can, why and mcp");
    }
  };

function canAnswer(session: DoorSession, call: DoorCall, value: JsonObject): DoorAnswer {
  const words = member(value, "request");
  const isRequest = isJsonList(words) && words.length > 0 && words.length <= wordsMax;
  if (!isRequest || !words.every((word) => typeof word === "string"))
    return fault(call, 400, "`request` is a list of words: a verb and its target");
  const decided = session.can(words as readonly string[]);
  if (!decided.ok) return refused(call, decided);
  const { value: decision } = decided;
  const status = { allow: 200, ask: 202, deny: 403 }[decision.outcome];
  return { status, body: call.isText ? decisionText(decision) : `${JSON.stringify(decision)}\n` };
}

function decisionText({ outcome, request, code, level, reason, by }: DecisionView): string {
  const lines = [
    `${outcome}  ${request}${code === null ? "" : `  ${code}`}`,
    ...(level === null ? [] : [`  a person has to approve it${level === "presence" ? ", and confirm presence" : ""}`]),
    ...(reason === null ? [] : [`  ${reason}`]),
    ...by.map(({ grant }) => `  by ${grant}`),
  ];
  return `${lines.join("\n")}\n`;
}

async function whyAnswer(session: DoorSession, call: DoorCall, value: JsonObject): Promise<DoorAnswer> {
  const id = member(value, "id");
  if (typeof id !== "string" || id === "" || id.length > idCharactersMax)
    return fault(call, 400, "`id` is the id of an entry");
  const found = await session.why(id);
  if (!found.ok) return refused(call, found);
  return { status: 200, body: call.isText ? entryText(found.value) : `${JSON.stringify(found.value)}\n` };
}

function entryText({ id, outcome, tool, code, at, need, suggest }: DoorEntry): string {
  const lines = [
    `${id}  ${new Date(at).toISOString()}  ${outcome}${tool === null ? "" : `  ${tool}`}${code === null ? "" : `  ${code}`}`,
    ...(need === null ? [] : [`  needs ${need}`]),
    ...(suggest === null ? [] : [`  smallest grant that would allow it: ${suggest}`]),
  ];
  return `${lines.join("\n")}\n`;
}

async function mcpAnswer(session: DoorSession, message: JsonObject, options: DoorOptions): Promise<DoorAnswer> {
  const [id, method] = [member(message, "id"), member(message, "method")];
  // Answers and notifications need none.
  if (id === undefined || typeof method !== "string") return { status: 202, body: "" };
  if (typeof id !== "string" && typeof id !== "number") return rpcError(null, -32_600, "an id is a string or a number");
  const params = member(message, "params");
  const given = isJsonObject(params) ? params : {};
  switch (method) {
    case "initialize":
      return rpcResult(id, initialized(given, options.version));
    case "ping":
      return rpcResult(id, {});
    case "tools/list": {
      const listed = await session.list();
      if (!listed.ok) return rpcError(id, -32_603, `${listed.code}: ${listed.message}`);
      return rpcResult(id, { tools: toMcpTools(listed.value.tools) as unknown as Json });
    }
    case "tools/call": {
      const [name, input] = [member(given, "name"), member(given, "arguments") ?? {}];
      if (typeof name !== "string" || name === "" || !isJsonObject(input))
        return rpcError(id, -32_602, "a call needs `name`, and `arguments` as an object");
      return rpcResult(id, (await called(session, name, input, options)) as unknown as Json);
    }
    default:
      return rpcError(id, -32_601, "there is no such method");
  }
}

function initialized(params: JsonObject, version: string): JsonObject {
  const wanted = member(params, "protocolVersion");
  return {
    protocolVersion: REVISIONS.find((one) => one === wanted) ?? REVISIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "ambit", version },
    instructions:
      "Every call is checked against the grants of the session that you run in, and logged. A denied call returns a " +
      "result with `isError`: `code` says why, `need` which access is missing, `hint` what to do next.",
  };
}

async function called(
  session: DoorSession,
  tool: string,
  input: JsonObject,
  { present }: DoorOptions,
): Promise<CallResult | ServedResult> {
  const answer = await session.call(tool, input);
  if (!answer.ok) return refusedResult(tool, answer);
  const { value } = answer;
  if (value.outcome === "denied") return deniedResult(tool, value);
  if (value.isServerResult === true) return servedResult(value.result).served;
  return doneResult(await present(tool, input, value.result), value.enforcement);
}

function parsed(body: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(body);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function rpcResult(id: string | number, result: Json): DoorAnswer {
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result }) };
}

function rpcError(id: string | number | null, code: number, message: string): DoorAnswer {
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }) };
}

function fault({ isText }: DoorCall, status: number, message: string): DoorAnswer {
  return { status, body: isText ? `error: ${message}\n` : `${JSON.stringify({ error: message })}\n` };
}

function refused(call: DoorCall, { code, message, fix }: Refusal): DoorAnswer {
  if (call.isText)
    return fault(call, code === "invalid_input" ? 400 : 404, `${message}${fix === null ? "" : `\n  fix: ${fix}`}`);
  return { status: code === "invalid_input" ? 400 : 404, body: `${JSON.stringify({ code, error: message, fix })}\n` };
}
