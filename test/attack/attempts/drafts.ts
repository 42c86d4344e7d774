// Changes of names that a person's tools read or run: existing ones, missing ones, and their folders. A program may make them all
// in its draft; none of them is in the root afterwards.

export type DraftAttempt = readonly [word: string, tries: string];

/** Existing at the start. */
const FILES: readonly string[] = [
  ".git/config",
  ".git/hooks/pre-commit",
  ".bashrc",
  ".ambit/agents/probe.md",
  ".vscode/settings.json",
  ".claude/settings.json",
  ".mcp.json",
  "node_modules/ambit/package.json",
];
/** Moved away as a whole. */
const MOVED: readonly string[] = [
  ".git",
  ".git/config",
  ".git/hooks",
  ".bashrc",
  ".ambit",
  ".vscode",
  ".mcp.json",
  "node_modules/ambit",
];
/** Parent folders of one. */
const WAYS: readonly string[] = [".git", "node_modules"];

/** Each is made in a draft of its own. */
export const DRAFT_ATTEMPTS: readonly DraftAttempt[] = [
  ...FILES.flatMap((name): readonly DraftAttempt[] => [
    [`pin-overwrite=${name}`, `overwrites ${name}`],
    [`pin-append=${name}`, `appends to ${name}`],
    [`pin-unlink=${name}`, `deletes ${name}`],
    [`pin-rename-over=${name}`, `moves another file over ${name}`],
    [`pin-exchange=${name}`, `exchanges ${name} with another file`],
    [`pin-alias=${name}`, `gives ${name} a second name`],
  ]),
  ...[".git/config", ".mcp.json"].flatMap((name): readonly DraftAttempt[] => [
    [`pin-truncate=${name}`, `empties ${name}`],
    [`pin-alias-descriptor=${name}`, `gives ${name} a second name by descriptor`],
    [`pin-reopen=${name}`, `opens ${name} again through /proc`],
    [`pin-map=${name}`, `maps ${name} for writing`],
    [`pin-chmod=${name}`, `changes the mode of ${name}`],
    [`pin-chown=${name}`, `changes the owner of ${name}`],
    [`pin-utimes=${name}`, `changes the times of ${name}`],
    [`pin-xattr=${name}`, `sets an attribute of ${name}`],
    [`pin-flags=${name}`, `sets flags of ${name}`],
    [`pin-exchange-back=${name}`, `exchanges a file with ${name}`],
    [`pin-replace-by-link=${name}`, `puts a link in place of ${name}`],
    [`pin-descriptor=${name}`, `moves ${name} by its folder's descriptor`],
  ]),
  ...MOVED.map((name): DraftAttempt => [`pin-rename=${name}`, `moves ${name} away`]),
  ...WAYS.map((name): DraftAttempt => [`pin-exchange=${name}`, `exchanges ${name} with another folder`]),
  ["pin-replace-by-link=.git", "puts a link in place of .git"],
  ["pin-rmdir=.claude", "removes a folder of settings"],
  ["pin-tmpfile=.git/hooks", "links an unnamed file into the hooks"],
  ["pin-create=.git/hooks/post-checkout", "adds a hook"],
  ["pin-create-by-rename=.git/hooks/post-checkout", "moves a hook in"],
  ["pin-create-by-hardlink=.git/hooks/post-checkout", "links a hook in"],
  ["pin-create-link=.git/hooks/post-merge", "adds a hook as a symbolic link"],
  ["pin-create=.ambit/agents/other.md", "writes an agent record"],
  ["pin-create=.vscode/tasks.json", "writes tasks for an editor"],
  ["pin-create=.cursor/mcp.json", "writes settings into a new folder"],
  ["pin-create-folder=.idea/runConfigurations", "creates a folder in a new folder"],
];
