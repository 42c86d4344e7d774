// The ports of the command line: everything it needs of the machine, and nothing else. `main` implements them.
import type { LoadResult, SetResult } from "../agents/disk/loaded-agent.ts";
import type { RecordsFolder } from "../agents/disk/records-folder.ts";
import type { Authority } from "../core/authority/chain.ts";
import type { Moment } from "../core/authority/compiled.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { Step } from "../core/ports/progress.ts";
import type { DoctorPorts } from "./doctor/doctor.ts";
import type { SkillsPorts } from "./skills/skills.ts";
import type { Paint } from "./terminal/paint.ts";
import type { TrustPorts } from "./trust/trust.ts";

export interface CliPorts extends TrustPorts {
  readonly version: string;
  readonly reading: Reading;
  readonly moment: Moment;
  readonly paint: Paint;
  /** How tools may change a path, whatever is granted: freely, once a person agrees, or never. */
  changeClass(authority: Authority, path: readonly string[]): "free" | "ask" | "never";
  /** An id in the workspace, or a file: a record, a manifest, a Caveats document. */
  loadAgent(name: string): LoadResult;
  /** One file, a folder of agents, a git revision of the workspace, or a file in a revision (`HEAD:path`). */
  loadSet(name: string, step?: Step): SetResult;
  /** Ids of the agents of the workspace. */
  agentIds(): readonly string[];
  /** Null outside a workspace. */
  readonly records: RecordsFolder | null;
  readonly skills: SkillsPorts["skills"];
  readonly doctor: DoctorPorts;
  print(text: string): void;
  printError(text: string): void;
}
