// `ambit status`: where one is, whether it counts, which agents there are, and what is not protected.

import { configDiagnostics, type OpenedProject } from "../../agents/disk/loaded-agent.ts";
import type { ReviewedAgent, TrustState } from "../../agents/project/review.ts";
import type { TrustStatus } from "../../agents/project/trust.ts";
import type { Risk } from "../../core/authority/catalog.ts";
import type { Diagnostic, Severity } from "../../core/notation/diagnostic.ts";
import { instantText } from "../../core/notation/instant.ts";
import type { DaemonStatus } from "../../core/ports/daemon/daemon-control.ts";
import type { ControlPorts } from "../control-ports.ts";
import { startingText } from "../daemon/daemon.ts";
import { NO_WORKSPACE, type ProjectPorts } from "../project-opened.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";
import { progressOf } from "../terminal/progress.ts";
import { renderDiagnostic } from "../terminal/render.ts";

export const STATUS_EXAMPLES: string = `
Examples:
  ambit status
  ambit status --all
  ambit status --json

Exit status: 0 shown, 3 a configuration is not valid, 1 error.`;

interface AgentStatus {
  readonly agent: string;
  readonly file: string;
  readonly standing: TrustStatus["kind"];
  /** Grants as written, by the risk of their verb. */
  readonly risk: Readonly<Record<Risk, number>>;
  readonly errors: number;
  readonly warnings: number;
}

export interface StatusPorts extends ProjectPorts, Pick<ControlPorts, "now" | "running" | "unstarted"> {}

export interface StatusOptions {
  readonly json: boolean;
  readonly all: boolean;
}

export async function status(ports: StatusPorts, options: StatusOptions): Promise<ExitCode> {
  const running = await ports.running();
  const daemon = running.ok ? running.value : null;
  const opened = progressOf(ports, options).over("reading agents", (step) => ports.openProject(step));
  if (opened === null) {
    if (options.json) ports.print(jsonLine({ workspace: null, daemon, notProtected: NOT_PROTECTED }));
    else ports.print([NO_WORKSPACE, daemonLine(daemon, ports), notProtected(NOT_PROTECTED, ports.paint)].join("\n"));
    return EXIT.ok;
  }
  const said = configDiagnostics(opened);
  const agents = opened.review.agents.map(statusOf);
  const levels = said.map(([diagnostic]) => diagnostic);
  const total = (severity: Severity): number =>
    count(levels, severity) + agents.reduce((sum, one) => sum + (severity === "error" ? one.errors : one.warnings), 0);
  const problems = [...opened.problems, ...shadowLines(opened, ports.now())];
  const holes = [...ownHoles(opened), ...NOT_PROTECTED];
  if (options.json)
    ports.print(
      jsonLine({
        workspace: opened.workspace,
        trust: opened.review.state,
        digest: opened.review.digest,
        agents,
        errors: total("error"),
        warnings: total("warning"),
        problems,
        daemon,
        notProtected: holes,
      }),
    );
  else {
    for (const [diagnostic, source] of said) ports.printError(renderDiagnostic(diagnostic, source, ports.paint));
    for (const problem of problems) ports.printError(`${ports.paint.warn("warning")}: ${visibleText(problem)}`);
    const mistakes = `${countText(total("error"), "error", "errors")}, ${countText(total("warning"), "warning", "warnings")}`;
    ports.print([head(opened, ports.paint), ...table(agents, ports.paint), mistakes].join("\n"));
    ports.print(daemonLine(daemon, ports));
    for (const line of sessionLines(daemon?.sessions ?? [], opened.workspace, options.all)) ports.print(line);
    ports.print(notProtected(holes, ports.paint));
  }
  return opened.levels.broken.length > 0 ? EXIT.invalidPolicy : EXIT.ok;
}

function statusOf({ own, source, status }: ReviewedAgent): AgentStatus {
  const risk = { low: 0, medium: 0, high: 0 };
  for (const { verb } of own.grants) risk[verb.risk]++;
  return {
    agent: own.id,
    file: source.name,
    standing: status.kind,
    risk,
    errors: count(own.diagnostics, "error"),
    warnings: count(own.diagnostics, "warning"),
  };
}

function count(diagnostics: readonly Diagnostic[], wanted: Severity): number {
  return diagnostics.filter(({ severity }) => severity === wanted).length;
}

function head({ workspace, review }: OpenedProject, paint: Paint): string {
  return `${paint.strong(visibleText(workspace))}  ${STATES[review.state](paint)}`;
}

