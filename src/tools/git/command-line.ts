// A call of the `git` tool as one argument vector. Every option is written here; no word of the caller can become one.
// Programs that a repository's settings would start are disabled where an option exists: external diff, textconv,
// signature checks. The others, hooks and filters, run in the sandbox like git itself.
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { branchWord, fileWord, messageWord, pathWord, remoteWord, revisionWord } from "./argument-words.ts";
import { type GitCommand, TAKES } from "./definition.ts";
import { commitsUsual } from "./limits.ts";

export interface GitInput {
  readonly command: GitCommand;
  readonly in?: string;
  readonly revision?: string;
  readonly to?: string;
  readonly staged?: boolean;
  readonly stat?: boolean;
  readonly file?: string;
  readonly paths?: readonly string[];
  readonly all?: boolean;
  readonly message?: string;
  readonly limit?: number;
  readonly name?: string;
  readonly remote?: string;
}

export interface GitLine {
  readonly argv: readonly ["git", GitCommand, ...string[]];
  readonly root: "ro" | "rw";
}

/** Each field ends in a NUL, which no commit contains. */
export const COMMIT_FORMAT = "--format=%H%x00%P%x00%an%x00%ae%x00%aI%x00%s%x00%b";
export const BRANCH_FORMAT = "--format=%(HEAD)%00%(refname)%00%(objectname)%00%(upstream)%00%(symref)";

const PLAIN_DIFFERENCE: readonly string[] = ["--no-color", "--no-ext-diff", "--no-textconv"];
const UNSIGNED = "--no-show-signature";
const QUIET_REMOTE: readonly string[] = ["--no-progress", "--no-recurse-submodules"];

/** INVARIANT: the input passed the tool's own schema. */
export function gitLine(input: JsonObject): Result<GitLine> {
  const given = input as unknown as GitInput;
  const { command } = given;
  const odd = Object.keys(input).find((key) => key !== "command" && key !== "in" && !TAKES[command].includes(key));
  if (odd !== undefined) return refuse("bad_value", `${command} does not support ${JSON.stringify(odd.slice(0, 64))}`);
  const rest = wordsOf(given);
  if (!rest.ok) return rest;
  const isChanging = CHANGING.includes(command) || (command === "branch" && given.name !== undefined);
  return done({ argv: ["git", command, ...rest.value], root: isChanging ? "rw" : "ro" });
}

const CHANGING: readonly GitCommand[] = ["add", "commit", "fetch", "push"];

function wordsOf(given: GitInput): Result<readonly string[]> {
  const { command } = given;
  switch (command) {
    case "status":
      return joined(["--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--"], paths(given));
    case "diff":
      return difference(given);
    case "log": {
      const count = `--max-count=${given.limit ?? commitsUsual}`;
      return joined(["-z", COMMIT_FORMAT, UNSIGNED, "--no-color", count], revision(given), ["--"], paths(given));
    }
    case "show":
      return showing(given);
    case "add":
      if ((given.all === true) === (given.paths ?? []).length > 0)
        return refuse("bad_value", "add takes either `paths` or `all`");
      return joined(given.all === true ? ["--all"] : [], ["--"], paths(given));
    case "commit": {
      const message =
        given.message === undefined ? refuse("bad_value", "a commit needs a `message`") : messageWord(given.message);
      if (!message.ok) return message;
      return done([`--message=${message.value}`, "--no-gpg-sign", ...(given.all === true ? ["--all"] : [])]);
    }
    case "branch":
      return branching(given);
    case "fetch":
      return joined(remote(given), branch(given), QUIET_REMOTE, ["--no-auto-maintenance"]);
    case "push":
      return joined(
        remote(given),
        given.name === undefined ? ["HEAD"] : branch(given),
        ["--porcelain", "--no-signed"],
        QUIET_REMOTE,
      );
    default:
      return command satisfies never;
  }
}

function difference(given: GitInput): Result<readonly string[]> {
  const { to, staged } = given;
  if (to !== undefined && (given.revision === undefined || staged === true))
    return refuse("bad_value", "`to` needs a `revision` and cannot be combined with `staged`");
  const options = [
    ...PLAIN_DIFFERENCE,
    ...(staged === true ? ["--cached"] : []),
    ...(given.stat === true ? ["--stat"] : []),
  ];
  const second = to === undefined ? [] : each([to], revisionWord);
  return joined(options, revision(given), second, ["--"], paths(given));
}

function showing(given: GitInput): Result<readonly string[]> {
  const { revision: at = "HEAD", file } = given;
  const commit = revisionWord(at);
  if (!commit.ok) return commit;
  if (file === undefined) {
    // A tag shows the commit it points to, and nothing of its own.
    const options = [`${COMMIT_FORMAT}%x00`, UNSIGNED, ...PLAIN_DIFFERENCE, ...(given.stat === true ? ["--stat"] : [])];
    return joined(options, [`${commit.value}^{commit}`, "--"], paths(given));
  }
  if (given.stat === true || given.paths !== undefined)
    return refuse("bad_value", "`file` cannot be combined with `stat` and `paths`");
  const place = fileWord(file);
  return place.ok ? done(["--no-textconv", "--no-color", `${commit.value}:${place.value}`, "--"]) : place;
}

function branching(given: GitInput): Result<readonly string[]> {
  if (given.name === undefined) {
    if (given.revision !== undefined) return refuse("bad_value", "`revision` needs the `name` of the new branch");
    return done(["--list", "--no-color", BRANCH_FORMAT, ...(given.all === true ? ["--all"] : [])]);
  }
  if (given.all !== undefined) return refuse("bad_value", "`all` is only for listing branches");
  // Tracking would be written to the repository's settings, which are protected here.
  return joined(["--no-track"], branch(given), revision(given));
}

type Words = readonly string[] | Result<readonly string[]>;

function joined(...parts: readonly Words[]): Result<readonly string[]> {
  const words: string[] = [];
  for (const part of parts) {
    if (!("ok" in part)) words.push(...part);
    else if (part.ok) words.push(...part.value);
    else return part;
  }
  return done(words);
}

function each(texts: readonly string[], read: (text: string) => Result<string>): Result<readonly string[]> {
  const words: string[] = [];
  for (const text of texts) {
    const word = read(text);
    if (!word.ok) return word;
    words.push(word.value);
  }
  return done(words);
}

function paths({ paths: all = [] }: GitInput): Result<readonly string[]> {
  return each(all, pathWord);
}

function revision({ revision: one }: GitInput): Words {
  return one === undefined ? [] : each([one], revisionWord);
}

function branch({ name }: GitInput): Words {
  return name === undefined ? [] : each([name], branchWord);
}

function remote({ remote: name = "origin" }: GitInput): Words {
  return each([name], remoteWord);
}
