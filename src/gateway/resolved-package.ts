// What a package manager resolved: the version of a package, and everything that is installed with it.
import { bareName, type PackageRequest } from "../core/notation/servers/package-request.ts";

export interface ResolvedPackage {
  readonly version: string;
  readonly integrity: string;
  /** One line for each package that is installed with it: place, version, integrity. The pin is the digest of it. */
  readonly lines: string;
  readonly packages: number;
  /** Packages with install scripts, by name and version. */
  readonly scripts: readonly string[];
  /** Names of its own programs. */
  readonly programs: readonly string[];
}

/** The program that is meant where none is named: the only one, or that with the package's name. Null where it is not clear. */
export function ownProgram(request: Pick<PackageRequest, "kind" | "name">, programs: readonly string[]): string | null {
  const [first, ...others] = programs;
  if (first !== undefined && others.length === 0) return first;
  return programs.find((program) => program === bareName(request)) ?? null;
}
