// The result of a script for a model: how it ended first. INVARIANT: it fits in one message, whatever the output.
import type { JsonObject } from "../../core/base/json.ts";
import { changesAnswer } from "../changes-answer.ts";
import { exitCode, fitOutput, type ProgramOutput } from "../fit-output.ts";
import type { ScriptResult } from "./run-script.ts";

const shownArgvCharactersMax = 400;
const deniedMax = 64;

export function scriptAnswer(ran: ScriptResult, written: ProgramOutput): JsonObject {
  const { ending, denials, enforcement, commands, outputDropped, hint } = ran;
  const { stdout, stderr, dropped } = fitOutput(written);
  return {
    ending: { ...ending },
    exit_code: exitCode(ending),
    ...(hint === undefined ? {} : { hint }),
    stdout,
    stderr,
    dropped: outputDropped + dropped,
    denials: denials.slice(0, deniedMax).map((one) => ({ ...one })),
    enforcement: enforcement.map((one) => ({ ...one })),
    commands: commands.map(({ argv, ending: own }) => ({ argv: shortened(argv), ending: { ...own } })),
    ...changesAnswer(...ran.changes),
  };
}

/** Identifies the command; the log has all of it. */
function shortened(argv: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const word of argv) {
    characters += word.length + 1;
    if (characters > shownArgvCharactersMax) return [...shown, "..."];
    shown.push(word);
  }
  return shown;
}
