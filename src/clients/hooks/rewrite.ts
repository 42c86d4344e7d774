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

/** INVARIANT: every word is quoted: the client's shell sees nothing of the script. */
export function rewrittenCommand(
  ambit: readonly string[],
  { agent, session, input, waitSeconds }: ConfinedScript,
): string {
  const words = [
    ...[...ambit, "call", agent, "shell", JSON.stringify(input), "--session", session],
    ...(waitSeconds === 0 ? [] : ["--wait", String(waitSeconds)]),
  ];
  return words.map(shellQuoted).join(" ");
}

export function shellQuoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
