// What is to be said about the project as a whole: its trust, its configuration, files that cannot be read.
import { type Finding, found, fromDiagnostic, NO_AGENT } from "./finding.ts";
import type { Probe, Trust } from "./probe.ts";

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
        found("untrusted_project", NO_AGENT, {
          message: "this project is not trusted: what its agents hold is inert",
          fix: "ambit trust",
        }),
      ];
    case "widened":
      return [
        found("untrusted_project", NO_AGENT, {
          message: "the project asks for more than was trusted: the addition waits",
          fix: "ambit trust",
        }),
      ];
  }
}
