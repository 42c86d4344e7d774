// Every attempt on a sandbox without a network, in order: those that exhaust resources last.
import type { Attempt, Caller } from "./attempt.ts";
import { DEVICE_FILES, FILES } from "./attempts/files.ts";
import { MOUNTS } from "./attempts/mounts.ts";
import { KERNEL, PROC, PROCESSES } from "./attempts/processes.ts";
import { ADDRESSES, SOCKETS } from "./attempts/sockets.ts";
import { CARRIED, LIMITS, STATE, TREE_LIMITS } from "./attempts/state.ts";

const ROWS: readonly Attempt[] = [
  ...STATE,
  ...FILES,
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

export function rowsFor(caller: Caller): readonly Attempt[] {
  return ROWS.filter((row) => row.caller === null || row.caller === caller);
}
