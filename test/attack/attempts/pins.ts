// Protected names inside the root: those that are there, those that are not, and the folders they lie in.
import { type Attempt, attempt } from "../attempt.ts";

/** There at the start. */
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
/** Mounted on themselves: they cannot be moved. */
const HELD: readonly string[] = [
  ".git",
  ".git/config",
  ".git/hooks",
  ".bashrc",
  ".ambit",
  ".vscode",
  ".mcp.json",
  "node_modules/ambit",
];
/** Folders on the way to one. */
const WAYS: readonly string[] = [".git", "node_modules"];

export const PINS: readonly Attempt[] = [
  ...FILES.flatMap((name) => [
    attempt(`pin-overwrite=${name}`, `overwrites ${name}`, "pin", "EROFS"),
    attempt(`pin-append=${name}`, `appends to ${name}`, "pin", "EROFS"),
    attempt(`pin-unlink=${name}`, `deletes ${name}`, "pin", ["EROFS", "EBUSY"]),
    attempt(`pin-rename-over=${name}`, `moves another file over ${name}`, "pin", ["EXDEV", "EBUSY"]),
    attempt(`pin-exchange=${name}`, `exchanges ${name} with another file`, "pin", ["EXDEV", "EBUSY"]),
    attempt(`pin-alias=${name}`, `gives ${name} a second name`, "pin", "EXDEV"),
  ]),
  ...[".git/config", ".mcp.json"].flatMap((name) => [
    attempt(`pin-truncate=${name}`, `empties ${name}`, "pin", "EROFS"),
    attempt(`pin-alias-descriptor=${name}`, `gives ${name} a second name by descriptor`, "pin", "EXDEV"),
    attempt(`pin-reopen=${name}`, `opens ${name} again through /proc`, "pin", "EROFS"),
    attempt(`pin-map=${name}`, `maps ${name} for writing`, "pin", "EROFS"),
    attempt(`pin-chmod=${name}`, `changes the mode of ${name}`, "pin", "EROFS"),
    attempt(`pin-chown=${name}`, `changes the owner of ${name}`, "pin", "EROFS"),
    attempt(`pin-utimes=${name}`, `changes the times of ${name}`, "pin", "EROFS"),
    attempt(`pin-xattr=${name}`, `sets an attribute of ${name}`, "pin", "EROFS"),
    attempt(`pin-flags=${name}`, `sets flags of ${name}`, "pin", "EROFS"),
    attempt(`pin-exchange-back=${name}`, `exchanges a file with ${name}`, "pin", ["EBUSY", "EXDEV"]),
    attempt(`pin-replace-by-link=${name}`, `puts a link in place of ${name}`, "pin", ["EBUSY", "EXDEV"]),
    attempt(`pin-descriptor=${name}`, `moves ${name} by its folder's descriptor`, "pin", "EBUSY"),
  ]),
  ...HELD.map((name) => attempt(`pin-rename=${name}`, `moves ${name} away`, "pin", ["EBUSY", "EXDEV"])),
  ...WAYS.map((name) => attempt(`pin-exchange=${name}`, `exchanges ${name} with another folder`, "pin", "EBUSY")),
  attempt("pin-replace-by-link=.git", "puts a link in place of .git", "pin", ["EBUSY", "EISDIR", "ENOTDIR"]),
  attempt("pin-rmdir=.claude", "removes a folder of settings", "pin", "EBUSY"),
  attempt("pin-tmpfile=.git/hooks", "brings a nameless file into the hooks", "pin", "EROFS"),
  attempt("pin-create=.git/hooks/post-checkout", "adds a hook", "pin", "EROFS"),
  attempt("pin-create-by-rename=.git/hooks/post-checkout", "moves a hook in", "pin", "EXDEV"),
  attempt("pin-create-by-hardlink=.git/hooks/post-checkout", "links a hook in", "pin", ["EXDEV", "EROFS"]),
  attempt("pin-create-link=.git/hooks/post-merge", "links a hook in by a link", "pin", "EROFS"),
  attempt("pin-create=.ambit/agents/other.md", "writes an agent record", "pin", "EROFS"),
  attempt("pin-create=.vscode/tasks.json", "writes tasks for an editor", "pin", "EROFS"),
  attempt("pin-create=.cursor/mcp.json", "writes settings into a folder that was not there", "pin", "EROFS"),
  attempt("pin-create-folder=.idea/runConfigurations", "makes a folder in one that was not there", "pin", "EROFS"),
  attempt("pin-rename=.cursor", "moves away a folder that was made in advance", "pin", "EBUSY"),
  attempt("pin-rename=.idea", "the same", "pin", "EBUSY"),
  attempt("mount-bind=.git", "mounts another folder over .git", "seccomp", "EPERM"),
  attempt("mount-remount=.git/config", "mounts a pin writable", "seccomp", "EPERM"),
  attempt("umount=.git/config", "takes a pin away", "seccomp", "EPERM"),
  attempt("open-tree=.git/config", "copies a mount", "seccomp", "EPERM"),
  attempt("move-mount=.git/config", "moves a pin", "seccomp", "EPERM"),
  attempt("mount-setattr=.git/config", "mounts a pin writable, the new way", "seccomp", "EPERM"),
  attempt("fspick=.git/config", "reconfigures a mount", "seccomp", "EPERM"),
];
