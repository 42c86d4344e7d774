// Names in a project or a home folder that make programs run or say what they may do. An agent that may write around
// them must not write them: what it put there would be run later by a person, outside every sandbox.

export interface ProtectedName {
  readonly path: readonly string[];
  readonly kind: "folder" | "file";
  /** make: where it is not, it is made and kept. watch: nothing is made; its appearing ends the sandbox. */
  readonly absent: "make" | "watch";
}

/** Folders git does not show while they are empty, so making them disturbs nobody. */
const SETTINGS: readonly string[] = [
  ".ambit",
  ".vscode",
  ".idea",
  ".zed",
  ".claude",
  ".codex",
  ".gemini",
  ".cursor",
  ".opencode",
];
const RARE_SETTINGS: readonly string[] = [
  ".agents",
  ".amazonq",
  ".cline",
  ".continue",
  ".devcontainer",
  ".fleet",
  ".junie",
  ".kiro",
  ".roo",
  ".windsurf",
];
/** Servers that clients start by themselves. Absent on purpose: `.envrc`, `.gitmodules` and build scripts, which are the
 * project's own text, asked about before they run or run by name; docs/limits.md lists them first. */
const SETTINGS_FILES: readonly string[] = [
  ".mcp.json",
  "mcp.json",
  "opencode.json",
  "opencode.jsonc",
  ".claude.json",
  ".aider.conf.yml",
];
/** Read by a shell that starts. */
const SHELL_FILES: readonly string[] = [
  ".bashrc",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
];
/** As above, but an empty one keeps bash from reading `.profile`, so none is made. */
const SHELL_FILES_FIRST: readonly string[] = [".bash_profile", ".bash_login", ".bash_aliases"];

/** In every root and every registered workspace. */
export const PROJECT_NAMES: readonly ProtectedName[] = [
  ...SETTINGS.map((name) => folder([name], "make")),
  ...RARE_SETTINGS.map((name) => folder([name], "watch")),
  ...[...SETTINGS_FILES, ...SHELL_FILES, ...SHELL_FILES_FIRST].map((name) => file([name], "watch")),
  folder([".config", "fish"], "watch"),
];

/** In a home folder besides: what starts with a session, and the user's own git settings. */
export const HOME_NAMES: readonly ProtectedName[] = [
  ...SHELL_FILES.map((name) => file([name], "make")),
  ...[".config/fish", ".config/git", ".config/autostart", ".config/systemd", ".config/environment.d"].map((path) =>
    folder(path.split("/"), "make"),
  ),
  folder([".local", "bin"], "make"),
  ...[".gitconfig", ".pam_environment", ".xprofile", ".xinitrc", ".xsessionrc", ".xsession", ".inputrc"].map((name) =>
    file([name], "watch"),
  ),
  ...[".tmux.conf", ".vimrc", ".emacs", ".pythonrc", ".npmrc", ".curlrc", ".wgetrc"].map((name) =>
    file([name], "watch"),
  ),
  ...[".vim", ".emacs.d", ".config/nvim", "bin", "Library/LaunchAgents"].map((path) =>
    folder(path.split("/"), "watch"),
  ),
];

function folder(path: readonly string[], absent: ProtectedName["absent"]): ProtectedName {
  return { path, kind: "folder", absent };
}

function file(path: readonly string[], absent: ProtectedName["absent"]): ProtectedName {
  return { path, kind: "file", absent };
}
