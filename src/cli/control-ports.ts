// The port of commands that use the daemon's control socket; starts the daemon if none runs.

import type { ControlMessages, DaemonStatus } from "../core/ports/daemon/daemon-control.ts";
import { type Answer, type MessageClient, NO_DAEMON, type Refusal } from "../core/ports/daemon/exchange.ts";
import type { Terminal } from "./agents/ports.ts";
import { visibleText } from "./terminal/cells.ts";
import { EXIT, type ExitCode } from "./terminal/exit.ts";
import { jsonLine } from "./terminal/json-line.ts";
import type { Paint } from "./terminal/paint.ts";

export interface ControlPorts {
  readonly paint: Paint;
  readonly terminal: Terminal;
  now(): number;
  /** The workspace of a folder, as the log and sessions name it; of the current folder by default; null outside any. */
  workspaceAt?(folder?: string): string | null;
  /** Connects, starting the daemon where it is not running. */
  control(): Promise<Answer<MessageClient<ControlMessages>>>;
  /** Connects to a running daemon; null if none runs. */
  running(): Promise<Answer<DaemonStatus | null>>;
  /** The control socket of the daemon that runs now; null if none runs. Starts none. */
  serving?(): Promise<MessageClient<ControlMessages> | null>;
  /** Why no daemon starts automatically here; null if one does. */
  unstarted?(): Refusal | null;
  print(text: string): void;
  printError(text: string): void;
}

/** One question, one answer, and the connection is closed again. */
export async function askOnce<K extends keyof ControlMessages>(
  ports: ControlPorts,
  name: K,
  value: ControlMessages[K]["asks"],
): Promise<Answer<ControlMessages[K]["answers"]>> {
  const control = await ports.control();
  if (!control.ok) return control;
  try {
    return (await control.value.ask(name, value as never)) as Answer<ControlMessages[K]["answers"]>;
  } finally {
    control.value.close();
  }
}

/** The daemon is not there, is another one, or does not take this from us. */
const DAEMONS: ReadonlySet<string> = new Set([
  "not_available",
  NO_DAEMON,
  "control_refused",
  "presence_required",
  "wrong_protocol",
  "no_answer",
  "folder_refused",
  "owned",
]);

/** The command that lists valid ids, for unknown ones. */
const LISTED: Readonly<Record<string, string>> = {
  unknown_approval: "ambit approvals list",
  unknown_entry: "ambit log",
  unknown_link: "ambit agents tree",
  unknown_draft: "ambit changes list --all",
  unknown_task: "ambit tasks list",
  unknown_schedule: "ambit schedules list",
  unknown_store: "ambit store list",
};

/** A refusal as every command tells it. */
export function tellRefusal(ports: ControlPorts, refusal: Refusal, json: boolean): ExitCode {
  const { code, message } = refusal;
  const fix = refusal.fix ?? (Object.hasOwn(LISTED, code) ? (LISTED[code] ?? null) : null);
  if (json) ports.print(jsonLine({ ok: false, code, message, fix }));
  else {
    const hint = fix === null ? "" : `\n  fix: ${visibleText(fix)}`;
    // What a program wrote may have several lines, of which none looks like one of ours.
    const text = message.split("\n").map(visibleText).join("\n  | ");
    ports.printError(`${ports.paint.bad("error")}: ${code}: ${text}${hint}`);
  }
  return DAEMONS.has(code) ? EXIT.daemon : EXIT.error;
}
