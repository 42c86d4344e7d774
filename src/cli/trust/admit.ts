// Before a command widens anything, the daemon decides whether this process may, and logs that it did.
import type { Presence } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { Terminal } from "../agents/ports.ts";
import type { CliPorts } from "../ports.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";

export interface AdmitRequest {
  readonly command: string;
  readonly what: string;
  readonly presence: Presence | null;
}

export interface AdmitPorts extends Pick<CliPorts, "paint" | "print" | "printError"> {
  readonly terminal: Terminal;
  /** Allowed at once if no daemon runs and presence is not required: then no session could have started this process. */
  admit(asked: AdmitRequest): Promise<Answer<object>>;
}

/** Null: go on. */
export async function notAdmitted(
  ports: AdmitPorts,
  command: string,
  what: string,
  options: JsonOption,
): Promise<ExitCode | null> {
  const first = await ports.admit({ command, what, presence: null });
  if (first.ok) return null;
  const answer =
    first.code === "presence_required" && ports.terminal.isInteractive && !options.json
      ? await withPresence(ports, command, what)
      : first;
  if (answer.ok) return null;
  const fix =
    answer.code === "presence_required" ? "run the command at a terminal and type your passphrase" : answer.fix;
  return fail(ports, options, EXIT.daemon, `${answer.code}: ${answer.message}`, fix);
}

async function withPresence(ports: AdmitPorts, command: string, what: string): Promise<Answer<object>> {
  const name = await ports.terminal.enter("Your name (ambit presence list)", (text) => (text === "" ? "a name" : null));
  const passphrase = name === null ? null : await ports.terminal.secret(`Passphrase of ${name}`);
  if (name === null || passphrase === null)
    return { ok: false, code: "presence_required", message: "presence was not confirmed", fix: null };
  return ports.admit({ command, what, presence: { name, passphrase } });
}
