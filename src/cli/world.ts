// What the command line is handed by the composition: everything it needs of the machine, and nothing else.
import type { Authority } from "../core/authority/chain.ts";
import type { Moment } from "../core/authority/compiled.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { Source } from "../core/notation/source.ts";
import type { Agent } from "../agents/project/agent.ts";
import type { AgentTrust } from "../agents/project/trust.ts";
import type { DoctorWorld } from "./doctor/doctor.ts";
import type { Paint } from "./terminal/paint.ts";
import type { Step } from "./terminal/progress.ts";
import type { RecordsDesk } from "./records/records.ts";
import type { SkillsWorld } from "./skills/skills.ts";
import type { TrustWorld } from "./trust/trust.ts";

export interface LoadedAgent {
  readonly agent: Agent;
  /** The text it was read from, for showing lines of it. */
  readonly source: Source;
  /** How far what is written counts; `agent` is what does. Absent where only texts are compared. */
  readonly trust?: AgentTrust;
}

export type LoadResult =
  | { readonly ok: true; readonly value: LoadedAgent }
  | { readonly ok: false; readonly message: string; readonly fix: string | null };

/** Agents by their id. */
export type AgentSet = ReadonlyMap<string, LoadedAgent>;

export type SetResult =
  /** `isOneFile`: a single file was named, so that what it is called does not matter. */
  | { readonly ok: true; readonly value: AgentSet; readonly isOneFile: boolean }
  | { readonly ok: false; readonly message: string; readonly fix: string | null };

export interface World extends TrustWorld {
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
  readonly records: RecordsDesk | null;
  readonly skills: SkillsWorld["skills"];
  readonly doctor: DoctorWorld;
  print(text: string): void;
  printError(text: string): void;
}
