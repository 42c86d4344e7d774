// What is to be said about the project as a whole: its trust, its configuration, files that cannot be
// read, ids that are taken twice.
import type { Span } from "../core/authority/grant.ts";
import { entryOf } from "../core/notation/tree.ts";
import { type Finding, found, fromDiagnostic, NO_AGENT } from "./finding.ts";
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

/** Agents whose id an earlier agent has, by their index. */
export function duplicates(agents: readonly ProbeAgent[]): ReadonlyMap<number, Finding> {
  const first = new Map<string, ProbeAgent>();
  const free = new FreeIds(agents);
  const findings = new Map<number, Finding>();
  for (const [place, agent] of agents.entries()) {
    const other = first.get(agent.id);
    if (other === undefined) first.set(agent.id, agent);
    else {
      const id = free.like(agent.id);
      findings.set(
        place,
        found(
          "duplicate_agent",
          { agent: agent.id, file: agent.source.name },
          {
            severity: "error",
            message: `${other.source.name} is called ${JSON.stringify(agent.id.slice(0, 80))} too`,
            fix: `id: ${/^[\w./-]+$/.test(id) ? id : JSON.stringify(id)}`,
            span: idSpan(agent),
          },
        ),
      );
    }
  }
  return findings;
}

const idCharactersMax = 80;

/** Unused ids, each returned once. */
class FreeIds {
  readonly #taken: ReadonlySet<string>;
  readonly #last = new Map<string, number>();

  constructor(agents: readonly ProbeAgent[]) {
    this.#taken = new Set(agents.map(({ id }) => id));
  }

  like(id: string): string {
    const base = id.slice(0, idCharactersMax);
    let number = this.#last.get(base) ?? 1;
    do number++;
    while (this.#taken.has(`${base}-${number}`));
    this.#last.set(base, number);
    return `${base}-${number}`;
  }
}

/** Where it is written; an id that is the file's name is written nowhere. */
function idSpan({ tree }: ProbeAgent): Span | null {
  return tree?.kind === "map" ? (entryOf(tree, "id")?.value.span ?? null) : null;
}
