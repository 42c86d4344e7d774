// Paths of answers: in the shortest form that a later call accepts.
import type { LocatedPath } from "../../runtime/context/files.ts";

/** Relative below the working folder, absolute elsewhere. */
export function displayPath({ path, folder }: LocatedPath): string {
  if (path === folder) return ".";
  const start = folder === null ? null : folder === "/" ? "/" : `${folder}/`;
  if (start === null || !path.startsWith(start)) return path;
  const rest = path.slice(start.length);
  // A leading tilde would be parsed as the home folder.
  return rest.startsWith("~") ? `./${rest}` : rest;
}

/** Of an absolute path; no name contains a slash. */
export function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((name) => name !== "");
}
