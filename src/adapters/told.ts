// What a model is told of an answer, and by which names it calls tools: the same for every adapter.
import type { Json, JsonObject } from "../core/base/json.ts";
import type { CallAnswer, CallRefused, SessionTool } from "./session.ts";

/** Short and actionable; what says nothing is left out. */
export function denialData({ code, need, hint, id, approval, reason }: CallRefused): JsonObject {
  return {
    code,
    need,
    hint,
    id,
    ...(approval === null || approval === "" ? {} : { approval }),
    ...(reason === null || reason === "" ? {} : { reason }),
  };
}

/** As text: a result that is a text is itself. */
export function answerText(answer: CallAnswer): string {
  if (!answer.ok) return JSON.stringify(denialData(answer));
  return typeof answer.value === "string" ? answer.value : JSON.stringify(answer.value);
}

const nameCharactersMax = 64;

export interface NamedTool extends SessionTool {
  /** By which the model calls it: providers take letters, digits, `_` and `-` alone. */
  readonly shownName: string;
}

/** INVARIANT: a name leads to one tool. What would be taken for another is not shown. */
export function namedTools(tools: readonly SessionTool[], taken: readonly string[] = []): readonly NamedTool[] {
  const used = new Set(taken);
  return tools.flatMap((tool) => {
    const shownName = tool.name.replaceAll(".", "__");
    if (used.has(shownName) || shownName.length > nameCharactersMax || !/^[A-Za-z0-9_-]+$/.test(shownName)) return [];
    used.add(shownName);
    return [{ ...tool, shownName }];
  });
}

/** For an SDK to keep: a copy of its own, that it may change. */
export function schemaCopy(input: JsonObject): Record<string, Json> & { type: "object" } {
  return { ...(structuredClone(input) as Record<string, Json>), type: "object" };
}

export function unreadInput(reason: string): CallRefused {
  const hint = "The arguments do not match the input of this tool. Correct them and call it again.";
  return { ok: false, code: "invalid_input", need: null, hint, id: "", approval: null, reason };
}
