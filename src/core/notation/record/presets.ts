// Bundles of grants a record may extend. Versioned data: a preset never changes, a better one gets the next number.
import { parseArgvPattern } from "../../authority/axes/argv.ts";
import { runsProjectFiles } from "./project-programs.ts";

const READER: readonly string[] = ["records.read", "fs.read", "tool.invoke"];

/** Programs that only look: no push, no reset, no fetch. Options that run or write something are never under a star. */
const LOOKING: readonly string[] = [
  "git status **",
  "git diff **",
  "git log **",
  "git show **",
  "rg **",
  "grep **",
  "ls **",
  "cat **",
  "head **",
  "tail **",
  "wc **",
  "pwd",
];

/**
 * Programs that only look, whatever their other words are: what of them would run or write something is in the table of
 * risky options, and a star never matches that. Left out: those that write where a plain word says (`uniq a b`), and
 * those that print the environment.
 */
const READ_ONLY: readonly string[] = [
  ...LOOKING,
  ...[
    "echo",
    "which",
    "whoami",
    "uname",
    "df",
    "du",
    "stat",
    "file",
    "basename",
    "dirname",
    "realpath",
    "readlink",
  ].map(any),
  ...["diff", "cmp", "sort", "cut", "tr", "nl", "od", "strings", "sha256sum", "cksum", "find", "jq", "date"].map(any),
  ...["blame", "rev-parse", "ls-files", "ls-tree", "describe", "shortlog", "cat-file"].map((word) =>
    any(`git ${word}`),
  ),
];

/** The second list: scripts that only print, and commands that only look when they stand exactly like this. */
const READ_ONLY_2: readonly string[] = [
  ...READ_ONLY,
  ...["sed", "awk", "tac", "numfmt", "/usr/bin/rg"].map(any),
  ...["uniq", "uniq -c", "uniq -d", "uniq -u", "base64", "base64 -d", "base64 --decode"],
  ...["git branch", "git branch -a", "git branch -r", "git branch -v", "git branch -vv", "git branch --list"],
  ...["git branch --show-current", "git remote", "git remote -v", "git remote get-url origin"],
  ...["git --version", "git --help", "git stash list", "git tag", "git tag --list"],
];

/** What a coder runs without being asked for more; the second version leaves out what runs files of the project. */
const CODING: readonly string[] = ["npm test **", "git add **", ...LOOKING];

function isHarmless(text: string): boolean {
  const pattern = parseArgvPattern(text);
  return pattern.ok && !runsProjectFiles(pattern.value);
}

function any(command: string): string {
  return `${command} **`;
}

/** By name, as compact specs. `fs.*` and `proc.*` without `in` take the root of the agent that extends. */
export const PRESETS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["ambit:reader@1", READER],
  ["ambit:reviewer@1", [...READER, `proc.exec{${patterns(LOOKING.slice(0, 4))},root=ro}`]],
  [
    "ambit:coder@1",
    [
      "records.read",
      "fs.read",
      "fs.write",
      // Everything asks, except what the second grant covers: the least demanding grant decides.
      "proc.exec{ask}",
      `proc.exec{${patterns(CODING)}}`,
    ],
  ],
  // Without what runs files of the project, such as `npm test`: the agent may have written them itself.
  [
    "ambit:coder@2",
    ["records.read", "fs.read", "fs.write", "proc.exec{ask}", `proc.exec{${patterns(CODING.filter(isHarmless))}}`],
  ],
  ["ambit:read-only-commands@1", [`proc.exec{${patterns(READ_ONLY)},root=ro}`]],
  ["ambit:read-only-commands@2", [`proc.exec{${patterns(READ_ONLY_2)},root=ro}`]],
  ["ambit:researcher@1", ["records.read", "records.create", "records.update", "net.get{hosts=[*]}"]],
]);

/** The highest version of a preset, for its name without version: `coder` is `ambit:coder@2`. */
export function newestPreset(name: string): string | null {
  const start = `ambit:${name}@`;
  const versions = [...PRESETS.keys()]
    .filter((key) => key.startsWith(start))
    .map((key) => Number(key.slice(start.length)));
  return versions.length === 0 ? null : `${start}${Math.max(...versions)}`;
}

function patterns(list: readonly string[]): string {
  return `patterns=[${list.map((text) => JSON.stringify(text)).join(",")}]`;
}
