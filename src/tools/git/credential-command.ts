// Whether a command is a git that may receive a credential: git itself, a subcommand that talks to a remote, and no
// option by which the caller makes git run another program or print the credential. Absent on purpose: `credential`,
// which prints it; aliases and `submodule`, which run commands from a repository.

const PROGRAMS: readonly string[] = ["git", "/usr/bin/git", "/bin/git"];
const REMOTE_COMMANDS: readonly string[] = ["clone", "fetch", "ls-remote", "pull", "push", "remote"];

/** Options before the subcommand that take a value, besides `-c`. */
const VALUED: readonly string[] = ["-C", "--git-dir", "--work-tree"];
const PLAIN: readonly string[] = [
  ...["-P", "--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs"],
  ...["--no-lazy-fetch", "--no-advice"],
];
/** Settings that start no program and change no destination, in lower case as git compares them. */
const SETTINGS = /^(?:(?:http|user|push|pull|fetch|advice|color)\..+|init\.defaultbranch|protocol\.version)$/;

/** Options of the subcommands that name a program, a setting or a folder of hooks. git accepts prefixes of them too. */
const RUNNING: readonly string[] = ["config", "template", "upload-pack", "receive-pack", "exec"];

export function takesCredential(argv: readonly string[]): boolean {
  const [program = "", ...words] = argv;
  if (!PROGRAMS.includes(program)) return false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (!word.startsWith("-")) return REMOTE_COMMANDS.includes(word) && !hasRunningOption(word, words.slice(at + 1));
    if (word === "-c") {
      if (!isPlainSetting(words[at + 1])) return false;
      at++;
    } else if (VALUED.includes(word)) at++;
    else if (!PLAIN.includes(word) && !/^--(?:git-dir|work-tree)=/.test(word)) return false;
  }
  return false;
}

function isPlainSetting(word: string | undefined): boolean {
  const [key = ""] = (word ?? "").split("=", 1);
  return SETTINGS.test(key.toLowerCase());
}

/** Words after `--` are checked as well: a false refusal costs a credential, not a leak. */
function hasRunningOption(command: string, words: readonly string[]): boolean {
  return words.some((word) => {
    // Short options are combined, and the last of them may have a value attached.
    if (/^-[^-]/.test(word)) return command === "clone" && /[cu]/.test(word);
    const [, name] = /^--([^=]+)/.exec(word) ?? [];
    return name !== undefined && RUNNING.some((one) => one.startsWith(name));
  });
}
