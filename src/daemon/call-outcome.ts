// What became of a call, as it is written down and as the one who asked hears of it.

import { requestText } from "../notation/request-printer.ts";
import type { Outcome } from "../ports/commit.ts";
import type { ProgramDone, ProgramRefused } from "../ports/daemon-calls.ts";
import type { RunDenial, RunResult } from "../ports/process.ts";
import type { Carried } from "./owner-tool.ts";

const DONE: Omit<Outcome, "receipt"> = { ended: "done", denials: [], enforcement: [], wallMicroseconds: 0 };
export const REFUSED: Omit<Outcome, "receipt"> = {
  ended: "refused",
  denials: [],
  enforcement: [],
  wallMicroseconds: 0,
};

export function outcomeOf(receipt: string, carried: Carried): Outcome {
  if (carried.ok) return { receipt, ...(carried.met ?? DONE) };
  const denials = carried.denied === undefined ? [] : [deniedOnTheWay(carried.denied)];
  return { receipt, ...REFUSED, ended: `failed ${carried.code}`, denials };
}

function deniedOnTheWay({ code, request }: NonNullable<Extract<Carried, { ok: false }>["denied"]>): RunDenial {
  return { code, request: request === null ? "" : requestText(request), times: 1 };
}

export function programAnswer(
  receipt: string,
  request: string,
  result: RunResult,
  settled: boolean,
): ProgramDone | ProgramRefused {
  if (!result.ok) return { outcome: "refused", ...result.refused, request };
  // The effect is there either way; that it could not be written down must not look like success.
  if (!settled) return { outcome: "refused", code: "audit_unavailable", message: "", fix: null, request };
  const { ending, usage, denials, enforcement, outputDropped, changes = null } = result.ran;
  return { outcome: "ran", receipt, request, ending, usage, denials, enforcement, outputDropped, changes };
}
