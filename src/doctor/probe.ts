// Everything doctor looks at, gathered beforehand: it reads no file and asks no clock itself.

import type { PathSettings } from "../core/authority/axes/path.ts";
import type { Grant } from "../core/authority/grant.ts";
import type { Segments } from "../core/authority/patterns/sequence.ts";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import type { OuterPolicies } from "../core/notation/policy/outer-policies.ts";
import type { Source } from "../core/notation/source.ts";
import type { TreeNode } from "../core/notation/tree.ts";
import type { MachineFacts } from "../core/ports/machine.ts";
import type { KeyStatus } from "../core/ports/secret-key.ts";
import type { SinkStatus } from "../core/ports/stores/sink.ts";
import type { ProbeServer } from "./servers.ts";

export interface ProbeAgent {
  readonly id: string;
  readonly source: Source;
  /** The whole text or frontmatter, for what is written but grants nothing; null where it is no tree. */
  readonly tree: TreeNode | null;
  readonly grants: readonly Grant[];
  readonly diagnostics: readonly Diagnostic[];
  /** Nothing of the text counts. */
  readonly refused: boolean;
  /** It is defined in an org file, which has no scopes and conditions of grants. */
  readonly isMember?: boolean;
  /** The configurations it was read in; some of what it holds may be written there. */
  readonly around?: readonly Source[] | undefined;
  /** Its own sandbox. */
  readonly workingRoot: readonly string[] | null;
}

/** A configuration, and what is wrong with it. */
export interface ProbeConfig {
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
}

/** A file that should hold an agent and cannot be read. */
export interface BrokenFile {
  readonly file: string;
  /** Said after the file's name: "is not a plain file". */
  readonly problem: string;
}

/** untrusted: never trusted. widened: trusted once, and now asks for more. */
export type Trust = "trusted" | "untrusted" | "widened" | "unknown";

export interface ProbeWorkspace {
  /** Folders whose files say what agents may do, or are only to be changed through `records.*`. */
  readonly folders: readonly (readonly string[])[];
  readonly trust: Trust;
  /** There is a folder `.ambit/users`, which is read nowhere. */
  readonly hasUsers?: boolean;
}

/** A tool whose arguments are known. */
export interface ProbeTool {
  readonly name: string;
  /** With its origin first, as the tool axis has it. */
  readonly tool: Segments;
  readonly arguments: readonly string[];
  /** What it declares; nothing for a built-in tool, and for parts that take whatever the policy allows. */
  readonly needs: readonly Grant[];
}

/** The record of a user, in the user's own configuration folder. */
export interface ProbeUser {
  readonly name: string;
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
  /** Null: the record limits nothing to workspaces. */
  readonly workspaces: readonly { readonly written: string; readonly exists: boolean }[] | null;
}

export interface Probe {
  readonly agents: readonly ProbeAgent[];
  readonly broken: readonly BrokenFile[];
  /** The user's and the project's. */
  readonly configs: readonly ProbeConfig[];
  /** Null outside any workspace. */
  readonly workspace: ProbeWorkspace | null;
  /** Null where the machine was not asked. */
  readonly machine: MachineFacts | null;
  /** The second copy of the log; null or absent if none is configured, or no daemon was asked. */
  readonly sink?: SinkStatus | null;
  /** The MCP servers of the workspace, if a daemon runs. */
  readonly servers?: readonly ProbeServer[];
  /** Where the key of the secrets comes from; null or absent if there are none, or no daemon was asked. */
  readonly secrets?: KeyStatus | null;
  /** Folders of the caller's search path that clients of `ambit run` have, and those that they do not have. */
  readonly toolchains?: {
    readonly names: readonly { readonly name: string; readonly folder: readonly string[] }[];
    readonly left: readonly (readonly string[])[];
  };
  readonly tools: readonly ProbeTool[];
  readonly users?: readonly ProbeUser[];
  /** The org tables that the configurations bring. */
  readonly policies?: OuterPolicies | null;
  readonly pathSettings: PathSettings;
  /** Milliseconds since 1970. */
  readonly now: number;
}
