// Which words of a command line name the command, and which programs run arbitrary code from their arguments.

/** Programs whose first word is a subcommand, and the first words after which a second one is too. */
const COMMANDS: Readonly<Record<string, string>> = {
  git: "remote stash submodule worktree bisect notes",
  npm: "run run-script",
  pnpm: "run",
  yarn: "run",
  bun: "run",
  deno: "task",
  cargo: "",
  go: "mod",
  make: "",
  gmake: "",
  just: "",
  docker: "compose container image volume network",
  podman: "container image volume network",
  kubectl: "",
  helm: "repo",
  terraform: "workspace state",
  gh: "pr issue repo release run workflow auth",
  glab: "mr issue repo release",
  brew: "",
  apt: "",
  "apt-get": "",
  systemctl: "",
  pip: "",
  pip3: "",
  poetry: "",
  gradle: "",
  mvn: "",
  dotnet: "",
  rustup: "toolchain target component",
  swift: "package",
};

/** Programs that run a script, a line or another program from their arguments: their name alone says nothing. */
const RUNNERS: ReadonlySet<string> = new Set(
  [
    "sh bash dash zsh fish ksh csh tcsh busybox pwsh powershell",
    "python pypy node nodejs deno bun tsx ts-node perl ruby php lua luajit tclsh expect Rscript osascript awk gawk mawk sed",
    "env xargs sudo doas su nohup timeout nice ionice setsid stdbuf time watch parallel chroot unshare flock script",
    "npx bunx pnpx uvx pipx ssh docker podman kubectl make gmake just npm pnpm yarn find fd fdfind eval exec",
  ].flatMap((line) => line.split(" ")),
);

/** Subcommands whose own words are the program to run. */
const RUNNING: readonly string[] = ["run", "exec", "x", "dlx", "shell", "eval"];

function plainName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** Maps `/usr/bin/python3.11` to python. */
export function isRunner(program: string): boolean {
  const name = plainName(program);
  return RUNNERS.has(name) || RUNNERS.has(name.replace(/(?<=[a-z])-?\d+(\.\d+)*$/, ""));
}

/**
 * How many words from the beginning name the program and its command: `git push`, `npm run build`. Zero if that is
 * ambiguous: an option before the command may take it as its value.
 */
export function commandWords(argv: readonly string[]): number {
  const [program = "", first = "", second = ""] = argv;
  const name = plainName(program);
  if (!Object.hasOwn(COMMANDS, name) || !isWord(first)) return 0;
  const deeper = (COMMANDS[name] as string).split(" ").includes(first);
  if (deeper) return isWord(second) ? 3 : 0;
  return RUNNING.includes(first) ? 0 : 2;
}

function isWord(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_:-]{0,63}$/.test(text);
}
