// The hook tried in the client itself, for `connect` and for `doctor --clients`.
import type { TrialOutcome } from "../../clients/trial/client-trials.ts";
import { visibleText } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";
import type { ConnectPorts } from "./connect.ts";
import type { ClientChoice } from "./plan.ts";

/** On a busy machine a client needs long to start. */
export const verifySecondsUsual = "60";
const verifySecondsMax = 600;
export const NO_SECONDS: string = `--verify-seconds must be a number from 1 to ${verifySecondsMax}`;

export function verifySeconds(text: string = verifySecondsUsual): number | null {
  const seconds = Number(text);
  return seconds >= 1 && seconds <= verifySecondsMax ? seconds : null;
}

export async function tryHook(
  { clientSettings, printError }: ConnectPorts,
  { connection: { client, title }, scope }: ClientChoice,
  isQuiet: boolean,
  seconds: number,
): Promise<TrialOutcome> {
  if (!isQuiet) printError(`trying the hook in ${title}, for at most ${seconds} seconds`);
  return clientSettings.trial({ client, scope }, seconds * 1000);
}

/** Whether the client is known to run what the hook denies. */
export function isUnheld(trial: TrialOutcome | null): boolean {
  return trial?.kind === "ran" || trial?.kind === "unloaded";
}

/** `trial`: null where it was not tried. */
export function trialText(paint: Paint, title: string, trial: TrialOutcome | null): string {
  const notVerified = (why: string): string =>
    `  not verified in ${title} itself${why}; to try it: start it, let it read /etc/hostname, then run: ambit log`;
  if (trial === null) return notVerified("");
  const version = trial.kind === "unknown" || trial.version === null ? "" : ` ${trial.version}`;
  switch (trial.kind) {
    case "held": {
      const note = trial.note === null ? "" : ` (${visibleText(trial.note)})`;
      return `${paint.good("ok")}: ${title}${version} itself ran the hook, and did not run the command that it denied${note}`;
    }
    case "ran":
      return `${paint.bad("error")}: ${title}${version} itself ran a command that the hook denies: the hook does not protect this client; use: ambit run`;
    case "unloaded": {
      const why = trial.why === "" ? "" : `: ${visibleText(trial.why)}`;
      return `${paint.bad("error")}: ${title}${version} does not run the hook with the rest of ${visibleText(trial.file)}${why}\n  fix: correct the file, then run: ambit doctor --clients`;
    }
    case "unknown":
      return notVerified(`: ${visibleText(trial.why)}`);
    default:
      return trial satisfies never;
  }
}
