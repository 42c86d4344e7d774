// What a package manager does for a fetch. npm and pip each have one implementation; everything around it is the same.
import type { PackageRequest } from "../../core/notation/servers/package-request.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { ResolvedPackage } from "../../gateway/resolved-package.ts";

/** Where a stage is, inside its sandboxes; it is their home. */
export const STAGE_HOME = "/run/ambit/home";

export interface StageRun {
  readonly argv: readonly [string, ...string[]];
  /** Whether its sandbox reaches the registry. */
  readonly reachesRegistry: boolean;
  readonly environment: readonly (readonly [string, string])[];
}

export interface PackageStage {
  /** Outside. */
  readonly folder: string;
  readonly package: PackageRequest;
  readonly registry: string;
  run(run: StageRun): Promise<Answer<object>>;
}

export interface PackageManager {
  /** Puts the package and all that it needs into the stage, without running code of theirs. */
  resolve(stage: PackageStage): Promise<Answer<ResolvedPackage>>;
  /** Runs install scripts, without network; null where there is nothing of that kind. */
  runScripts: ((stage: PackageStage) => Promise<Answer<object>>) | null;
  /** Why it failed, from its own output; null where it does not say. */
  problem(said: string): { readonly message: string; readonly fix: string | null } | null;
  /** Its program is not there. */
  readonly missing: { readonly message: string; readonly fix: string };
  /** What can differ between two fetches of the same version, besides the package; for the message. */
  readonly others: string;
}
