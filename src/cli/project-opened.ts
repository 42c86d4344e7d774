// The project a command stands in, as the composition opens it.
import type { Ground } from "../core/authority/axes/path.ts";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import type { Source } from "../core/notation/source.ts";
import type { TrustStore } from "../core/ports/trust.ts";
import type { ConfigRead, Levels } from "../agents/project/hoist-levels.ts";
import type { Review } from "../agents/project/review.ts";
import type { Paint } from "./terminal/paint.ts";
import type { ProgressWorld, Step } from "./terminal/progress.ts";

export interface ProjectOpened {
  /** Its real path. */
  readonly workspace: string;
  readonly review: Review;
  /** Null where nobody has to trust it: the user's own folder. */
  readonly store: TrustStore | null;
  readonly user: ConfigRead | null;
  readonly config: ConfigRead | null;
  readonly levels: Levels;
  /** What stands in `.ambit` and could not be taken in, one sentence each. */
  readonly problems: readonly string[];
}

export interface ProjectWorld extends ProgressWorld {
  readonly paint: Paint;
  readonly protectedPaths: Ground["protectedPaths"];
  /** Null where there is no workspace. */
  openProject(step?: Step): ProjectOpened | null;
  print(text: string): void;
  printError(text: string): void;
}

export const NO_WORKSPACE = "there is no workspace here: no folder from here upwards holds an .ambit folder";

/** What the configurations say, each with the text it stands in. */
export function configDiagnostics({ user, config, levels }: ProjectOpened): readonly (readonly [Diagnostic, Source])[] {
  const read = [user, config].filter((one) => one !== null);
  return [
    ...read.flatMap((one) => one.config.diagnostics.map((diagnostic) => [diagnostic, one.source] as const)),
    ...levels.diagnostics.flatMap((diagnostic) => (config === null ? [] : [[diagnostic, config.source] as const])),
  ];
}
