// The outcome of a command, as the log records it.

import type { CompletedRun, Ending } from "../../core/ports/process.ts";
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
