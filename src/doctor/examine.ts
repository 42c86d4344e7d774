// All checks over one probe, as sections: the project, each agent, the machine.
import { pathText } from "../core/authority/axes/path.ts";
import { type Grant, isCounted, type Span } from "../core/authority/grant.ts";
import type { Diagnostic, Severity } from "../core/notation/diagnostic.ts";
import { compactText } from "../core/notation/printer.ts";
import { type Acceptance, readAcceptances, withAcceptances } from "./accept.ts";
import { examineMachine, type MachineReport } from "./backend.ts";
import { isLive } from "./breadth.ts";
import { lethalCombination } from "./combination.ts";
import { interpreterPatterns } from "./commands.ts";
import { deadRules } from "./dead.ts";
import { escalations } from "./escalation.ts";
import { type Finding, type FindingSubject, fromDiagnostic, kindOf, newFinding } from "./finding.ts";
import { inertGrants } from "./inert.ts";
import { unreachableLoopback } from "./loopback.ts";
import { olderPresets } from "./older-preset.ts";
import { expiredGrant, ProtectedPaths, protectedPathGrants } from "./opened.ts";
import type { Probe, ProbeAgent, ProbeUser } from "./probe.ts";
import { projectFindings, userFindings } from "./project.ts";
import { scriptsWithoutApproval, unenforceableReads } from "./project-files.ts";
import { examineSecrets } from "./secrets.ts";
import { examineServers } from "./servers.ts";
import { examineSink } from "./sink.ts";
import { unknownArguments } from "./tools.ts";
import { WrittenScopes } from "./written.ts";

export interface Section {
  readonly about: "project" | "agent" | "user" | "machine";
  readonly title: string;
  readonly file: string | null;
  /** Errors first; at most so many that a hostile file cannot flood a terminal. */
  readonly findings: readonly Finding[];
  readonly leftOut: number;
  /** Of all of them, those left out included. */
  readonly failed: number;
  readonly warnings: number;
  readonly accepted: readonly Acceptance[];
  /** What was looked at and is well, in words. */
  readonly passed: readonly string[];
}

const findingsMax = 100;

/** `step` is told how many of the agents are done, for those who wait. */
export function examine(probe: Probe, step: (done: number, total: number) => void = () => {}): readonly Section[] {
  const paths = new ProtectedPaths(probe.pathSettings);
  const project = projectFindings(probe);
  const agents = probe.agents.map((agent, place) => {
    step(place, probe.agents.length);
    return agentSection(agent, paths, probe);
  });
  return [
    ...(project.length === 0 ? [] : [section("project", "this project", null, project, [], [])]),
    ...agents.toSorted((left, right) => rankOf(left) - rankOf(right)),
    ...(probe.users ?? []).map(userSection),
    ...(probe.machine === null && (probe.sink ?? probe.secrets ?? probe.servers?.[0] ?? null) === null
      ? []
      : [machineSection(probe)]),
  ];
}

/** What programs in `ambit run` find, in the order of the search path. */
function toolchainWords({ toolchains }: Probe): readonly string[] {
  if (toolchains === undefined) return [];
  const inside = toolchains.names.map(({ name, folder }) => `${name} (${pathText(folder)})`);
  const outside = toolchains.left.map(pathText);
  return [
    ...(inside.length === 0 ? [] : [`toolchains inside \`ambit run\`: ${inside.join(", ")}`]),
    ...(outside.length === 0
      ? []
      : [
          `on PATH and not inside \`ambit run\`: ${outside.join(", ")} (\`programs: { add: [FOLDER] }\` in your config.yml)`,
        ]),
  ];
}

/** Agents with errors first, then those with warnings; else in the order of their names. */
function rankOf({ failed, warnings }: Section): number {
  return failed > 0 ? 0 : warnings > 0 ? 1 : 2;
}

function userSection(user: ProbeUser): Section {
  const findings = userFindings(user);
  const passed = findings.length === 0 ? ["a limit on sessions for this user"] : [];
  return section("user", `user ${user.name}`, user.source.name, findings, [], passed);
}

function machineSection(probe: Probe): Section {
  const { machine, sink = null, secrets = null, servers = [], agents, now } = probe;
  const isNeeded = agents.some(({ grants }) => grants.some((grant) => runs(grant) && isLive(grant, now)));
  const told = [examineSink(sink), examineSecrets(secrets), examineServers(servers)];
  const reports = [...told, ...(machine === null ? [] : [examineMachine(machine, isNeeded)])];
  const all = <T>(of: (report: MachineReport) => readonly T[]): readonly T[] => reports.flatMap(of);
  const [findings, passed] = [all((one) => one.findings), [...all((one) => one.passed), ...toolchainWords(probe)]];
  return section("machine", "this machine", null, findings, [], passed);
}

function runs({ verb }: Grant): boolean {
  return verb.verb === "proc.exec" || verb.verb === "proc.eval" || verb.verb === "sandbox.exec";
}

