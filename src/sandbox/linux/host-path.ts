// A plan's path as the host writes it, and opening a folder without following a link.
import { constants, openSync } from "node:fs";
import type { PlanPath } from "../plan/plan.ts";

export function hostPath(path: PlanPath): string {
  return `/${path.join("/")}`;
}

/** A descriptor that only names a folder: nothing is read through it. Node does not name this flag of Linux. */
const O_PATH = 0o10_000_000;

/** The folder itself, never what a link leads to. Throws as the system does. */
export function openFolder(path: string): number {
  return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}
