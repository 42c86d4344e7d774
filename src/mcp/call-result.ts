// The result of a call in the protocol's form: text for the model, and the same as data.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { CallEnforcementView, DenialView } from "../core/ports/daemon/daemon-calls.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";

export interface CallResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: JsonObject;
  readonly isError: boolean;
  /** Of an MCP server: what the client gets in place of all of the above. */
  readonly served?: ServedResult;
  /** In place of a result: `inputRequests` and `requestState`. */
  readonly input?: JsonObject;
}

/** A result in the server's own parts, which may be pictures or resources. */
export interface ServedResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly isError: boolean;
}

/** What a server needs first: the client answers it, and calls again. */
export function inputResult(result: Json): CallResult {
  return { content: [], structuredContent: {}, isError: false, input: isJsonObject(result) ? result : {} };
}

/** INVARIANT: the daemon has checked the form of every part. */
export function servedResult(result: Json): CallResult & { readonly served: ServedResult } {
  const object = isJsonObject(result) ? result : {};
  const parts = member(object, "content");
  const structured = member(object, "structuredContent");
  const served = {
    content: isJsonList(parts) ? parts.filter(isJsonObject) : [],
    ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    isError: member(object, "isError") === true,
  };
  return { content: [], structuredContent: {}, isError: served.isError, served };
}

/** The data says what enforced each axis, as results of programs do. */
export function doneResult(result: Json, enforcement: CallEnforcementView = []): CallResult {
  const held = enforcement.length === 0 ? {} : { enforcement: enforcement.map((one) => ({ ...one })) };
  const structuredContent = { ...held, ...(isJsonObject(result) ? result : { result }) };
  return { content: textsOf(result).map((text) => ({ type: "text", text })), structuredContent, isError: false };
}

/** The same for a tool that does not exist and for one that this agent can never call. */
export function unknownTool(tool: string, { id, hint }: Pick<DenialView, "id" | "hint">): CallResult {
  // The notice to stop repeating the same call is kept.
  const stop = / You have made this exact request before.*$/.exec(hint)?.[0] ?? "";
  const told = {
    outcome: "denied",
    code: "unknown_tool",
    need: null,
    hint: `No tool of this name is available to you. Use one from the list of tools.${stop}`,
    id,
  };
  return refused(`denied: ${tool} (unknown_tool). ${told.hint}${id === "" ? "" : `\nid: ${id}`}`, told);
}

export function deniedResult(tool: string, denial: DenialView): CallResult {
  const { code, need, hint, id, reason } = denial;
  // An approval that was refused or has expired is not pending: nothing can be approved.
  const approval = code === "approval_required" ? denial.approval : null;
  const lines = [
    `denied: ${need ?? tool} (${code}). ${hint}`,
    ...(reason === null || reason === "" ? [] : [`reason: ${reason}`]),
    ...(approval === null || approval === "" ? [] : [`To approve it, a person runs: ambit approve ${approval}`]),
    ...(id === "" ? [] : [`id: ${id}`]),
  ];
  return refused(lines.join("\n"), {
    // Some clients show the model this object instead of the text.
    outcome: "denied",
    code,
    need,
    hint,
    id,
    ...(approval === null || approval === "" ? {} : { approval }),
    ...(reason === null || reason === "" ? {} : { reason }),
  });
}

/** Not denied, but not executed either. */
export function refusedResult(tool: string, { code, message, fix }: Omit<Refusal, "ok">): CallResult {
  const lines = [`failed: ${tool} (${code}): ${message}`, ...(fix === null ? [] : [`fix: ${fix}`])];
  return refused(lines.join("\n"), { code, need: null, hint: message, id: "", ...(fix === null ? {} : { fix }) });
}

function refused(text: string, structuredContent: JsonObject): CallResult {
  return { content: [{ type: "text", text }], structuredContent, isError: true };
}

function textsOf(result: Json): readonly string[] {
  if (typeof result === "string") return [result];
  if (!isJsonObject(result)) return [result === null ? "done" : JSON.stringify(result)];
  const ran = programText(result);
  if (ran !== null) return [ran];
  const { text, markdown, ...others } = result;
  const rest = markdown === undefined || markdown === text ? others : { markdown, ...others };
  // Text that was read comes first, unchanged; the remaining members follow as JSON.
  return typeof text === "string" ? [text, JSON.stringify(rest)] : [JSON.stringify(result)];
}

/** The output of programs, unchanged; how they ended only if they did not succeed. */
function programText(result: JsonObject): string | null {
  const [stdout, stderr, ending] = ["stdout", "stderr", "ending"].map((key) => member(result, key));
  if (typeof stdout !== "string" || typeof stderr !== "string" || !isJsonObject(ending)) return null;
  const denials = member(result, "denials");
  const dropped = member(result, "dropped");
  const hint = member(result, "hint");
  const parts = [
    stdout,
    ...(stderr === "" ? [] : [`[stderr]\n${stderr}`]),
    ...(typeof dropped === "number" && dropped > 0 ? [`[${dropped} bytes of output were dropped]`] : []),
    ...(isJsonList(denials) ? denials : []).map((one) => deniedLine(one)),
    ...notAppliedLines(member(result, "notApplied")),
    ...endingLines(ending),
    ...(typeof hint === "string" ? [`[${hint}]`] : []),
  ];
  const written = parts.filter((part) => part !== "");
  return written.length === 0 ? "(no output)" : written.map((part) => part.replace(/\n$/, "")).join("\n");
}

function deniedLine(denial: Json): string {
  if (!isJsonObject(denial)) return "";
  const code = String(member(denial, "code"));
  // An unavailable target was not refused, and no grant helps.
  const what = code === "not_available" ? "not reachable" : "denied while running";
  return `[${what}: ${String(member(denial, "request"))} (${code})]`;
}

/** A model may read the text alone. */
function notAppliedLines(notApplied: Json | undefined): readonly string[] {
  if (!isJsonObject(notApplied)) return [];
  const message = member(notApplied, "message");
  return typeof message === "string" ? [`[${message}]`] : [];
}

function endingLines(ending: JsonObject): readonly string[] {
  switch (member(ending, "kind")) {
    case "exited": {
      const status = member(ending, "status");
      return status === 0 ? [] : [`[exit status ${String(status)}]`];
    }
    case "signalled":
      return [`[ended by signal ${String(member(ending, "signal"))}]`];
    case "ended": {
      const reason = member(ending, "reason");
      return [`[ended: ${String(member(ending, "because"))}${typeof reason === "string" ? `: ${reason}` : ""}]`];
    }
    case "unstarted":
      return [`[not started: ${String(member(ending, "reason"))}]`];
    default:
      return [];
  }
}