function agentSection(agent: ProbeAgent, paths: ProtectedPaths, probe: Probe): Section {
  const about: FindingSubject = { agent: agent.id, file: agent.source.name };
  const acceptances = readAcceptances(agent.tree, about);
  const checks = check(agent, paths, about, probe);
  const findings = [
    ...remaining(agent, checks).map((one) => ofConfig(one, probe, about) ?? fromDiagnostic(one, about)),
    ...checks,
    ...acceptances.findings,
  ];
  const { told, accepted } = withAcceptances(findings, acceptances, about);
  const isWell = !told.some(({ severity, code }) => severity !== "info" || code === "not_understood");
  const count = agent.grants.length;
  const passed = isWell ? [count === 1 ? "1 grant" : `${count} grants`] : [];
  return section("agent", agent.id, agent.source.name, told, accepted, passed);
}

/** An error of a configuration is told once, with the project; at each agent only that it grants nothing. */
function ofConfig(diagnostic: Diagnostic, { configs }: Probe, about: FindingSubject): Finding | null {
  const { source } = diagnostic.span;
  if (diagnostic.severity !== "error" || !configs.some((config) => config.source.name === source)) return null;
  const message = `grants nothing until ${source} is fixed`;
  return { ...fromDiagnostic(diagnostic, about), severity: "info", message, span: null, suggestion: null, fix: null };
}

function check(agent: ProbeAgent, paths: ProtectedPaths, about: FindingSubject, probe: Probe): readonly Finding[] {
  const { grants, workingRoot } = agent;
  const { now, tools, pathSettings } = probe;
  const written = new WrittenScopes(agent.tree);
  const single = grants.flatMap((grant) => [
    expiredGrant(grant, about, now),
    interpreterPatterns(grant, about),
    protectedPathGrants(grant, paths, about),
    ...unknownArguments(grant, tools, about),
  ]);
  const { dead, cut } = deadRules(grants, now, pathSettings.protectedPaths);
  return [
    inertGrants(grants, written, about, pathSettings),
    ...escalations(grants, written, about, probe),
    lethalCombination(grants, workingRoot, about, now, agent.isMember === true),
    ...single,
    ...scriptsWithoutApproval(grants, about, now),
    ...unenforceableReads(grants, about, now),
    ...unreachableLoopback(grants, about, now),
    ...olderPresets(agent.tree, about),
    ...dead.map((grant) => deadFinding(grant, about)),
    cut ? newFinding("not_checked", about, { severity: "info", message: TOO_MANY }) : null,
  ].filter((finding) => finding !== null);
}

const TOO_MANY = "it has too many grants to check all of them for grants without effect";

function deadFinding(grant: Grant, about: FindingSubject): Finding {
  const { ask, principals, clean } = grant.conditions;
  const isLimit = ask > 0 || principals !== null || isCounted(grant.conditions) || clean;
  return newFinding("dead_rule", about, {
    message: `${compactText(grant)} has no effect: the agent's other grants cover all of it`,
    meaning: isLimit
      ? "Grants add up and the least restrictive one decides, so its condition never applies."
      : "Grants add up; one beside a wider one limits nothing.",
    fix: isLimit ? "narrow the wider grant" : "delete it, or narrow the wider grant",
    grants: [grant],
  });
}

/**
 * One finding for each cause: a diagnostic that one of our findings says better, at the same place, is not told twice,
 * nor is one that says the same of several lines.
 */
function remaining({ diagnostics }: ProbeAgent, checks: readonly Finding[]): ProbeAgent["diagnostics"] {
  const said = new Set(
    checks.flatMap(({ code, grants }) =>
      code === "inert_grants" || code === "exec_everywhere"
        ? grants.map(({ span }) => placeOf(code === "inert_grants" ? "inert" : "wide", span))
        : [],
    ),
  );
  const seen = new Set<string>();
  return diagnostics.filter(({ code, span, message }) => {
    if (said.has(placeOf(code, span)) || seen.has(message)) return false;
    seen.add(message);
    return true;
  });
}

function placeOf(code: string, span: Span | null): string {
  return `${code}-${span?.start}-${span?.end}-${span?.source}`;
}

const SEVERITIES = { error: 0, warning: 1, info: 2 } as const;

/** Of two warnings the one about too much authority comes first. */
function badness({ severity, code }: Finding): number {
  return SEVERITIES[severity] * 2 + (kindOf(code) === "escalation" ? 0 : 1);
}

function section(
  about: Section["about"],
  title: string,
  file: string | null,
  findings: readonly Finding[],
  accepted: readonly Acceptance[],
  passed: readonly string[],
): Section {
  const sorted = findings.toSorted((left, right) => badness(left) - badness(right));
  const shown = sorted.slice(0, findingsMax);
  const count = (severity: Severity): number => findings.filter((one) => one.severity === severity).length;
  return {
    about,
    title,
    file,
    findings: shown,
    leftOut: sorted.length - shown.length,
    failed: count("error"),
    warnings: count("warning"),
    accepted,
    passed,
  };
}
