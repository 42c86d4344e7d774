// What is to be said about the project as a whole: its trust, its configuration, files that cannot be read.
import { type Finding, fromDiagnostic, NO_AGENT, newFinding } from "./finding.ts";
import { policyFindings } from "./policy.ts";
import type { Probe, ProbeUser, Trust } from "./probe.ts";
import { unfulfilledTools } from "./tools.ts";

export function projectFindings(probe: Probe): readonly Finding[] {
  const { workspace, broken, configs } = probe;
  return [
    ...policyFindings(probe),
    ...unfulfilledTools(probe),
    ...(workspace === null ? [] : trustFindings(workspace.trust)),
    ...(workspace?.hasUsers === true ? [USERS_IN_PROJECT] : []),
    ...configs.flatMap(({ source, diagnostics }) =>
      diagnostics.map((diagnostic) => fromDiagnostic(diagnostic, { agent: null, file: source.name })),
    ),
    ...broken.map(({ file, problem }) =>
      newFinding("unreadable_file", { agent: null, file }, { severity: "error", message: `${file}: ${problem}` }),
    ),
  ];
}

const USERS_IN_PROJECT = newFinding("users_in_project", NO_AGENT, {
  message: ".ambit/users has no effect: records of users are in your own configuration folder",
  fix: "mv .ambit/users ~/.config/ambit/users",
});

function trustFindings(trust: Trust): readonly Finding[] {
  switch (trust) {
    case "trusted":
    case "unknown":
      return [];
    case "untrusted":
      return [
        newFinding("untrusted_project", NO_AGENT, {
          message: "this project is not trusted: the grants of its agents have no effect",
          fix: "ambit trust",
        }),
      ];
    case "widened":
      return [
        newFinding("untrusted_project", NO_AGENT, {
          message: "the project grants more than was trusted: the additions have no effect yet",
          fix: "ambit trust",
        }),
      ];
  }
}

/** A user's record limits every session for that user: one with a mistake in it allows nothing. */
export function userFindings({ source, diagnostics, workspaces }: ProbeUser): readonly Finding[] {
  const about = { agent: null, file: source.name };
  const missing = (workspaces ?? []).filter(({ exists }) => !exists);
  return [
    ...diagnostics.map((diagnostic) => fromDiagnostic(diagnostic, about)),
    ...missing.map(({ written }) =>
      newFinding("missing_workspace", about, {
        message: `there is no folder ${JSON.stringify(written.slice(0, 200))}`,
      }),
    ),
  ];
}
