// What a project has before ambit knows it: names only, never a value that could be a secret.

export type ClientName = "claude" | "codex" | "opencode" | "gemini";

export interface FoundClient {
  readonly client: ClientName;
  /** The files and folders that show it, relative to the project. */
  readonly because: readonly string[];
}

export interface FoundServer {
  readonly name: string;
  /** The file that names it, relative to the project. */
  readonly file: string;
}

export interface FoundToolchain {
  readonly name: string;
  /** The project's file that needs it. */
  readonly because: string;
  /** The version manager that keeps it below the home folder, and the folders a sandbox would have to see. */
  readonly keeper: { readonly name: string; readonly folders: readonly string[] } | null;
}

export interface Surroundings {
  readonly isGit: boolean;
  readonly clients: readonly FoundClient[];
  readonly servers: readonly FoundServer[];
  readonly toolchains: readonly FoundToolchain[];
  /** A file of the project a first request can be about. */
  readonly sample: string | null;
}
