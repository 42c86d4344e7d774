// `ambit trust`: shows what a project's authority would make possible, and has a person say whether it may.

import {
  type AgentSet,
  configDiagnostics,
  type LoadedAgent,
  type OpenedProject,
} from "../../agents/disk/loaded-agent.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { type Risk, verbEntry } from "../../core/authority/catalog.ts";
import { compactText } from "../../core/notation/printer.ts";
import { endpointSecrets } from "../../core/notation/servers/server-endpoint.ts";
import { requiredRisk } from "../../core/notation/servers/server-file.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { UNTRUSTED } from "../../org/schedules/file-schedule.ts";
import { askOnce, type ControlPorts } from "../control-ports.ts";
import { type AgentDiff, changeLine, compareSets, diffText } from "../diff/diff.ts";
import { serverLines } from "../mcp/edit.ts";
import { NO_WORKSPACE, type ProjectPorts } from "../project-opened.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";
import { fail } from "../terminal/problems.ts";
import { progressOf } from "../terminal/progress.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { declaredText } from "../tools/list.ts";
import { type AdmitPorts, notAdmitted } from "./admit.ts";

export interface TrustOptions {
  readonly yes: boolean;
  readonly json: boolean;
  readonly revoke: boolean;
  readonly all: boolean;
}

export interface TrustPorts extends ProjectPorts, AdmitPorts {}

export const TRUST_EXAMPLES: string = `
Examples:
  ambit trust              shows what the agents could do, and asks for confirmation
  ambit trust --all        every change, each with a request as the example
  ambit trust --yes        for scripts: does not ask
  ambit trust --json       shows what would be trusted as JSON; trusts nothing without --yes
  ambit trust --revoke     stops trusting the project; its files have no effect

Exit status: 0 trusted, 14 not trusted, 3 a configuration is not valid, 1 error.`;

export async function trust(ports: TrustPorts & ControlPorts, options: TrustOptions): Promise<ExitCode> {
  const progress = progressOf(ports, options);
  const opened = progress.over("reading agents", (step) => ports.openProject(step));
  if (opened === null) return fail(ports, options, EXIT.error, NO_WORKSPACE, null);
  if (options.revoke) return revoke(ports, options, opened);
  const { review, levels, store } = opened;
  const now = review.agents.map(({ own, source }) => ({ agent: own, source }));
  const diffs = progress.over("comparing agents", (step) =>
    compareSets(setOf(review.before), setOf(now), ports.protectedPaths, step),
  );
  const isSettled = review.state === "own" || review.state === "trusted";
  const tools =
    isSettled || !hasNewTools(opened)
      ? null
      : await progress.wait("loading tools to show what they declare", declarations(ports, opened.workspace));
  if (!options.json) show(ports, opened, diffs, tools, options.all);
  // While a level is broken nothing is shown, so the user cannot have reviewed what would apply once it is fixed.
  if (!isSettled && levels.broken.length > 0)
    return fail(ports, options, EXIT.invalidPolicy, levels.broken[0]?.message ?? "", null);
  // A server with a mistake was not shown, so nothing of the file can have been reviewed.
  const fault = opened.servers?.file.diagnostics.find(({ severity }) => severity === "error");
  if (!isSettled && fault !== undefined)
    return fail(ports, options, EXIT.invalidPolicy, `.ambit/mcp.yml: ${fault.message}`, "ambit mcp check");
  const agreed = isSettled || options.yes || (!options.json && (await asked(ports)));
  if (!isSettled && agreed) {
    const refused = await notAdmitted(ports, "trust", opened.workspace, options);
    if (refused !== null) return refused;
    const written = store?.trust(review.toTrust, review.digest);
    if (written?.ok !== true)
      return fail(ports, options, EXIT.error, `trust could not be stored: ${written?.message}`, null);
  }
  if (options.json)
    ports.print(jsonLine({ ...summary(opened), trusted: agreed, agents: diffs, tools: toolData(tools) }));
  else if (!isSettled)
    ports.print(agreed ? `${ports.paint.good("trusted")} ${visibleText(opened.workspace)}` : "not trusted");
  return agreed ? EXIT.ok : EXIT.notTrusted;
}

function summary({ workspace, review, problems, servers, triggers }: OpenedProject): object {
  const names = servers?.file.servers.map(({ name, endpoint, requires }) => ({
    ...{ name, risk: requiredRisk(requires), secrets: endpointSecrets(endpoint) },
    ...(endpoint.kind === "program" ? { command: endpoint.command } : { url: endpoint.address }),
    requires: requires.map((grant) => compactText(grant)),
  }));
  return {
    ...(names === undefined ? {} : { servers: names }),
    workspace,
    state: review.state,
    digest: review.digest,
    files: review.files,
    triggers: triggers.triggers,
    problems,
  };
}

