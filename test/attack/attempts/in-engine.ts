// What differs where a container engine is around the sandbox: the engine blocks some attempts before our own walls do, and some
// would prove nothing.
import { engineBackend } from "../../supervised/container-filter.ts";
import type { Attempt } from "../attempt.ts";

/** Answers of the engine's own walls, beside ours: masked files of /proc are read-only or empty, and there is no terminal. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  terminal: ["ENOENT"],
  "proc-write=/proc/sys/kernel/core_pattern": ["EROFS"],
  "proc-write=/proc/sysrq-trigger": ["EROFS"],
  "proc-read=/proc/timer_list": ["empty"],
  // Volumes are mounts of their own.
  "hardlink-out": ["EXDEV"],
  // The overlay of the image does not know the call.
  "control=version": ["ENOTTY"],
};

/** Why an attempt would prove nothing in a container; null if it does. */
export function reasonNotInEngine({ word }: Attempt): string | null {
  if (engineBackend === undefined) return null;
  if (word === "fork-bomb" || word === "memory-files")
    return "the engine keeps the control groups, so its own options limit the whole container";
  return word.startsWith("race=fchmodat2:") ? "filters of engines do not know this call, and refuse it" : null;
}

/** The rows with the answers of an engine, where one is around these tests. */
export function inEngine(rows: readonly Attempt[]): readonly Attempt[] {
  if (engineBackend === undefined) return rows;
  return rows.map((row) => ({ ...row, how: [...row.how, ...(ANSWERS[row.word] ?? [])] }));
}
