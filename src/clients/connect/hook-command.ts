// The shell line that a client's settings have as its hook. It needs nothing of ours to fail closed: whatever does not run, dies or
// says nothing ends in status 2 with a text.
import { shellQuoted } from "../hooks/rewrite.ts";

export interface HookCommandOptions {
  readonly client: string;
  readonly agent: string;
  readonly user: string | null;
  /** The folder whose workspace has the agent; null: where the client runs. */
  readonly folder: string | null;
  readonly isConfined: boolean;
  /** Whether our MCP server is in the client's settings, too. */
  readonly hasServer: boolean;
  /** Our native program, the folder of the daemon's sockets, and the words that start ambit. */
  readonly native: string;
  readonly daemon: string;
  readonly ambit: readonly string[];
}

/** What the client waits for its hook. The hook answers before: what runs out of time runs the tool in some clients. */
export const hookSeconds = 120;
const hookMilliseconds = 110_000;
const approvalMilliseconds = 100_000;

/** The first words of the line, which say whose it is. */
export const HOOK_MARK = ": ambit-hook";

/** Status 75: no daemon runs; 126 and 127: the native program is not there. None of them has read the input. */
export function hookCommand(options: HookCommandOptions): string {
  const { client, agent, user, folder, isConfined, hasServer, native, daemon, ambit } = options;
  const more = [
    ...(user === null ? [] : ["--user", user]),
    ...(folder === null ? [] : ["--in", folder]),
    ...["--wait", String(approvalMilliseconds)],
    ...(isConfined ? [] : ["--no-sandbox"]),
    ...(hasServer ? ["--server"] : []),
  ];
  const words = (list: readonly string[]): string => list.map(shellQuoted).join(" ");
  const first = words([native, "hook", daemon, String(hookMilliseconds), client, agent, ...more]);
  const second = words([...ambit, "hook", client, "--agent", agent, ...more]);
  return (
    `${HOOK_MARK} ${words([client, agent])}; ${first}; s=$?; case $s in 75|126|127) ${second}; s=$?;; esac; ` +
    `[ $s = 0 ] && exit 0; [ $s = 2 ] || echo "ambit: no verdict (status $s): the call is blocked" >&2; exit 2`
  );
}

/** The line in a settings file, as the client reads it; null if there is none. JSON, TOML and our plugin quote it alike. */
export function commandIn(text: string): string | null {
  const quoted = /"(?:[^"\\\n]|\\.)*"/g;
  for (const [literal] of text.matchAll(quoted)) {
    if (!literal.startsWith(`"${HOOK_MARK} `)) continue;
    try {
      const command: unknown = JSON.parse(literal);
      if (typeof command === "string") return command;
    } catch {
      // Another text that begins like it.
    }
  }
  return null;
}

export type HookLineChoice = Omit<HookCommandOptions, "native" | "daemon" | "ambit">;

/**
 * What a line was made for; null for a text of another form. INVARIANT: a line from a file runs only if it is the one that we make
 * for this choice ourselves: a project's settings are not to be believed.
 */
export function choiceIn(line: string): HookLineChoice | null {
  const mark = `${HOOK_MARK} `;
  const named = line.startsWith(mark) ? wordsAt(line, mark.length) : null;
  const started = named === null ? null : wordsAt(line, named.end + "; ".length);
  if (started === null) return null;
  const [, , , , client, agent, ...more] = started.words;
  if (client === undefined || agent === undefined) return null;
  const after = (option: string): string | null => more[more.indexOf(option) + 1] ?? null;
  return {
    ...{ client, agent },
    user: more.includes("--user") ? after("--user") : null,
    folder: more.includes("--in") ? after("--in") : null,
    isConfined: !more.includes("--no-sandbox"),
    hasServer: more.includes("--server"),
  };
}

/** Words as `shellQuoted` writes them, up to the end of a command. */
function wordsAt(line: string, start: number): { readonly words: readonly string[]; readonly end: number } {
  const word = /([A-Za-z0-9_./:=@%+-]+|'[^']*'(?:\\''[^']*')*) ?/y;
  const words: string[] = [];
  word.lastIndex = start;
  let end = start;
  for (let found = word.exec(line); found !== null; found = word.exec(line)) {
    const [, text = ""] = found;
    words.push(text.startsWith("'") ? text.slice(1, -1).replaceAll("'\\''", "'") : text);
    end = word.lastIndex;
  }
  return { words, end };
}
