// The result of a program for a model: how it ended first. INVARIANT: it fits in one message, and dropped bytes are counted.
import type { JsonObject } from "../../core/base/json.ts";
import type { ChangesReport } from "../../core/ports/drafts.ts";
import type { Ending } from "../../core/ports/process.ts";
import type { ProgramResult } from "../../runtime/context/programs.ts";

export interface ProgramOutput {
  readonly output: string;
  readonly errors: string;
  /** Bytes that were dropped before. */
  readonly dropped: number;
}

/** Its output as text; an incomplete character at the end is left out. */
export function outputOf({
  output,
  errors,
  dropped,
}: Pick<ProgramResult, "output" | "errors" | "dropped">): ProgramOutput {
  const text = (bytes: Uint8Array): string =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
  return { output: text(output), errors: text(errors), dropped };
}

const deniedMax = 64;
const shownArgvCharactersMax = 400;

interface Ran extends Pick<ProgramResult, "ending" | "denials" | "enforcement"> {
  /** How to make a program work that failed. */
  readonly hint?: string | undefined;
  /** Of each program. */
  readonly changes: readonly (ChangesReport | null)[];
  /** Only for a tool that runs several programs, or chooses the arguments. */
  readonly commands?: readonly { readonly argv: readonly string[]; readonly ending: Ending }[];
}

export function programAnswer(
  { ending, denials, enforcement, commands, changes, hint }: Ran,
  written: ProgramOutput,
): JsonObject {
  const { stdout, stderr, dropped } = fitOutput(written);
  return {
    ending: { ...ending },
    exit_code: ending.kind === "exited" ? ending.status : null,
    ...(hint === undefined ? {} : { hint }),
    stdout,
    stderr,
    dropped,
    denials: denials.slice(0, deniedMax).map((one) => ({ ...one })),
    enforcement: enforcement.map(({ axis, strength }) => ({ axis, strength })),
    ...(commands === undefined
      ? {}
      : { commands: commands.map(({ argv, ending: own }) => ({ argv: shortened(argv), ending: { ...own } })) }),
    ...changesAnswer(...changes),
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

/** As JSON; a message has room for it and the rest of an answer. */
const outputBytesMax = 720_896;

function fitOutput({ output, errors, dropped }: ProgramOutput): {
  readonly stdout: string;
  readonly stderr: string;
  readonly dropped: number;
} {
  // Errors are short and explain the failure, so they come first if there is not room for both.
  const stderr = fitText(errors, outputBytesMax / 2);
  const stdout = fitText(output, outputBytesMax - stderr.bytes);
  const cut = Buffer.byteLength(errors) + Buffer.byteLength(output);
  const kept = Buffer.byteLength(stderr.text) + Buffer.byteLength(stdout.text);
  return { stdout: stdout.text, stderr: stderr.text, dropped: dropped + cut - kept };
}

/** The longest prefix that is no longer than this as JSON. */
export function fitText(text: string, bytesMax: number): { readonly text: string; readonly bytes: number } {
  const size = (length: number): number => Buffer.byteLength(JSON.stringify(text.slice(0, length)));
  const whole = size(text.length);
  if (whole <= bytesMax) return { text, bytes: whole };
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (size(middle) <= bytesMax) low = middle;
    else high = middle - 1;
  }
  // Not between two surrogates.
  const end = /[\ud800-\udbff]/.test(text.charAt(low - 1)) ? low - 1 : low;
  return { text: text.slice(0, end), bytes: size(end) };
}

const keptShownMax = 32;

/** The changes of programs for a model: empty if everything landed, else what did not and why. */
export function changesAnswer(...reports: readonly (ChangesReport | null)[]): JsonObject {
  const kept = reports.flatMap((report) => report?.kept ?? []);
  if (kept.length === 0) return {};
  const more =
    reports.reduce((sum, report) => sum + (report?.keptMore ?? 0), 0) + Math.max(0, kept.length - keptShownMax);
  return {
    notApplied: {
      message:
        "These changes were not applied to the project; they are kept as a draft. Tell the user, who can run `ambit changes list`.",
      changes: kept.slice(0, keptShownMax).map(({ path, kind, code, reason }) => ({ path, kind, code, reason })),
      more,
      drafts: reports.flatMap((report) => (report?.draft == null || report.kept.length === 0 ? [] : [report.draft])),
    },
  };
}
