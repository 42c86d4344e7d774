// The files of tools, for looking through: ordinary files below the named places, bounded, no link followed.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

export interface ToolFile {
  /** As it is shown. */
  readonly path: string;
  /** Null where it could not be read, or is too large. */
  readonly text: string | null;
  readonly problem: string | null;
}

export interface ToolFiles {
  /** Of these files and folders; without any, of `.ambit/tools`. */
  read(paths: readonly string[]): readonly ToolFile[];
}

const fileBytesMax = 1_048_576;
const filesMax = 5000;
const foldersDepthMax = 16;
const NAME = /\.(?:[cm]?[jt]s|[jt]sx)$/;

export function toolFilesAt(base: string): ToolFiles {
  return {
    read: (paths) => {
      const found: ToolFile[] = [];
      const places = paths.length === 0 ? [join(".ambit", "tools")] : paths;
      for (const place of places) look(base, resolve(base, place), 0, paths.length > 0, found);
      return found;
    },
  };
}

/** `isNamed`: given as an argument, so it must exist. */
function look(base: string, path: string, depth: number, isNamed: boolean, found: ToolFile[]): void {
  const shown = relative(base, path) || ".";
  const problem = (what: string): void => void found.push({ path: shown, text: null, problem: what });
  if (found.length >= filesMax) {
    if (found.at(-1)?.problem !== TOO_MANY) problem(TOO_MANY);
    return;
  }
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) {
      if (isNamed) problem("no such file or folder");
    } else if (facts.isDirectory()) {
      if (depth >= foldersDepthMax) problem("the folders are nested too deeply");
      else
        for (const name of readdirSync(path).sort())
          if (name !== "node_modules" && name !== ".git") look(base, join(path, name), depth + 1, false, found);
    } else if (isNamed || NAME.test(path)) {
      if (facts.isSymbolicLink()) problem("symbolic links are not followed");
      else if (!facts.isFile()) problem("not a regular file");
      else if (facts.size > fileBytesMax) problem(`larger than ${fileBytesMax} bytes`);
      else found.push({ path: shown, text: readFileSync(path, "utf8").slice(0, fileBytesMax), problem: null });
    }
  } catch (error) {
    problem(error instanceof Error && "code" in error ? String(error.code) : "could not be read");
  }
}

const TOO_MANY = `more than ${filesMax} files`;