const STATES: Readonly<Record<TrustState, (paint: Paint) => string>> = {
  own: (paint) => paint.good("your own"),
  untrusted: (paint) => `${paint.bad("not trusted")}: its files have no effect until you run: ambit trust`,
  trusted: (paint) => paint.good("trusted"),
  changed: (paint) => `${paint.warn("changed since it was trusted")}; to review the changes, run: ambit trust`,
};

const RISKS: readonly Risk[] = ["low", "medium", "high"];

function table(agents: readonly AgentStatus[], paint: Paint): readonly string[] {
  if (agents.length === 0) return ["no agents here; create one: ambit agents new <id>"];
  const width = Math.max(...agents.map(({ agent }) => visibleText(agent).length));
  return agents.map(({ agent, standing, risk, errors }) => {
    const counts = RISKS.map((one) => `${risk[one]} ${paintRisk(paint, one)}`).join("  ");
    const wrong = errors === 0 ? "" : `  ${paint.bad(countText(errors, "error", "errors"))}`;
    return `  ${visibleText(agent).padEnd(width)}  ${counts}  ${paint.dim(standing)}${wrong}`;
  });
}

/** What of this machine leaves a hole, besides what the version leaves to everybody. */
function ownHoles({ user }: OpenedProject): readonly string[] {
  return user?.config.bare === true ? ["the user's configuration lets processes run without a sandbox (bare)"] : [];
}

/** The banner of shadow mode, and what keeps it from being one. */
export function shadowLines({ user }: Pick<OpenedProject, "user">, now: number): readonly string[] {
  if (user === null || user.config.broken) return [];
  const { mode, shadow } = user.config;
  if (mode !== "shadow" && shadow.size > 0) return ["`shadow` in your config.yml has no effect without `mode: shadow`"];
  if (mode !== "shadow") return [];
  if (shadow.size === 0)
    return [
      "`mode: shadow` in your config.yml names no agent: write `shadow: { coder: 2026-12-01T00:00:00Z }` beside it",
    ];
  return [...shadow].map(([agent, end]) =>
    now < end
      ? `SHADOW MODE: calls of clients for ${agent} are recorded and not blocked until ${instantText(end)}: ambit log --would-deny`
      : `shadow mode of ${agent} ended at ${instantText(end)}: calls are enforced; remove it from your config.yml`,
  );
}

/** docs/limits.md says it at length. */
const NOT_PROTECTED: readonly string[] = [
  "only calls through ambit are checked: programs you start yourself run with all of your permissions",
  "unconfined programs of the same user can write the state folder, approve calls and trust projects",
];

/** What waits, and what was denied since yesterday. */
function daemonLine(daemon: DaemonStatus | null, ports: Pick<StatusPorts, "paint" | "unstarted">): string {
  const { paint } = ports;
  if (daemon === null) return paint.dim(`the daemon is not running; ${startingText(ports)}`);
  const { isFrozen, waiting, sessions, denials } = daemon;
  const denied = denials.map(({ code, times }) => `${times} ${code}`).join(", ");
  return [
    ...(isFrozen ? [paint.bad("frozen: every call is denied until you run: ambit thaw")] : []),
    waiting === 0
      ? "no pending approvals"
      : paint.warn(`${countText(waiting, "pending approval", "pending approvals")}: ambit approvals list`),
    `${countText(sessions.length, "session", "sessions")}; ${denied === "" ? "no denials in the last 24 hours" : `denials in the last 24 hours: ${denied}`}`,
  ].join("\n");
}

const sessionsShownMax = 20;

/** Sessions of this workspace, each with its user; those of other workspaces are counted, or listed with their workspace. */
function sessionLines(sessions: DaemonStatus["sessions"], workspace: string, isAll: boolean): readonly string[] {
  const here = sessions.filter((session) => isAll || session.workspace === workspace);
  const elsewhere = sessions.length - here.length;
  const lines = here.slice(0, sessionsShownMax).map(({ session, agent, user, face, calls, running, ...one }) => {
    const of = one.workspace === workspace ? "" : ` of ${visibleText(one.workspace ?? "no workspace")}`;
    const by = `${of}${user === null ? "" : `  for ${visibleText(user)}`}`;
    const busy = running === 0 ? "" : `, ${running} running`;
    return `  ${visibleText(agent)}${by}  ${visibleText(face)}  ${countText(calls, "call", "calls")}${busy}  ${visibleText(session)}`;
  });
  const more = here.length - lines.length;
  return [
    ...lines,
    ...(more === 0 ? [] : [`  and ${more} more`]),
    ...(elsewhere === 0
      ? []
      : [`  ${countText(elsewhere, "session", "sessions")} in other workspaces: ambit status --all`]),
  ];
}

function notProtected(lines: readonly string[], paint: Paint): string {
  return ["not protected:", ...lines.map((line) => `  ${paint.warn("!")} ${line}`)].join("\n");
}
