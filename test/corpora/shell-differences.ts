// Commands that a source refuses and our preset of read-only commands deliberately allows. Each difference is recognized from the
// argument vector alone, and a line is excused only if every command of it is.

interface Difference {
  readonly name: string;
  readonly holds: (argv: readonly string[]) => boolean;
}

const gitLooks: ReadonlySet<string> = new Set(["status", "diff", "log", "show"]);
const gitShapes = /^(-p|-u|--patch|--stat|--oneline|--name-only|--cached|--staged|-s|--short|-n?\d+)$/;
const findTests = /^-(i?name|i?path|i?regex|type|size|perm|user|group|newer|[acm](time|min)|maxdepth|mindepth|printf)$/;

const differences: readonly Difference[] = [
  {
    name: "git's own settings are the project's, and no agent writes them (0029)",
    holds: ([program, look, ...words]) =>
      program === "git" && gitLooks.has(look ?? "") && words.every((word) => isOperand(word) || gitShapes.test(word)),
  },
  {
    name: "a plain name is found on the sandbox's own PATH (0007)",
    holds: ([program, ...words]) => program === "rg" && words.every(isOperand),
  },
  {
    // Not for git: its help is another program, with a pager.
    name: "prints its help and ends (0029)",
    holds: ([program, ...words]) =>
      program !== "git" && words.length === 1 && (words[0] === "--help" || words[0] === "--version"),
  },
  {
    name: "an option without its value is an error and no effect (0029)",
    holds: ([program, ...words]) =>
      program === "find" && findTests.test(words.at(-1) ?? "") && words.slice(0, -1).every(isOperand),
  },
];

/** Why a line that a source refuses is allowed here; null if no reason applies. */
export function reasonToAllow(commands: readonly (readonly string[])[]): string | null {
  const names = commands.map((argv) => differences.find(({ holds }) => holds(argv))?.name ?? null);
  return names.includes(null) ? null : (names[0] ?? null);
}

function isOperand(word: string): boolean {
  return !word.startsWith("-");
}
