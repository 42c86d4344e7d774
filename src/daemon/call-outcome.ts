// What became of a call, as it is written down and as the one who asked hears of it.
import { DENIAL_CODES, type DenialCode } from "../authority/decision.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../authority/json.ts";
import type { Outcome } from "../ports/commit.ts";
import type { ProgramDone, ProgramRefused } from "../ports/daemon-calls.ts";
import type { RunDenial, RunResult } from "../ports/process.ts";
import { hintOf } from "./denials.ts";
import type { Carried } from "./owner-tool.ts";

const DONE: Omit<Outcome, "receipt"> = { ended: "done", denials: [], enforcement: [], wallMicroseconds: 0 };
export const REFUSED: Omit<Outcome, "receipt"> = {
  ended: "refused",
  denials: [],
  enforcement: [],
  wallMicroseconds: 0,
};

/** `denials`: those that were met, with their entries. */
export function outcomeOf(receipt: string, carried: Carried, denials: readonly RunDenial[]): Outcome {
  const met = carried.met ?? DONE;
  return { receipt, ...met, ended: carried.ok ? met.ended : `failed ${carried.code}`, denials };
}

/** Codes that say what is the matter with the world or with the arguments, and not with what is held. */
const FAILURES: ReadonlySet<string> = new Set(["not_available", "invalid_input", "execution_failed"]);

/** Whether a code says that something was refused, and not that it failed. */
export function isRefusal(code: DenialCode): boolean {
  return !FAILURES.has(code);
}

export type Refused = NonNullable<Extract<Carried, { readonly ok: false }>["denied"]>;

/** What a call that was not carried out was refused; null where it failed over something else. */
export function refusedIn(carried: Carried): Refused | null {
  if (carried.ok) return null;
  if (carried.denied !== undefined) return carried.denied;
  const code = FAILURES.has(carried.code) ? undefined : DENIAL_CODES.find((one) => one === carried.code);
  return code === undefined ? null : { code, request: null };
}

/** A refusal while a call ran, as the one who asked hears of it. */
export function shownDenial(denial: RunDenial): JsonObject {
  const { code, request, times, id } = denial;
  const need = request === "" ? null : request;
  return { code, request, times, need, hint: hintOf(code), id: id ?? null };
}

/** The same answer, where the denials it lists name their entries. */
export function withDenials(value: Json, denials: readonly RunDenial[]): Json {
  if (denials.length === 0 || !isJsonObject(value) || !isJsonList(value["denials"])) return value;
  return { ...value, denials: denials.map(shownDenial) };
}

export function programAnswer(
  receipt: string,
  request: string,
  result: RunResult,
  {
    settled,
    denials: noted,
    id,
  }: { readonly settled: boolean; readonly denials: readonly RunDenial[]; readonly id: string },
): ProgramDone | ProgramRefused {
  if (!result.ok)
    return { outcome: "refused", ...result.refused, request, need: request, ...told(id, result.refused.code) };
  // The effect is there either way; that it could not be written down must not look like success.
  if (!settled) {
    const code = "audit_unavailable";
    return { outcome: "refused", code, message: "", fix: null, request, need: request, ...told(receipt, code) };
  }
  const { ending, usage, enforcement, outputDropped } = result.ran;
  const denials = noted.map((one) => ({
    ...one,
    need: one.request === "" ? null : one.request,
    hint: hintOf(one.code),
  }));
  return { outcome: "ran", receipt, request, ending, usage, denials, enforcement, outputDropped };
}

function told(id: string, code: DenialCode): { readonly id: string; readonly hint: string } {
  return { id, hint: hintOf(code) };
}
