// `ambit org show`: who reports to whom, what each may do, and the line that says so. `ambit org budgets`: what each budget has spent.
import type { WholeOrg } from "../../agents/disk/org-members.ts";
import type { Span } from "../../core/authority/grant.ts";
import { isAsStrict } from "../../core/notation/policy/outer-policies.ts";
import type { Capability, Ruling } from "../../core/notation/policy/policy-table.ts";
import { place } from "../../core/notation/source.ts";
import type { BudgetView } from "../../core/ports/daemon/task-messages.ts";
import type { Budget } from "../../org/budget.ts";
import { type OrgAgent, type OrgRuling, orgRulings } from "../../org/org.ts";
import { clientOf } from "../../org/org-client.ts";
import { NO_TRIGGERS, type WrittenTrigger } from "../../org/schedules/file-schedule.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";
import type { OrgPorts } from "./ports.ts";

export const NO_ORG = "there is no org file here";
export const NO_ORG_FIX = "write .ambit/org.md, or: ambit org import QUORUM.md";

interface ShownRuling {
  readonly capability: string;
  readonly decision: Ruling;
  readonly from: OrgRuling["from"] | "config";
  /** `.ambit/org.md:4`; null for the base. */
  readonly line: string | null;
}

interface ShownAgent {
  readonly id: string;
  readonly role: string;
  readonly reportsTo: string | null;
  readonly client: string;
  readonly model: string | null;
  readonly folder: string;
  readonly budget: Readonly<Record<string, number>> | null;
  /** Of the agent and everyone below it. */
  readonly teamBudget: Readonly<Record<string, number>> | null;
  readonly standing: string;
  readonly capabilities: readonly ShownRuling[];
}

export async function orgShow(ports: OrgPorts, options: JsonOption): Promise<ExitCode> {
  const whole = ports.orgs.whole();
  if (whole === null) return fail(ports, options, EXIT.error, NO_ORG, NO_ORG_FIX);
  const members = whole.org.agents.map((agent) => shownAgent(ports, whole, agent));
  const agents = [...members, ...(await hiredAgents(ports, members))];
  const budget = budgetIn(whole.org.budget);
  const problems = problemsOf(whole);
  const { name, description, mission } = whole.org;
  const { triggers } = ports.openProject()?.triggers ?? NO_TRIGGERS;
  const hasErrors = problems.some(({ diagnostic }) => diagnostic.severity === "error");
  if (options.json) {
    const shown = { name, description, mission, budget, agents, triggers, problems: problems.map(showProblem) };
    ports.print(jsonLine(shown));
  } else {
    printProblems(ports, problems);
    const limits = budget === null ? "" : `  ${ports.paint.dim(`budget ${budgetText(budget)}`)}`;
    ports.print(`${ports.paint.strong(visibleText(name === "" ? "(no name)" : name))}${limits}`);
    for (const agent of topOf(agents)) printAgent(ports.paint, agent, agents, 1, (line) => ports.print(line));
    for (const one of triggers) ports.print(triggerText(ports.paint, one));
    ports.print(
      `${countText(agents.length, "agent", "agents")}, ${countText(triggers.length, "trigger", "triggers")}${trustLine(agents)}`,
    );
  }
  return hasErrors ? EXIT.invalidPolicy : EXIT.ok;
}

function triggerText(paint: Paint, { name, agent, line, hindrance, ...one }: WrittenTrigger): string {
  const when = one.when ?? (one.after === null ? "never" : `after ${JSON.stringify(one.after)}`);
  const head = `${visibleText(when)}  ${visibleText(agent ?? "")}  ${visibleText(JSON.stringify(name))}`;
  const why = hindrance === null ? "" : `  ${paint.warn(visibleText(hindrance))}`;
  return `  ${head}  ${paint.dim(visibleText(line))}${why}`;
}

type Problems = Parameters<typeof printProblems>[1];

