// Before a command widens anything, the daemon decides whether this process may, and logs that it did.
import type { Presence } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { Terminal } from "../agents/world.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { type Asked, fail } from "../terminal/problems.ts";
import type { World } from "../world.ts";

export interface AdmitAsked {
  readonly command: string;
  readonly what: string;
  readonly presence: Presence | null;
}

export interface AdmitWorld extends Pick<World, "paint" | "print" | "printError"> {
  readonly terminal: Terminal;
  /** Allowed at once if no daemon runs and presence is not required: then no session could have started this process. */
  admit(asked: AdmitAsked): Promise<Answer<object>>;
}

/** Null: go on. */
export async function notAdmitted(
  world: AdmitWorld,
  command: string,
  what: string,
  options: Asked,
): Promise<ExitCode | null> {
  const first = await world.admit({ command, what, presence: null });
  if (first.ok) return null;
  const answer =
    first.code === "presence_required" && world.terminal.isInteractive && !options.json
      ? await withPresence(world, command, what)
      : first;
  if (answer.ok) return null;
  const fix =
    answer.code === "presence_required" ? "run the command at a terminal and type your passphrase" : answer.fix;
  return fail(world, options, EXIT.daemon, `${answer.code}: ${answer.message}`, fix);
}

async function withPresence(world: AdmitWorld, command: string, what: string): Promise<Answer<object>> {
  const name = await world.terminal.enter("Your name (ambit presence list)", (text) => (text === "" ? "a name" : null));
  const passphrase = name === null ? null : await world.terminal.secret(`Passphrase of ${name}`);
  if (name === null || passphrase === null)
    return { ok: false, code: "presence_required", message: "presence was not confirmed", fix: null };
  return world.admit({ command, what, presence: { name, passphrase } });
}
