// The users that start the sandbox: root if we are root, and an ordinary user in any case; on the machine as it is, or behind a
// filter like a container engine's, which refuses namespaces.
import { fileURLToPath } from "node:url";
import { ORDINARY } from "../house/ordinary-user.ts";
import type { Backend, Caller } from "./attempt.ts";

const FILTER = fileURLToPath(new URL("../supervised/container-filter.py", import.meta.url));

/** Set where `test/engines` runs these tests in a container: the engine decides which sandbox there is, and no filter is needed. */
const engineBackend = process.env["AMBIT_ENGINE_BACKEND"];

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
  const filter = backend === "namespaces" || engineBackend !== undefined ? [] : ["/usr/bin/python3", FILTER];
  if (user !== 0) return [{ caller: "user", backend, user, group, prefix: filter }];
  const words = ["setpriv", `--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, "--clear-groups", "--"];
  return [
    { caller: "root", backend, user, group, prefix: filter },
    { caller: "user", backend, user: ORDINARY, group: ORDINARY, prefix: [...words, ...filter] },
  ];
}
