// The users that start the sandbox: root if we are root, and an ordinary user in any case; on the machine as it is, or behind a
// filter like a container engine's, which refuses namespaces.
import { ORDINARY } from "../house/ordinary-user.ts";
import { engineBackend, FILTERED } from "../supervised/container-filter.ts";
import type { Backend, Caller } from "./attempt.ts";

export interface CallerFacts {
  readonly caller: Caller;
  readonly backend: Backend;
  readonly user: number;
  readonly group: number;
  /** Before the command, to become this caller. */
  readonly prefix: readonly string[];
}

export function callers(backend: Backend = "namespaces"): readonly CallerFacts[] {
  if (engineBackend !== undefined && engineBackend !== backend) return [];
  const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const filter = backend === "namespaces" ? [] : FILTERED;
  if (user !== 0) return [{ caller: "user", backend, user, group, prefix: filter }];
  const words = ["setpriv", `--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, "--clear-groups", "--"];
  return [
    { caller: "root", backend, user, group, prefix: filter },
    { caller: "user", backend, user: ORDINARY, group: ORDINARY, prefix: [...words, ...filter] },
  ];
}
