// What is wrong with a question, or with files that were looked through: as lines with carets, and as data.

import type { Problem } from "../../agents/records/record-collection.ts";
import { place, type Source } from "../../core/notation/source.ts";
import { visibleText } from "./cells.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { jsonLine } from "./json-line.ts";
import type { Paint } from "./paint.ts";
import { renderDiagnostic } from "./render.ts";

/** How every command is asked. */
export interface JsonOption {
  readonly json: boolean;
}

interface Speaker {
  readonly paint: Paint;
  print(text: string): void;
  printError(text: string): void;
}

export function fail(
  ports: Speaker,
  { json }: JsonOption,
  exit: ExitCode,
  message: string,
  fix: string | null,
): ExitCode {
  if (json) ports.print(jsonLine({ error: { message, fix } }));
  else
    ports.printError(
      `${ports.paint.bad("error")}: ${visibleText(message)}${fix === null ? "" : `\n  fix: ${visibleText(fix)}`}`,
    );
  return exit;
}

interface Asker extends Speaker {
  readonly terminal: { readonly isInteractive: boolean; confirm(question: string): Promise<boolean> };
}

/**
 * Null where a person confirms it, or `--yes` already did; otherwise how the command ends. `again`: the command to type where
 * no person can be asked. `declined`: the exit code after a no.
 */
export async function confirmation(
  ports: Asker,
  options: JsonOption & { readonly yes: boolean },
  question: string,
  again: string,
  declined: ExitCode = EXIT.error,
): Promise<ExitCode | null> {
  if (options.yes) return null;
  if (options.json || !ports.terminal.isInteractive)
    return fail(ports, options, EXIT.usage, "confirmation needed, and no terminal to ask at", again);
  return (await ports.terminal.confirm(question)) ? null : fail(ports, options, declined, "nothing was changed", null);
}

/** Of a file that could not be read there is no line to show. */
const UNREAD: Source = { name: "", text: "" };

export function printProblems(ports: Speaker, problems: readonly Problem[]): void {
  const { paint } = ports;
  for (const { diagnostic, source } of problems) {
    const isRead = source.text !== "";
    const text = renderDiagnostic(diagnostic, isRead ? source : UNREAD, paint);
    ports.printError(isRead ? text : `${text}\n ${paint.dim("-->")} ${visibleText(source.name)}`);
  }
}

export function showProblem({ diagnostic, source }: Problem): object {
  const { severity, code, message, span, suggestion, fix } = diagnostic;
  return { severity, code, message, file: source.name, ...place(source, span.start), suggestion, fix };
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ diagnostic }) => diagnostic.severity === "error");
}
