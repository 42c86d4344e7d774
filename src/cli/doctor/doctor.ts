// `ambit doctor`: everything worth saying about the agents here and the machine they run on, and the fixes for it.

import type { Agent } from "../../agents/project/agent.ts";
import { connectionOf } from "../../clients/connect/connections.ts";
import type { TrialOutcome } from "../../clients/trial/client-trials.ts";
import type { Failure, FixableFailure, Result } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Step } from "../../core/ports/progress.ts";
import type { KeyStatus } from "../../core/ports/secret-key.ts";
import type { SinkStatus } from "../../core/ports/stores/sink.ts";
import { examine, type Section } from "../../doctor/examine.ts";
import { kindOf } from "../../doctor/finding.ts";
import type { Probe, ProbeTool } from "../../doctor/probe.ts";
import type { ProbeServer } from "../../doctor/servers.ts";
import { askCanary, type CanaryResult, canaryText, isTriable } from "../connect/canary.ts";
import type { ConnectPorts } from "../connect/connect.ts";
import { isUnheld, trialText, verifySeconds } from "../connect/verify.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail } from "../terminal/problems.ts";
import { type ProgressPorts, progressOf } from "../terminal/progress.ts";
import { type FixReport, fixAgents } from "./fix.ts";
import { sectionText, showSection } from "./text.ts";

/** What the command needs of the machine. */
export interface DoctorPorts extends ProgressPorts {
  readonly paint: Paint;
  /** Looks at all agents of the workspace, or at those named: ids or files. */
  probe(names: readonly string[], step?: Step): ProbeResult;
  /** The agent that another text of the same file would be. */
  readAgent(source: Source, id: string): Agent;
  /** Writes the file anew if it still holds the text it was read with. */
  replace(before: Source, text: string): ReplaceResult;
  /** Asks a person; null without a terminal. */
  confirm(question: string): Promise<boolean | null>;
  /** Whether this process may widen anything. */
  mayWiden(what: string): Promise<boolean>;
  /** The second copy of the log as the daemon has it, if one runs; null where none is kept. */
  sink?(): Promise<SinkStatus | null>;
  /** Where the key of the secrets comes from, if a daemon runs and keeps any. */
  secrets?(): Promise<KeyStatus | null>;
  /** The tools of the workspace, if a daemon runs: it alone loads them. */
  tools?(): Promise<readonly ProbeTool[]>;
  /** Hooks of ours in settings of clients, and whether each denied a canary call. `isInClients`: each client is started, too. */
  hooks?(isInClients: boolean): Promise<readonly HookReport[]>;
  /** The banner of shadow mode. */
  shadow?(): readonly string[];
  /** The MCP servers of the workspace, if a daemon runs: it alone knows what they say. */
  servers?(): Promise<readonly ProbeServer[]>;
  print(text: string): void;
  printError(text: string): void;
}

export interface HookReport {
  readonly client: string;
  readonly scope: string;
  readonly path: string;
  readonly canary: CanaryResult;
  /** What the client itself did; null where it was not started. */
  readonly trial: TrialOutcome | null;
  /** Ways around it, one sentence each. */
  readonly gaps: readonly string[];
}

export type ProbeResult = Result<Probe, FixableFailure>;

export type ReplaceResult = { readonly ok: true } | Failure;

export interface DoctorOptions {
  readonly json: boolean;
  readonly fix: boolean;
  readonly yes: boolean;
  readonly allowWidening: boolean;
  /** Start each connected client to try its hook. */
  readonly clients?: boolean;
}

