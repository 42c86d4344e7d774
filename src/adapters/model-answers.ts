// Answers as text for a model, and the names by which it calls tools: the same for every adapter.
import type { Json, JsonObject } from "../core/base/json.ts";
import type { CallAnswer, CallRefused, SessionTool } from "./session.ts";

/** Short and actionable; empty members are left out. */
export function denialData({ kind, code, need, hint, id, approval, reason }: CallRefused): JsonObject {
  return {
    kind,
    code,
    need,
    hint,
    id,
    ...(approval === null || approval === "" ? {} : { approval }),
    ...(reason === null || reason === "" ? {} : { reason }),
  };
}

/** A result that is a string is returned unchanged. */
export function answerText(answer: CallAnswer): string {
  if (!answer.ok) return JSON.stringify(denialData(answer));
  return typeof answer.value === "string" ? answer.value : JSON.stringify(answer.value);
}

const nameCharactersMax = 64;

export interface NamedTool extends SessionTool {
  /** The name the model calls: providers accept only letters, digits, `_` and `-`. */
  readonly shownName: string;
}

/** INVARIANT: a name leads to one tool. A tool whose name would collide with another is not shown. */
export function namedTools(tools: readonly SessionTool[], taken: readonly string[] = []): readonly NamedTool[] {
  const used = new Set(taken);
  return tools.flatMap((tool) => {
    const shownName = tool.name.replaceAll(".", "__");
    if (used.has(shownName) || shownName.length > nameCharactersMax || !/^[A-Za-z0-9_-]+$/.test(shownName)) return [];
    used.add(shownName);
    return [{ ...tool, shownName }];
  });
}

/** A copy that the SDK may modify. */
export function schemaCopy(input: JsonObject): Record<string, Json> & { type: "object" } {
  return { ...(structuredClone(input) as Record<string, Json>), type: "object" };
}

export function invalidInput(reason: string): CallRefused {
  const hint = "The arguments do not match the input of this tool. Correct them and call it again.";
  return { ok: false, kind: "denied", code: "invalid_input", need: null, hint, id: "", approval: null, reason };
}
