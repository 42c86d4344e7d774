// The configuration around an agent's own text: the outermost root from the user over the project, the org tables of
// both, and the user's ceiling as a link that only narrows.
import { pathText } from "../../core/authority/axes/path.ts";
import { narrowAuthority } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Config } from "../../core/notation/config/config.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import {
  type OuterPolicies,
  type PolicyPlaces,
  placesIn,
  stricter,
} from "../../core/notation/policy/outer-policies.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { isAtOrBelow } from "../../core/notation/record/hoist.ts";
import type { Source } from "../../core/notation/source.ts";
import { type Agent, agentRefused } from "./agent.ts";

/** A level as it was read, with its source text. */
export interface ConfigRead {
  readonly config: Config;
  readonly source: Source;
}

export interface Levels {
  readonly ceiling: readonly string[] | null;
  readonly policies: OuterPolicies;
  /** Appended to every chain of every agent. */
  readonly limits: readonly CompiledLink[];
  /** Why no agent grants anything: one diagnostic for each broken level. */
  readonly broken: readonly Diagnostic[];
  /** Of the levels combined; the diagnostics of each text are with its `Config`. */
  readonly diagnostics: readonly Diagnostic[];
}

export function levelsOf(user: ConfigRead | null, project: ConfigRead | null): Levels {
  const diagnostics = new Diagnostics();
  const read = [user, project].filter((one) => one !== null);
  const agents = new Map(user?.config.agents ?? []);
  for (const [id, table] of project?.config.agents ?? [])
    agents.set(id, stricter(table, agents.get(id) ?? null) ?? table);
  const org = stricter(user?.config.policy ?? null, project?.config.policy ?? null);
  return {
    ceiling: ceilingOf(user, project, diagnostics),
    policies: { org, agents, places: placesOf({ org, agents }, project, user) },
    limits: user === null || user.config.ceiling === null ? [] : [ceilingLink(user.config.ceiling)],
    broken: read.flatMap(brokenLine),
    diagnostics: diagnostics.list,
  };
}

/** The project's line if both levels say the same: it is the nearer one. */
function placesOf({ org, agents }: OuterPolicies, ...levels: readonly (ConfigRead | null)[]): PolicyPlaces {
  const configs = levels.flatMap((level) => (level === null ? [] : [level.config]));
  return {
    org: placesIn(
      org,
      configs.map(({ policy, places }) => ({ table: policy, places: places.org })),
    ),
    agents: new Map(
      [...agents].map(([id, table]) => {
        const tables = configs.map((one) => ({ table: one.agents.get(id), places: one.places.agents.get(id) }));
        return [id, placesIn(table, tables)];
      }),
    ),
  };
}

/** A project that asks for more than the user allows gets what the user allows. */
function ceilingOf(
  user: ConfigRead | null,
  project: ConfigRead | null,
  diagnostics: Diagnostics,
): readonly string[] | null {
  const outer = user?.config.sandbox ?? null;
  const inner = project?.config.sandbox ?? null;
  if (project === null || inner === null || outer === null || isAtOrBelow(inner, outer)) return inner ?? outer;
  diagnostics.warning(
    "clamped",
    whole(project.source),
    `the project's sandbox becomes ${pathText(outer)}: ${pathText(inner)} is outside the user's`,
    { fix: `sandbox: ${pathText(outer)}` },
  );
  return outer;
}

function ceilingLink(grants: NonNullable<Config["ceiling"]>): CompiledLink {
  return compile({ id: "user", role: "limit", issuer: "person", holder: "*", grants, validity: ALWAYS, calls: null });
}

function brokenLine({ config, source }: ConfigRead): readonly Diagnostic[] {
  const first = config.diagnostics.find(({ severity }) => severity === "error");
  if (!config.broken) return [];
  const message = `no agent has any grant until ${source.name} is fixed: ${first?.message ?? "it cannot be parsed"}`;
  const { fix = null, suggestion = null } = first ?? {};
  return [{ severity: "error", code: "not_understood", message, span: first?.span ?? whole(source), suggestion, fix }];
}

function whole({ name, text }: Source): Diagnostic["span"] {
  return { source: name, start: 0, end: Math.max(0, text.indexOf("\n")) };
}

/** How agents' texts are read inside these levels. */
export function readingUnder(levels: Levels, reading: Reading, name: string): Reading {
  return { ...reading, ceiling: levels.ceiling, policies: levels.policies, name };
}

/** No grants at all if a surrounding level could not be parsed: its limits are unknown. */
export function unlessBroken(levels: Levels, agent: Agent): Agent {
  if (levels.broken.length === 0) return agent;
  return { ...agentRefused(agent.id, agent.form, [...levels.broken, ...agent.diagnostics]), tests: agent.tests };
}

/** The agent limited by the user's ceiling. INVARIANT: never more than the agent by itself. */
export function withLimits({ limits }: Levels, agent: Agent): Agent {
  return limits.length === 0 ? agent : { ...agent, authority: narrowAuthority(agent.authority, limits) };
}
