// Every attempt on a sandbox without a network, in order: those that exhaust resources last.
import type { Attempt, Backend, Caller } from "./attempt.ts";
import { DEVICE_FILES, FILES, METADATA } from "./attempts/files.ts";
import { MOUNTS } from "./attempts/mounts.ts";
import { KERNEL, PROC, PROCESSES } from "./attempts/processes.ts";
import { ADDRESSES, SOCKETS } from "./attempts/sockets.ts";
import { CARRIED, LIMITS, STATE, TREE_LIMITS } from "./attempts/state.ts";
import { withoutNamespaces } from "./attempts/without-namespaces.ts";

const ROWS: readonly Attempt[] = [
  ...STATE,
  ...FILES,
  ...METADATA,
  ...DEVICE_FILES,
  ...MOUNTS,
  ...PROCESSES,
  ...KERNEL,
  ...PROC,
  ...SOCKETS,
  ...ADDRESSES,
  ...CARRIED,
  ...LIMITS,
  ...TREE_LIMITS,
];

export function rowsFor(caller: Caller, backend: Backend = "namespaces"): readonly Attempt[] {
  const rows = ROWS.filter((row) => row.caller === null || row.caller === caller);
  return backend === "namespaces" ? rows : withoutNamespaces(rows, caller);
}