export async function doctor(ports: DoctorPorts, names: readonly string[], options: DoctorOptions): Promise<ExitCode> {
  const progress = progressOf(ports, options);
  const sink = (await ports.sink?.()) ?? null;
  const secrets = (await ports.secrets?.()) ?? null;
  const tools = (await ports.tools?.()) ?? [];
  const servers = (await ports.servers?.()) ?? [];
  const probe = (): ProbeResult => {
    const found = progress.over("reading agents", (step) => ports.probe(names, step));
    return found.ok ? { ok: true, value: { ...found.value, sink, secrets, tools, servers } } : found;
  };
  const first = probe();
  if (!first.ok) return fail(ports, options, EXIT.error, first.message, first.fix);
  const fixes = options.fix ? await fixAgents(ports, first.value, options) : [];
  const isChanged = fixes.some(({ outcome }) => outcome === "written");
  const second = isChanged ? probe() : first;
  if (!second.ok) return fail(ports, options, EXIT.error, second.message, second.fix);
  const { value } = second;
  const sections = progress.over("examining agents", (step) => examine(value, step));
  const { agents, configs, users = [] } = second.value;
  const around = agents.flatMap((agent) => agent.around ?? []).map((source) => ({ source }));
  const sources = new Map([...around, ...agents, ...configs, ...users].map(({ source }) => [source.name, source]));
  const totals = totalsOf(sections);
  const hooks = (await ports.hooks?.(options.clients === true)) ?? [];
  const shadow = ports.shadow?.() ?? [];
  if (options.json) {
    ports.print(
      jsonLine({
        sections: sections.map((one) => showSection(one, sources)),
        fixes,
        ...{ hooks, shadow },
        ...totals,
      }),
    );
  } else {
    for (const section of sections) ports.print(sectionText(section, sources, ports.paint));
    for (const line of shadow) ports.print(`${ports.paint.warn("warning")} ${visibleText(line)}`);
    for (const { client, path, canary, trial, gaps } of hooks) {
      ports.print(`hook of ${client} in ${visibleText(path)}`);
      ports.print(`  ${canaryText(ports.paint, canary)}`);
      if (canary === "failed" || canary === "foreign") ports.print(`  fix: ambit connect ${client} --agent AGENT`);
      else if (trial === null) ports.print("  not verified in the client itself: ambit doctor --clients");
      if (trial !== null)
        ports.print(`  ${trialText(ports.paint, connectionOf(client)?.title ?? client, trial).trim()}`);
      for (const gap of gaps) ports.print(`  ${ports.paint.warn("gap")}: ${visibleText(gap)}`);
    }
    ports.print(footer(totals, ports.paint));
  }
  const exit = exitOf(sections, fixes);
  return exit === EXIT.ok && hooks.some(({ canary, trial }) => canary === "failed" || isUnheld(trial))
    ? EXIT.error
    : exit;
}

interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly warnings: number;
}

function totalsOf(sections: readonly Section[]): Totals {
  const sum = (count: (section: Section) => number): number => sections.reduce((all, one) => all + count(one), 0);
  return {
    passed: sum(({ passed }) => passed.length),
    failed: sum(({ failed }) => failed),
    warnings: sum(({ warnings }) => warnings),
  };
}

function footer({ passed, failed, warnings }: Totals, paint: Paint): string {
  const text = `${passed} passed, ${failed} failed, ${countText(warnings, "warning", "warnings")}`;
  return failed > 0 ? paint.bad(text) : warnings > 0 ? paint.warn(text) : paint.good(text);
}

/** A wrong policy is told before a machine that lacks something: it is the one that travels. */
function exitOf(sections: readonly Section[], fixes: readonly FixReport[]): ExitCode {
  const wrong = sections.filter(({ failed }) => failed > 0);
  const isMachine = ({ findings }: Section): boolean =>
    findings.every(({ code, severity }) => severity !== "error" || kindOf(code) === "machine");
  if (wrong.some((section) => !isMachine(section))) return EXIT.invalidPolicy;
  return wrong.length > 0 || fixes.some(({ outcome }) => outcome === "failed") ? EXIT.error : EXIT.ok;
}

/** Each hook is asked about a canary call and, where wanted, tried in its client. */
export async function hookReports(
  ports: Pick<ConnectPorts, "cwd" | "clientSettings">,
  isInClients: boolean,
): Promise<readonly HookReport[]> {
  const { clientSettings } = ports;
  const reports: HookReport[] = [];
  for (const { client, scope, path, command, isOwn } of clientSettings.hooks()) {
    const canary = isOwn ? await askCanary(ports, client, command) : "foreign";
    const gaps = await clientSettings.gaps({ client, scope, path });
    // One after the other: each client takes a whole processor to start.
    const trial =
      isTriable(canary) && isInClients ? await clientSettings.trial({ client, scope }, trialMilliseconds) : null;
    reports.push({ client, scope, path, canary, trial, gaps });
  }
  return reports;
}

const trialMilliseconds = (verifySeconds() ?? 1) * 1000;
