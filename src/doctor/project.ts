// What is to be said about the project as a whole: its trust, its configuration, files that cannot be
// read, ids that are taken twice.
import { type Finding, found, fromDiagnostic, NOBODY } from "./finding.ts";
import type { Probe, ProbeAgent, Trust } from "./probe.ts";

export function projectFindings({ workspace, broken, configs }: Probe): readonly Finding[] {
  return [
    ...(workspace === null ? [] : trustFindings(workspace.trust)),
    ...configs.flatMap(({ source, diagnostics }) =>
      diagnostics.map((diagnostic) => fromDiagnostic(diagnostic, { agent: null, file: source.name })),
    ),
    ...broken.map(({ file, problem }) =>
      found("unreadable_file", { agent: null, file }, { severity: "error", message: `${file}: ${problem}` }),
    ),
  ];
}

function trustFindings(trust: Trust): readonly Finding[] {
  switch (trust) {
    case "trusted":
    case "unknown":
      return [];
    case "untrusted":
      return [
        found("untrusted_project", NOBODY, {
          message: "this project is not trusted: what its agents hold is inert",
          fix: "ambit trust",
        }),
      ];
    case "widened":
      return [
        found("untrusted_project", NOBODY, {
          message: "the project asks for more than was trusted: the addition waits",
          fix: "ambit trust",
        }),
      ];
  }
}

/** Every agent whose id somebody before it has; by the place in the list. */
export function duplicates(agents: readonly ProbeAgent[]): ReadonlyMap<number, Finding> {
  const first = new Map<string, ProbeAgent>();
  const findings = new Map<number, Finding>();
  for (const [place, agent] of agents.entries()) {
    const other = first.get(agent.id);
    if (other === undefined) first.set(agent.id, agent);
    else {
      findings.set(
        place,
        found(
          "duplicate_agent",
          { agent: agent.id, file: agent.source.name },
          { severity: "error", message: `${other.source.name} is called ${JSON.stringify(agent.id.slice(0, 80))} too` },
        ),
      );
    }
  }
  return findings;
}