async function asked(ports: TrustPorts): Promise<boolean> {
  if (ports.terminal.isInteractive)
    return ports.terminal.confirm("Trust this project? Its agents may then do all of the above.");
  ports.printError("no terminal to ask at; review the above and run: ambit trust --yes");
  return false;
}

function revoke(ports: TrustPorts, options: TrustOptions, { workspace, review, store }: OpenedProject): ExitCode {
  if (review.state === "own")
    return fail(ports, options, EXIT.error, "this is your own folder; there is nothing to revoke", null);
  const done = store?.revoke() ?? { ok: true };
  if (!done.ok) return fail(ports, options, EXIT.error, `trust could not be revoked: ${done.message}`, null);
  if (options.json) ports.print(jsonLine({ workspace, state: "untrusted", trusted: false }));
  else ports.print(`${visibleText(workspace)} is no longer trusted: its files have no effect`);
  return EXIT.ok;
}

type ToolsAnswer = Answer<ControlMessages["tools.all"]["answers"]>;

/** Files and packages of tools, as far as they wait for trust. */
function hasNewTools({ review }: OpenedProject): boolean {
  return review.files.some(({ path, change }) => path.startsWith(".ambit/tools") && change !== "same");
}

/** Tools of the project, not those of ambit. The daemon loads them in a sandbox that reaches nothing. */
async function declarations(ports: ControlPorts, workspace: string): Promise<ToolsAnswer> {
  const answer = await askOnce(ports, "tools.all", { cwd: workspace, agent: null });
  if (!answer.ok) return answer;
  const { tools, refused } = answer.value;
  return { ok: true, value: { tools: tools.filter(({ declared }) => declared !== null), refused } };
}

function toolData(answer: ToolsAnswer | null): object {
  if (answer === null) return { declared: [], refused: [], problem: null };
  if (!answer.ok) return { declared: [], refused: [], problem: answer.message };
  const { tools, refused } = answer.value;
  return {
    declared: tools.map(({ name, origin, risk, declared }) => ({ name, origin, risk, declared })),
    refused,
    problem: null,
  };
}

/** What code does is not in any record: a declaration only says what it may reach. */
function toolPage(answer: ToolsAnswer, paint: Paint): readonly string[] {
  const first = `${paint.warn("tools")}: agents here may call this code; review every file in .ambit/tools before you trust it`;
  if (!answer.ok) {
    const fix = answer.fix === null ? "" : `; fix: ${answer.fix}`;
    return [first, `  ${paint.warn("what it declares could not be read")}: ${visibleText(answer.message)}${fix}`];
  }
  const { tools, refused } = answer.value;
  const lines = RISKS.flatMap((risk) =>
    tools.flatMap((tool) =>
      tool.risk === risk && tool.declared !== null
        ? [
            `  ${paintRisk(paint, risk)}  ${visibleText(tool.name)} (${visibleText(tool.origin)}) declares ${declaredText(tool.declared)}`,
          ]
        : [],
    ),
  );
  return [
    first,
    ...lines,
    ...refused.map(({ source, why }) => `  ${paint.bad("not loaded")}  ${visibleText(source)}: ${visibleText(why)}`),
  ];
}

function show(
  ports: TrustPorts,
  opened: OpenedProject,
  diffs: readonly AgentDiff[],
  tools: ToolsAnswer | null,
  isAll: boolean,
): void {
  const { paint } = ports;
  const { review } = opened;
  ports.print(`${paint.strong(visibleText(opened.workspace))}  ${STATES[review.state]}`);
  const changed = review.files.filter(({ change }) => change !== "same");
  for (const { path, change } of isAll ? changed : changed.slice(0, filesShownMax))
    ports.print(paint.dim(`  ${visibleText(path)}  ${change}`));
  if (!isAll && changed.length > filesShownMax)
    ports.print(paint.dim(`  and ${changed.length - filesShownMax} more files: ambit trust --all`));
  for (const problem of opened.problems) ports.printError(`${paint.warn("warning")}: ${visibleText(problem)}`);
  for (const [diagnostic, source] of configDiagnostics(opened))
    ports.printError(renderDiagnostic(diagnostic, source, paint));
  if (opened.servers !== null)
    for (const diagnostic of opened.servers.file.diagnostics)
      ports.printError(renderDiagnostic(diagnostic, opened.servers.source, paint));
  // What concerns a whole org file is a diagnostic of each of its agents, and shown once.
  const found = review.agents.flatMap(({ own, source }) =>
    own.diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, source, paint)),
  );
  for (const text of new Set(found)) ports.printError(text);
  if (isAll) for (const one of diffs) ports.print(diffText(one, paint));
  else for (const line of changePage(diffs, paint)) ports.print(line);
  const runtime = opened.config?.config.runtime ?? [];
  for (const tree of runtime)
    ports.print(
      `${paint.warn("runtime")}: programs of every agent here may read and run ${visibleText(pathText(tree))}`,
    );
  if (tools !== null) for (const line of toolPage(tools, paint)) ports.print(line);
  const servers = serverPage(opened, paint);
  const triggers = triggerPage(opened, paint);
  for (const line of [...servers, ...triggers]) ports.print(line);
  if (diffs.length === 0 && runtime.length === 0 && tools === null && servers.length + triggers.length === 0)
    ports.print("no agent may do more or less");
}

