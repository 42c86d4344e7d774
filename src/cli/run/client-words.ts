// `ambit run coder claude -p hello`: where the client's own words begin, so that its options are not read as ours.

/** Options of `run` that take one value. `--pledge` takes several, so the client must follow a `--` there. */
const WITH_VALUE: ReadonlySet<string> = new Set(["--in", "--user", "--wait"]);
const OPEN_ENDED = "--pledge";

/** The same words with `--` before the client; as they are where that is written, or for another command. */
export function clientWords(argv: readonly string[]): readonly string[] {
  if (argv[0] !== "run") return argv;
  let isAgentSeen = false;
  for (let at = 1; at < argv.length; at++) {
    const word = argv[at] as string;
    if (word === "--" || word === OPEN_ENDED) return argv;
    if (WITH_VALUE.has(word)) at++;
    else if (!word.startsWith("-")) {
      if (isAgentSeen) return [...argv.slice(0, at), "--", ...argv.slice(at)];
      isAgentSeen = true;
    }
  }
  return argv;
}
