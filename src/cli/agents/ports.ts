// The ports of the commands about agents, besides those of every command.
import type { ImportedPersonality } from "../../agents/disk/personality-folder.ts";
import type { RecordFiles } from "../../agents/disk/record-file-types.ts";
import type { EditContext, EditResult } from "../../agents/edit/edit.ts";
import type { ControlPorts } from "../control-ports.ts";
import type { CliPorts } from "../ports.ts";
import type { AdmitPorts } from "../trust/admit.ts";

/** Questions to a person. Every answer may be missing: the person went away. */
export interface Terminal {
  /** A person is there to be asked. */
  readonly isInteractive: boolean;
  /** The width of standard output; absent where that is no terminal. */
  readonly columns?: number;
  /** No is the answer to anything but a yes. */
  confirm(question: string): Promise<boolean>;
  choose(question: string, choices: readonly Choice[]): Promise<string | null>;
  enter(question: string, check: (text: string) => string | null): Promise<string | null>;
  /** A line that is typed after the question was shown: what was typed before is dropped. There is no default. */
  typed(question: string): Promise<string | null>;
  /** Typed without being shown. */
  secret(question: string): Promise<string | null>;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

export interface AgentsPorts extends CliPorts, AdmitPorts, ControlPorts {
  readonly cwd?: string;
  /** Their edits are trusted as they are made. */
  readonly files: RecordFiles;
  /** Their edits wait for `ambit trust`. */
  readonly untrustedFiles: RecordFiles;
  readonly terminal: Terminal;
  /** How the record of an agent is read. */
  editContext(name: string): EditContext;
  /** A personality of another framework, by the path of its folder or file. */
  personality(path: string): ImportedPersonality;
}

export type RefusedEdit = Exclude<EditResult, { kind: "edited" }>;