function problemsOf({ org, sources }: WholeOrg): Problems {
  const all = [...org.diagnostics, ...org.agents.flatMap(({ diagnostics }) => diagnostics)];
  return all.map((diagnostic) => ({
    diagnostic,
    source: sources.get(diagnostic.span.source) ?? { name: diagnostic.span.source, text: "" },
  }));
}

function shownAgent(ports: OrgPorts, whole: WholeOrg, agent: OrgAgent): ShownAgent {
  const { client, model } = clientOf(whole.org, agent);
  const loaded = ports.loadAgent(agent.id);
  const folder = agent.folder?.value;
  return {
    id: agent.id,
    role: agent.role,
    reportsTo: agent.reportsTo,
    client: client.name,
    model: model?.text ?? null,
    folder: folder?.kind === "scalar" && typeof folder.value === "string" ? folder.value : ".",
    budget: budgetIn(agent.budget),
    teamBudget: budgetIn(agent.teamBudget),
    standing: !loaded.ok || loaded.value.agent.refused ? "refused" : (loaded.value.trust?.status.kind ?? "own"),
    capabilities: shownRulings(ports, whole, agent),
  };
}

function budgetIn(budget: Budget | null): ShownAgent["budget"] {
  return budget === null || budget.size === 0 ? null : Object.fromEntries(budget);
}

function budgetText(budget: NonNullable<ShownAgent["budget"]>): string {
  return Object.entries(budget)
    .map(([key, one]) => `${key} ${one}`)
    .join(", ");
}

/** Agents that others hired: the daemon knows them, if one runs. They have no text, and what their hirer may pass on. */
async function hiredAgents(ports: OrgPorts, members: readonly ShownAgent[]): Promise<readonly ShownAgent[]> {
  const workspace = ports.workspaceAt?.() ?? null;
  const running = workspace === null ? null : await ports.running();
  if (workspace === null || running?.ok !== true || running.value === null) return [];
  const found = await askOnce(ports, "tasks.hired", { workspace });
  return (found.ok ? found.value.hired : []).flatMap(({ id, role, superior, member }) => {
    const above = members.find((one) => one.id === member);
    if (above === undefined) return [];
    const { client, model, folder } = above;
    const limits = { budget: null, teamBudget: null, capabilities: [] };
    const standing = above.standing === "refused" ? "refused" : "hired";
    return [{ id, role, reportsTo: superior, client, model, folder, standing, ...limits }];
  });
}

/** What resolves for the agent, by the file and by the configurations around it. */
export function shownRulings(ports: OrgPorts, whole: WholeOrg, agent: OrgAgent): readonly ShownRuling[] {
  return orgRulings(whole.org, agent).map((one) => shownRuling(ports, whole, agent.id, one));
}

/** With what config.yml says: rulings about the agent by name narrow it, defaults stand beside those of the file. */
function shownRuling(ports: OrgPorts, whole: WholeOrg, id: string, ruling: OrgRuling): ShownRuling {
  const policies = ports.openProject()?.levels.policies ?? null;
  const capability = ruling.capability as Capability;
  const outer = [
    [policies?.agents.get(id)?.get(capability), policies?.places?.agents.get(id)?.get(capability)],
    [ruling.from === "agent" ? undefined : policies?.org?.get(capability), policies?.places?.org.get(capability)],
  ] as const;
  let found: ShownRuling = {
    capability: ruling.capability,
    decision: ruling.ruling,
    from: ruling.from,
    line: lineOf(whole, ruling.span),
  };
  for (const [decision, span] of outer) {
    if (decision === undefined || decision === found.decision) continue;
    const isStricter = isAsStrict(new Map([[capability, decision]]), new Map([[capability, found.decision]]));
    if (isStricter || found.from === "base")
      found = {
        capability: ruling.capability,
        decision,
        from: "config",
        line: span === undefined ? null : span.source,
      };
  }
  return found;
}

function lineOf({ sources }: WholeOrg, span: Span | null): string | null {
  const source = span === null ? undefined : sources.get(span.source);
  return span === null || source === undefined ? null : `${source.name}:${place(source, span.start).line}`;
}

