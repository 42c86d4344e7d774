// The project a command stands in, as the composition opens it.
import type { OpenedProject } from "../agents/disk/loaded-agent.ts";
import type { PathSettings } from "../core/authority/axes/path.ts";
import type { Step } from "../core/ports/progress.ts";
import type { Paint } from "./terminal/paint.ts";
import type { ProgressPorts } from "./terminal/progress.ts";

export interface ProjectPorts extends ProgressPorts {
  readonly paint: Paint;
  readonly protectedPaths: PathSettings["protectedPaths"];
  /** Null where there is no workspace. */
  openProject(step?: Step): OpenedProject | null;
  print(text: string): void;
  printError(text: string): void;
}

export const NO_WORKSPACE = "no workspace here: neither this folder nor a parent has an .ambit folder";
