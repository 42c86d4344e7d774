// What a project contains before ambit is set up: names only, never a value that could be a secret.

export type ClientName = "claude" | "codex" | "opencode" | "gemini" | "cursor" | "copilot" | "vscode";

export interface FoundClient {
  readonly client: ClientName;
  /** The files and folders that indicate it, relative to the project; its program, absolute. */
  readonly because: readonly string[];
}

export interface FoundServer {
  readonly name: string;
  /** The file that names it, relative to the project. */
  readonly file: string;
}

export interface FoundToolchain {
  readonly name: string;
  /** The project file that needs it. */
  readonly because: string;
  /** The version manager that installs it below the home folder, and the folders a sandbox has to see. */
  readonly keeper: { readonly name: string; readonly folders: readonly string[] } | null;
}

export interface Surroundings {
  readonly isGit: boolean;
  readonly clients: readonly FoundClient[];
  readonly servers: readonly FoundServer[];
  readonly toolchains: readonly FoundToolchain[];
  /** A project file for an example request. */
  readonly sample: string | null;
}
