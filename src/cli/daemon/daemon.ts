// `ambit daemon`: shows, starts and stops the daemon, which otherwise starts when a command needs it.

import type { ControlMessages, DaemonStatus, SessionView } from "../../core/ports/daemon/daemon-control.ts";
import { type Answer, type MessageClient, NO_DAEMON } from "../../core/ports/daemon/exchange.ts";
import type { SinkStatus } from "../../core/ports/stores/sink.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import type { JsonOption } from "../terminal/problems.ts";

export interface DaemonPorts extends ControlPorts {
  /** Like `control`, and makes the daemon's folder wherever the state lies: a person asked for it by name. */
  startDaemon(): Promise<Answer<MessageClient<ControlMessages>>>;
  /** Waits until the daemon has exited, if it still is this process. */
  awaitDaemonEnd(pid: number): Promise<"absent" | "ended" | "stays">;
  /** Ends one that cannot be told to. */
  endDaemon(): Promise<"absent" | "ended" | "stays">;
  /** The last lines of its log; null where there is none. */
  daemonLog(linesMax: number): readonly string[] | null;
}

export async function daemonStatus(ports: DaemonPorts, { json }: JsonOption): Promise<ExitCode> {
  const running = await ports.running();
  if (!running.ok) return tellRefusal(ports, running, json);
  if (running.value === null) {
    ports.print(json ? jsonLine({ running: false }) : `the daemon is not running; ${startingText(ports)}`);
    return EXIT.daemon;
  }
  ports.print(json ? jsonLine({ running: true, ...running.value }) : statusText(running.value, ports));
  return EXIT.ok;
}

/** Whether one comes when it is needed, and what to do where none does. */
export function startingText(ports: Pick<DaemonPorts, "unstarted">): string {
  const refusal = ports.unstarted?.() ?? null;
  if (refusal === null) return "it starts when needed";
  return `it does not start automatically here: ${visibleText(refusal.message)}\n  fix: ${visibleText(refusal.fix ?? "ambit daemon start")}`;
}

export async function daemonStart(ports: DaemonPorts, { json }: JsonOption): Promise<ExitCode> {
  const control = await ports.startDaemon();
  if (!control.ok) return tellRefusal(ports, control, json);
  const status = await control.value.ask("daemon.status", {});
  control.value.close();
  if (!status.ok) return tellRefusal(ports, status, json);
  ports.print(json ? jsonLine({ running: true, ...status.value }) : `running, process ${status.value.pid}`);
  return EXIT.ok;
}

/** Ends when the daemon has. */
export async function daemonStop(ports: DaemonPorts, { json }: JsonOption): Promise<ExitCode> {
  const running = await ports.running();
  const told = running.ok && running.value !== null ? await askOnce(ports, "daemon.stop", {}) : running;
  // A refused client must not kill the daemon; a daemon that does not respond is killed by its pid.
  if (!told.ok && !UNSPOKEN.includes(told.code)) return tellRefusal(ports, told, json);
  const pid = told.ok && running.ok && running.value !== null ? running.value.pid : null;
  const end = pid === null ? await ports.endDaemon() : await ports.awaitDaemonEnd(pid);
  if (end === "stays") {
    const message = "the daemon did not exit";
    return tellRefusal(ports, { ok: false, code: "not_available", message, fix: "ambit daemon logs" }, json);
  }
  const wasRunning = pid !== null || end === "ended";
  if (json) ports.print(jsonLine({ running: false, wasRunning }));
  else ports.print(wasRunning ? "the daemon has stopped" : "the daemon was not running");
  return EXIT.ok;
}

/** Codes of a daemon that does not respond. */
const UNSPOKEN: readonly string[] = ["not_available", NO_DAEMON, "wrong_protocol", "no_answer"];

export const logLinesDefault = 50;

export function daemonLogs(ports: DaemonPorts, linesMax: number, { json }: JsonOption): ExitCode {
  const lines = ports.daemonLog(linesMax);
  if (json) ports.print(jsonLine({ lines: lines ?? [] }));
  else if (lines === null || lines.length === 0) ports.print("the daemon has no log yet");
  else ports.print(lines.map(visibleText).join("\n"));
  return EXIT.ok;
}

function statusText(status: DaemonStatus, { paint, now }: DaemonPorts): string {
  const { pid, version, started, state, waiting, entries, sandboxes, connections, isFrozen } = status;
  const age = ageOf(now() - started);
  const denied = status.denials.map(({ code, times }) => `${visibleText(code)} ${times}`).join(", ");
  return [
    `${paint.good("running")}: process ${pid}, version ${visibleText(version)}, since ${age}`,
    ...(isFrozen ? [paint.bad("frozen: every call is denied until you run: ambit thaw")] : []),
    `  state        ${visibleText(state)}`,
    `  approvals    ${waiting === 0 ? "none pending" : paint.warn(`${waiting} pending; list them with: ambit approvals list`)}`,
    `  entries      ${entries}`,
    ...sinkLines(status.sink ?? null, paint),
    `  denials      ${denied === "" ? "none in the last 24 hours" : denied}`,
    `  sandboxes    ${sandboxes}`,
    `  connections  ${connections}`,
    `  sessions     ${status.sessions.length}`,
    ...status.sessions.map((session) => sessionLine(session, now(), paint)),
    ...status.problems.map((problem) => `${paint.warn("problem")}: ${visibleText(problem)}`),
  ].join("\n");
}

function sinkLines(sink: SinkStatus | null, paint: Paint): readonly string[] {
  if (sink === null) return [];
  const { target, kept, behind, isDenying } = sink;
  const place = kept === null ? "its last entry is not known" : `complete up to ${kept}, ${behind ?? 0} behind`;
  const denying = isDenying ? paint.bad("; calls are denied until it catches up") : "";
  return [`  second copy  ${visibleText(target)}: ${place}${denying}`];
}

function sessionLine(
  { session, agent, face, workspace, opened, calls, running }: SessionView,
  now: number,
  paint: Paint,
): string {
  const where = workspace === null ? "" : ` in ${visibleText(workspace)}`;
  const counts = `${countText(calls, "call", "calls")}, ${running} running, since ${ageOf(now - opened)}`;
  return `    ${visibleText(agent)}${where} ${paint.dim(`(${visibleText(face)} ${visibleText(session)})`)}: ${counts}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
];

function ageOf(milliseconds: number): string {
  const [length, unit] = UNITS.find(([each]) => milliseconds >= each) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(milliseconds / length))}${unit}`;
}
