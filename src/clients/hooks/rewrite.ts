// A client's shell command as a call of our `shell` tool, in words for the client's own shell.
import type { JsonObject } from "../../core/base/json.ts";

export interface ConfinedScript {
  readonly agent: string;
  /** The hook's own session, through which it is called. */
  readonly session: string;
  /** Arguments of the `shell` tool. */
  readonly input: JsonObject;
  readonly waitSeconds: number;
}

/**
 * INVARIANT: every word is quoted, and what the model wrote is printable ASCII without backslashes before quotes: no shell sees
 * anything of the script, and no terminal that a client types the command into takes a character of it for a key.
 */
export function rewrittenCommand(
  ambit: readonly string[],
  { agent, session, input, waitSeconds }: ConfinedScript,
): string {
  const words = [
    ...[...ambit, "call", agent, "shell", plainJson(input), "--session", session],
    ...(waitSeconds === 0 ? [] : ["--wait", String(waitSeconds)]),
  ];
  return words.map(shellQuoted).join(" ");
}

/** The same value, with every character escaped that a shell or a terminal could take for something else. */
function plainJson(value: JsonObject): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/\\(["\\])|['!]|[^\x20-\x7e]/g, (found, after: string | undefined) =>
    escaped(after ?? found),
  );
}

export function shellQuoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
