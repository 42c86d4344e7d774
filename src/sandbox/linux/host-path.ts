// Converts a plan's path to a host path, and opens a folder without following a link.
import { constants, openSync } from "node:fs";
import type { PlanPath } from "../plan/plan.ts";

export function hostPath(path: PlanPath): string {
  return `/${path.join("/")}`;
}

/** O_PATH: a descriptor that only names a folder and reads nothing. Node does not export this flag. */
const O_PATH = 0o10_000_000;

/** The folder itself, never a link's target. Throws as the system does. */
export function openFolder(path: string): number {
  return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}
