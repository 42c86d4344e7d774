// Where a client looks for the settings of its user: below the home folder, unless a variable of its own names another one.

/** The start of a path below the home folder, the variable that replaces it, and what stays of it. */
const FOLDERS: readonly (readonly [start: string, variable: string, rest: string])[] = [
  [".claude/", "CLAUDE_CONFIG_DIR", ""],
  [".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"],
  [".codex/", "CODEX_HOME", ""],
  [".copilot/", "COPILOT_HOME", ""],
  [".gemini/", "GEMINI_CLI_HOME", ".gemini/"],
  [".config/", "XDG_CONFIG_HOME", ""],
];

/** Absolute; null without a home folder. `home`: the one of the password database, for where `HOME` names none. */
export function userPath(
  path: string,
  home: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const folderOf = (variable: string): string | null => {
    const value = environment[variable];
    return value?.startsWith("/") === true ? value.replace(/(?<=.)\/+$/, "") : null;
  };
  for (const [start, variable, rest] of FOLDERS) {
    const folder = path.startsWith(start) ? folderOf(variable) : null;
    if (folder !== null) return `${folder}/${rest}${path.slice(start.length)}`;
  }
  const base = folderOf("HOME") ?? home;
  return base === null ? null : `${base}/${path}`;
}