/** The MCP servers of a changed `mcp.yml`, what has consequences first. */
function serverPage({ review, servers }: OpenedProject, paint: Paint): readonly string[] {
  const isChanged = review.files.some(({ path, change }) => path === servers?.source.name && change !== "same");
  if (servers === null || !isChanged) return [];
  const sorted = RISKS.flatMap((risk) =>
    servers.file.servers.filter(({ requires }) => requiredRisk(requires) === risk),
  );
  const head = "MCP servers, each in a sandbox of its own; agents call their tools with `tool.invoke`:";
  return sorted.length === 0
    ? []
    : [`${paint.warn("servers")}: ${head}`, ...sorted.flatMap((one) => serverLines(one, paint))];
}

/** Triggers that trust puts into effect. Each is shown, with what its agent is told. */
function triggerPage({ triggers: { triggers } }: OpenedProject, paint: Paint): readonly string[] {
  const started = triggers.filter(({ hindrance }) => hindrance === UNTRUSTED);
  if (started.length === 0) return [];
  return [
    `${paint.warn("triggers")}: a runner (\`ambit tasks work\`) starts these tasks by itself:`,
    ...started.map(({ name, agent, prompt, line, ...one }) => {
      const when = one.when ?? `after ${JSON.stringify(one.after)}`;
      const told = prompt.length > promptShownMax ? `${prompt.slice(0, promptShownMax)}...` : prompt;
      const words = [when, agent ?? "", JSON.stringify(name), told.replace(/\s+/g, " ")].map(visibleText);
      return `  ${paint.bad("+")} ${words.join("  ")}  ${paint.dim(visibleText(line))}`;
    }),
  ];
}

const promptShownMax = 400;
const filesShownMax = 8;
const changesShownMax = 30;
const RISKS: readonly Risk[] = ["high", "medium", "low"];

/** One line a change, what has consequences first; of medium and low risk what does not fit on a page is counted. */
function changePage(diffs: readonly AgentDiff[], paint: Paint): readonly string[] {
  const all = diffs.flatMap(({ agent, widened, narrowed }) => [
    ...widened.map((change) => ({ agent, change, sign: paint.bad("+"), risk: riskOf(change) })),
    ...narrowed.map((change) => ({ agent, change, sign: paint.good("-"), risk: riskOf(change) })),
  ]);
  const lines: string[] = [];
  let left = changesShownMax;
  for (const risk of RISKS) {
    const of = all.filter((one) => one.risk === risk);
    if (of.length === 0) continue;
    lines.push(`${paintRisk(paint, risk)} risk`);
    // INVARIANT: high risk is never left out, however much of it there is.
    const fitting = risk === "high" ? of : of.slice(0, Math.max(left, 3));
    left -= fitting.length;
    lines.push(
      ...fitting.map(({ agent, change, sign }) => `  ${sign} ${visibleText(agent)}  ${changeLine(change, paint)}`),
    );
    if (of.length > fitting.length)
      lines.push(paint.dim(`    and ${of.length - fitting.length} more: ambit trust --all`));
  }
  if (lines.length > 0)
    lines.push(paint.dim("+ is granted, - is revoked; with a request as the example: ambit trust --all"));
  return lines;
}

/** What is not a grant (who approves, what lands without review) has consequences for all of them. */
function riskOf({ grant }: AgentDiff["widened"][number]): Risk {
  return grant === null ? "high" : (verbEntry(/^[a-z_.]+/.exec(grant)?.[0] ?? "")?.risk ?? "high");
}

const STATES: Readonly<Record<OpenedProject["review"]["state"], string>> = {
  own: "is your own folder: no trust needed",
  untrusted: "is not trusted: its files have no effect",
  trusted: "is trusted and unchanged",
  changed: "was trusted and has changed since",
};

/** By id. Of two agents with one id both are shown: the second under the name of its file. */
function setOf(agents: readonly LoadedAgent[]): AgentSet {
  const set = new Map<string, LoadedAgent>();
  for (const one of agents) set.set(set.has(one.agent.id) ? `${one.agent.id} (${one.source.name})` : one.agent.id, one);
  return set;
}
