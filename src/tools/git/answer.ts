// The output of git for a model: entries, commits and branches where it lists them, text where it shows changes.
import type { JsonObject } from "../../core/base/json.ts";
import { fitText, type ProgramOutput } from "../programs/program-output.ts";
import type { GitInput } from "./command-line.ts";
import { branchesAnswer, commitAndRest, commitsAnswer, sentAnswer } from "./history.ts";
import { commitsUsual, errorBytesMax, textBytesMax } from "./limits.ts";
import { statusAnswer } from "./status.ts";

/** For a git that succeeded. `isCut`: its output was truncated. */
export function gitAnswer(given: GitInput, { output, errors }: ProgramOutput, isCut: boolean): JsonObject {
  const { command } = given;
  const notes = fitText(errors.trimEnd(), errorBytesMax).text;
  switch (command) {
    case "status":
      return statusAnswer(output, isCut);
    case "diff":
      return textAnswer(output, isCut);
    case "log":
      return commitsAnswer(output, given.limit ?? commitsUsual, isCut);
    case "show": {
      const shown = given.file === undefined ? commitAndRest(output) : null;
      return shown === null ? textAnswer(output, isCut) : { commit: shown.commit, ...textAnswer(shown.rest, isCut) };
    }
    case "add":
      return { notes };
    case "commit": {
      // The first line in brackets: the branch, and the abbreviated commit id at its end.
      const [, commit = null] = /^\[[^\]\n]*?([0-9a-f]{4,64})\]/m.exec(output) ?? [];
      return { commit, summary: fitText(output.trimEnd(), errorBytesMax).text, notes };
    }
    case "branch":
      return given.name === undefined ? branchesAnswer(output, isCut) : { name: given.name, notes };
    case "fetch":
      return { notes };
    case "push":
      return { ...sentAnswer(output), notes };
    default:
      return command satisfies never;
  }
}

function textAnswer(text: string, isCut: boolean): JsonObject {
  const { text: kept } = fitText(text, textBytesMax);
  return { text: kept, more: isCut || kept.length < text.length };
}
