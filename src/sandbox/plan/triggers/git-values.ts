// Which git settings name files that git runs or reads, and which files the text of a command names.
import type { GitSetting } from "./git-config.ts";
import { followPath, type RealTree, writtenPath } from "./real-tree.ts";

type Path = readonly string[];

/** hooks: a folder of programs. attributes: a file like `.gitattributes`. command: shell words. */
export type GitValueKind = "hooks" | "attributes" | "command";

const COMMANDS: ReadonlySet<string> = new Set([
  ...["fsmonitor", "sshcommand", "editor", "pager", "askpass", "gitproxy", "alternaterefscommand"].map(
    (key) => `core.${key}`,
  ),
  ...[
    "sequence.editor",
    "credential.helper",
    "diff.external",
    "gpg.program",
    "interactive.difffilter",
    "gc.prunecommand",
    "gc.recentobjectshook",
  ],
  ...["uploadpack.packobjectshook", "web.browser", "instaweb.httpd", "imap.tunnel", "trace2.eventtarget"],
  ...["sendemail.smtpserver", "sendemail.tocmd", "sendemail.cccmd", "sendemail.headercmd", "sendemail.sendmailcmd"],
]);
/** Of a section with a subsection: `filter.x.clean`, `remote.x.uploadpack`. */
const NAMED_COMMANDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["filter", ["clean", "smudge", "process"]],
  ["diff", ["command", "textconv"]],
  ["merge", ["driver"]],
  ["credential", ["helper"]],
  ["gpg", ["program", "defaultkeycommand"]],
  ["difftool", ["cmd", "path"]],
  ["mergetool", ["cmd", "path"]],
  ["browser", ["cmd", "path"]],
  ["man", ["cmd", "path"]],
  ["guitool", ["cmd"]],
  ["tar", ["command"]],
  ["trailer", ["command", "cmd"]],
  ["remote", ["uploadpack", "receivepack", "vcs"]],
  ["submodule", ["update"]],
  ["hook", ["command"]],
  ["lfs", ["path", "clean", "smudge"]],
  ["sendemail", ["smtpserver", "tocmd", "cccmd", "headercmd", "sendmailcmd"]],
]);
/** Every key of these sections is a command. */
const COMMAND_SECTIONS: readonly string[] = ["alias", "pager"];

export function gitValueKind({ section, subsection, key }: GitSetting): GitValueKind | null {
  if (subsection === null) {
    const name = `${section}.${key}`;
    if (name === "core.hookspath" || name === "init.templatedir") return "hooks";
    if (name === "core.attributesfile") return "attributes";
    if (COMMANDS.has(name)) return "command";
  }
  if (COMMAND_SECTIONS.includes(section)) return "command";
  return NAMED_COMMANDS.get(section)?.includes(key) === true ? "command" : null;
}

const wordsMax = 2_048;
/** Also what is not there yet: `[ -x scripts/local ] && scripts/local` runs it once it exists. */
const PATH_WORD = /[/.]/;

/** Files that the words of a command or script name, relative to `base`: those that are there, and words that look like a path. */
export function filesNamedIn(text: string, base: Path, home: Path | null, tree: RealTree): readonly Path[] {
  const found = new Map<string, Path>();
  const words = new Set([...text.matchAll(/[^\s"'`;&|<>(){}=$,\\!]+/g)].map(([word]) => word));
  for (const word of [...words].slice(0, wordsMax)) {
    // Variable prefixes and shell punctuation are cut off above.
    const written = word.length > 1_024 ? null : writtenPath(word.replace(/^\/+(?=\.)/, ""), base, home);
    const path = written?.includes("..") === true ? followPath(tree, written).end : written;
    if (path === null || path.length <= base.length) continue;
    if (!base.every((name, at) => name === path[at])) continue;
    const entry = tree.at(path);
    if (entry === null ? PATH_WORD.test(word) : entry.kind === "file" || entry.kind === "link")
      found.set(path.join("/"), path);
  }
  return [...found.values()];
}
