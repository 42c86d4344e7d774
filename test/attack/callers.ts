// The users that start the sandbox: root if we are root, and an ordinary user in any case.
import { ORDINARY } from "../house/callers.ts";
import type { Caller } from "./attempt.ts";

export interface CallerFacts {
  readonly caller: Caller;
  readonly user: number;
  readonly group: number;
  /** Before the command, to become this caller. */
  readonly prefix: readonly string[];
}

export function callers(): readonly CallerFacts[] {
  const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (user !== 0) return [{ caller: "user", user, group, prefix: [] }];
  const words = ["setpriv", `--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, "--clear-groups", "--"];
  return [
    { caller: "root", user, group, prefix: [] },
    { caller: "user", user: ORDINARY, group: ORDINARY, prefix: words },
  ];
}
