// The words behind `ambit hook <client>`: whose grants decide, and how long a person may take.
import { dialectOf } from "../../clients/hooks/dialects.ts";
import type { HookDialect } from "../../clients/hooks/hook-call.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";

export interface HookOptions {
  readonly dialect: HookDialect;
  readonly agent: string;
  readonly user: string | null;
  /** The folder whose workspace has the agent; null: the one the client runs the hook in. */
  readonly folder: string | null;
  /** Whether shell commands are moved into the agent's sandbox, where the client lets a hook replace them. */
  readonly isConfined: boolean;
  /** Whether the client has our MCP server, whose calls that server decides. */
  readonly hasServer: boolean;
  /** How long to wait for an approval. */
  readonly waitMilliseconds: number;
}

const waitMillisecondsMax = 3_600_000;

/** INVARIANT: a word that is not understood is refused: it may have been meant to narrow. */
export function readHookOptions([client = "", agent = "", ...rest]: readonly string[]): Result<HookOptions> {
  const dialect = dialectOf(client);
  if (dialect === null) return refuse("bad_value", `no client ${JSON.stringify(client.slice(0, 40))} is known`);
  if (agent === "") return refuse("bad_value", "the hook's command line names no agent");
  let options: HookOptions = {
    ...{ dialect, agent, user: null, folder: null, isConfined: true, hasServer: false, waitMilliseconds: 0 },
  };
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at];
    if (word === "--no-sandbox") {
      options = { ...options, isConfined: false };
      continue;
    }
    if (word === "--server") {
      options = { ...options, hasServer: true };
      continue;
    }
    const value = rest[++at] ?? "";
    if (word === "--user" && value !== "") options = { ...options, user: value };
    else if (word === "--in" && value.startsWith("/")) options = { ...options, folder: value };
    else if (word === "--wait" && /^\d{1,7}$/.test(value) && Number(value) <= waitMillisecondsMax)
      options = { ...options, waitMilliseconds: Number(value) };
    else return refuse("bad_value", `the hook does not support ${JSON.stringify(`${word} ${value}`.slice(0, 60))}`);
  }
  return done(options);
}