/** Those that report to none, or to an agent that is not there. */
function topOf(agents: readonly ShownAgent[]): readonly ShownAgent[] {
  return agents.filter(({ reportsTo }) => reportsTo === null || !agents.some(({ id }) => id === reportsTo));
}

function printAgent(
  paint: Paint,
  agent: ShownAgent,
  all: readonly ShownAgent[],
  depth: number,
  print: (line: string) => void,
): void {
  const indent = "  ".repeat(depth);
  const { id, role, client, model, folder, budget, teamBudget, standing } = agent;
  const named = role === id ? "" : `  ${visibleText(role)}`;
  const runs = `${visibleText(client)}${model === null ? "" : ` ${visibleText(model)}`} in ${visibleText(folder)}`;
  const limits = [
    ...(budget === null ? [] : [`  budget ${budgetText(budget)}`]),
    ...(teamBudget === null ? [] : [`  team budget ${budgetText(teamBudget)}`]),
    ...(standing === "hired" ? ["  hired"] : []),
  ].join("");
  const mark = standing === "refused" ? paint.bad("✗") : standing === "untrusted" ? paint.dim("○") : paint.good("●");
  print(`${indent}${mark} ${paint.strong(visibleText(id))}${named}  ${paint.dim(`${runs}${limits}`)}`);
  if (standing === "refused") print(`${indent}    ${paint.bad("grants nothing until its errors are fixed")}`);
  for (const { capability, decision, from, line } of standing === "refused" ? [] : agent.capabilities) {
    const painted = { allow: paint.good, ask: paint.warn, deny: paint.bad }[decision](decision.padEnd(5));
    const origin = line === null ? from : `${from.padEnd(6)} ${visibleText(line)}`;
    print(`${indent}    ${visibleText(capability).padEnd(10)} ${painted}  ${paint.dim(origin)}`);
  }
  for (const report of all.filter(({ reportsTo }) => reportsTo === id))
    printAgent(paint, report, all, depth + 1, print);
}

function trustLine(agents: readonly ShownAgent[]): string {
  return agents.some(({ standing }) => standing === "untrusted" || standing === "waiting")
    ? "; not all of it is in effect until you run: ambit trust"
    : "";
}

/** `ambit org budgets`. */
export async function orgBudgets(ports: OrgPorts, options: JsonOption): Promise<ExitCode> {
  const workspace = ports.workspaceAt?.() ?? null;
  if (workspace === null || ports.orgs.whole() === null) return fail(ports, options, EXIT.error, NO_ORG, NO_ORG_FIX);
  const found = await askOnce(ports, "org.budgets", { workspace });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const { budgets } = found.value;
  if (options.json) ports.print(jsonLine({ budgets }));
  else if (budgets.length === 0) ports.print("no agent of this org has a budget that is in effect");
  else for (const line of budgetLines(budgets, ports)) ports.print(line);
  return EXIT.ok;
}

function budgetLines(budgets: readonly BudgetView[], { paint }: OrgPorts): readonly string[] {
  const lines: string[] = [];
  let owner: string | null = null;
  for (const one of budgets) {
    if (one.owner !== owner) lines.push(paint.strong(visibleText(one.owner)));
    owner = one.owner;
    const of = `${amount(one.spent, one.unit)} of ${amount(one.limit, one.unit)} ${one.unit}`;
    const left = one.left > 0 ? `${amount(one.left, one.unit)} left` : paint.bad("used up");
    const until = one.ends === null ? "" : paint.dim(`, resets at ${timeText(one.ends)}`);
    const task = one.task === null ? "" : `  ${visibleText(one.task)}`;
    lines.push(`  ${one.period.padEnd(8)} ${of}, ${left}${until}${task}`);
  }
  return lines;
}

/** Money in cents at least, without digits that say nothing. */
function amount(value: number, unit: BudgetView["unit"]): string {
  if (unit !== "usd") return String(value);
  const text = value.toFixed(6).replace(/0+$/, "");
  const decimals = text.length - text.indexOf(".") - 1;
  return decimals < 2 ? value.toFixed(2) : text;
}
