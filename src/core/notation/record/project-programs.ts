// Programs that run what project files say: build and test tools, package managers, scripts. An agent that may write those
// files decides what such a program does. The presets leave them to a question, and `doctor` warns where a grant does not.
import type { Sequence } from "../../authority/patterns/sequence.ts";

/** Read program text, from a file or from a word. */
export const INTERPRETERS: readonly string[] = [
  "sh bash dash zsh fish ksh csh tcsh busybox pwsh powershell",
  "python pypy node nodejs deno bun tsx ts-node perl ruby php lua luajit tclsh expect Rscript osascript",
].flatMap((line) => line.split(" "));

/** Start another program, named by a word of theirs. */
export const LAUNCHERS: readonly string[] = [
  "env xargs sudo doas su nohup timeout nice ionice setsid stdbuf time watch parallel chroot unshare flock script",
  "npx bunx pnpx uvx pipx",
].flatMap((line) => line.split(" "));

/** Words that every program of the table takes without running anything of the project. */
const PLAIN_WORDS: readonly string[] = ["--version", "--help", "-h", "help", "version"];

/** By program, the first words that run nothing of the project; every other word does. */
const PLAIN_BY_PROGRAM: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...["npm", "pnpm", "yarn"].map(
    (name) => [name, words("-v ls list view info outdated root prefix ping search why")] as const,
  ),
  ["cargo", words("-V tree metadata search info pkgid")],
  ["go", words("env list doc fmt mod")],
  ["pip", words("list show freeze check")],
  ["uv", words("tree")],
  ["poetry", words("show check env")],
  ["bundle", words("list show info outdated")],
  ["composer", words("show info outdated licenses")],
  ["dotnet", words("--info --list-sdks")],
  ...[
    "make gmake bmake ninja cmake ctest meson just task rake ant mvn mvnw gradle gradlew bazel bazelisk buck scons",
    "pytest py.test tox nox jest vitest mocha ava karma playwright cypress rspec phpunit prove",
    "eslint prettier stylelint webpack vite rollup parcel next nuxt astro turbo nx lerna gulp grunt tsup",
    "pre-commit lint-staged swift mix lein sbt stack cabal zig",
  ]
    .flatMap(words)
    .map((name) => [name, []] as const),
]);

function words(line: string): readonly string[] {
  return line.split(" ");
}

/** Whether a command that the pattern matches may run what files of the project say. */
export function runsProjectFiles(pattern: Sequence): boolean {
  const [program, ...rest] = pattern;
  if (program?.kind !== "literal") return true;
  if (isProjectPath(program.text)) return true;
  const name = programName(program.text);
  const at = rest.findIndex((segment) => segment.kind !== "literal" || !isAside(segment.text));
  const target = at < 0 ? null : rest[at];
  if (LAUNCHERS.includes(name)) return target !== undefined && target !== null && runsProjectFiles(rest.slice(at));
  if (INTERPRETERS.includes(name)) return rest.some((segment) => !isPlain(segment, []));
  const plain = PLAIN_BY_PROGRAM.get(name);
  if (plain === undefined) return false;
  const [first] = rest;
  return first === undefined || !isPlain(first, plain);
}

function isPlain(segment: Sequence[number], plain: readonly string[]): boolean {
  return segment.kind === "literal" && (PLAIN_WORDS.includes(segment.text) || plain.includes(segment.text));
}

/** A program in the project itself, and not one of the system's. */
function isProjectPath(text: string): boolean {
  return text.includes("/") && !/^\/(usr\/|usr\/local\/)?s?bin\/[^/]+$/.test(text);
}

/** `/usr/bin/python3.11` is python. */
export function programName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1).replace(/(?<=[a-z])-?\d+(\.\d+)*$/, "");
}

/** Words before the script or the program: options, numbers, assignments. */
export function isAside(word: string): boolean {
  return /^(-|\d+(\.\d+)?[smhd]?$|[A-Za-z_]\w*=)/.test(word);
}
