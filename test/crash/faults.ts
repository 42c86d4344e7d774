// System calls that fail on request: the Nth of its kind on the files of the store, once or from there on.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Fault {
  readonly call: "pwrite64" | "fsync" | "ftruncate" | "openat";
  readonly error: "EIO" | "ENOSPC" | "EROFS" | "EMFILE";
  readonly nth: number;
  readonly isForGood: boolean;
}

export function faultText({ call, error, nth, isForGood }: Fault): string {
  return `${call} number ${nth}${isForGood ? " and all after it" : ""}: ${error}`;
}

/** The command line before a program that makes its calls fail, for its store alone. */
export function faultCommand(fault: Fault, folder: string, log: string): readonly string[] {
  const { call, error, nth, isForGood } = fault;
  const names = ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"];
  const files = names.map((name) => join(folder, name));
  return [
    ...["strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-e", `trace=${call}`],
    ...["-e", `inject=${call}:error=${error}:when=${nth}${isForGood ? "+" : ""}`],
    ...[folder, ...files].flatMap((path) => ["-P", path]),
  ];
}

/** Whether the failure occurred. */
export function hasFailed(log: string): boolean {
  return readFileSync(log, "latin1").includes("(INJECTED)");
}
