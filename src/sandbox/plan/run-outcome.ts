// The outcome of a command, as the log records it.

import type { CompletedRun, Ending, RunResult } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";

export function outcomeOfRun({ ending, denials, enforcement, usage }: CompletedRun): Omit<Outcome, "receipt"> {
  return {
    ended: endingText(ending),
    denials,
    enforcement: enforcement.map(({ axis, strength }) => ({ axis, strength })),
    wallMicroseconds: usage.wallMicroseconds,
  };
}

export function endingText(ending: Ending): string {
  switch (ending.kind) {
    case "exited":
      return `exited ${ending.status}`;
    case "signalled":
      return `signalled ${ending.signal}`;
    case "ended":
      return `ended ${ending.because}`;
    case "unstarted":
      return "unstarted";
    default:
      return ending satisfies never;
  }
}

/** For a person: why a program that should have gone on is not there. */
export function whyEnded(result: RunResult): string {
  if (!result.ok) {
    const { message, fix } = result.refused;
    return fix === null ? message : `${message}; ${fix}`;
  }
  const { ending } = result.ran;
  switch (ending.kind) {
    case "exited":
      return `it exited with ${ending.status}`;
    case "signalled":
      return `it was killed by signal ${ending.signal}`;
    case "ended":
      return `it was ended (${ending.because})`;
    case "unstarted":
      return `it could not be started: ${ending.reason}`;
    default:
      return ending satisfies never;
  }
}
