// Whether an agent holds what a skill's tools need; what is missing, and the grant that would close the gap.

import { isNothing } from "../../core/authority/axes/scope.ts";
import type { Chain } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { type Conditions, type Grant, purposeAllowed } from "../../core/authority/grant.ts";
import { principalsHold } from "../../core/authority/principal.ts";
import { within } from "../../core/authority/witness/within.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { type Need, needGrant, type ToolNeed } from "../../core/notation/tools/allowed-tools.ts";
import type { Agent } from "../project/agent.ts";
import type { Skill } from "./skill.ts";

export interface Gap {
  /** The tool as the skill names it. */
  readonly token: string;
  readonly verb: string;
  /** The smallest grant that closes the gap; null if any scope would do and the user has to choose it. */
  readonly grant: Grant | null;
}

export interface SkillCheck {
  readonly satisfied: boolean;
  /** Tools for which the agent holds everything, as written. */
  readonly held: readonly string[];
  readonly missing: readonly Gap[];
}

/** Folders in which one need is tried. */
const rootsMax = 64;

/** What is needed of an agent: its authority now, with the grants and folders to look in. */
export type SkillHolder = Pick<Agent, "authority" | "grants" | "workingRoot">;

export function checkSkill(skill: Skill, agent: SkillHolder, reading: Reading, moment: Moment): SkillCheck {
  const held: string[] = [];
  const missing: Gap[] = [];
  for (const tool of skill.tools.tools) {
    const gaps = tool.needs.flatMap((need) => gapOf(tool, need, agent, reading, moment));
    if (gaps.length === 0) held.push(tool.token);
    missing.push(...gaps);
  }
  // An unreadable tool cannot be shown to be held. An unknown tool needs nothing here, and the gate still decides.
  return { satisfied: missing.length === 0 && skill.tools.unreadable.length === 0, held, missing };
}

/** Other skills are omitted: an agent is not told about what it may not do. */
export function skillsFor(
  skills: readonly Skill[],
  agent: SkillHolder,
  reading: Reading,
  moment: Moment,
): readonly Skill[] {
  return skills.filter((skill) => checkSkill(skill, agent, reading, moment).satisfied);
}

function gapOf(tool: ToolNeed, need: Need, agent: SkillHolder, reading: Reading, moment: Moment): readonly Gap[] {
  const grants = rootsOf(need, agent, reading).flatMap((root) => {
    const grant = needGrant(need, root, reading);
    return grant === null ? [] : [readOnly(grant)];
  });
  const isHeld =
    need.scope === null
      ? agent.authority.some((chain) => holdsSome(chain, need, moment))
      : grants.some((grant) => isWithin(grant, agent, reading, moment));
  if (isHeld) return [];
  // The bare verb would be everything or nothing, unless the folder is its scope.
  const isScoped = need.scope !== null || need.verb.family === "external";
  const closing = grants.find((grant) => isScoped && !grant.scopes.some(isNothing));
  return [{ token: tool.token, verb: need.verb.verb, grant: closing ?? null }];
}

/** A skill says which programs it runs, not that they write: a read-only root is the least that runs them. */
function readOnly(grant: Grant): Grant {
  const at = grant.verb.axes.findIndex(({ name }) => name === "mode");
  return at < 0 ? grant : { ...grant, scopes: grant.scopes.with(at, { kind: "words", of: ["ro"] }) };
}

/**
 * Where the skill would work: the agent's own folder, the folders of its grants of the verb, and without those the
 * workspace. A need is met if it is met in one of them.
 */
function rootsOf({ verb }: Need, agent: SkillHolder, reading: Reading): readonly (readonly string[] | null)[] {
  const own = agent.grants.flatMap((grant) => (grant.verb === verb && grant.root !== null ? [grant.root] : []));
  const { base } = reading.pathSettings;
  const here = base === null ? null : (reading.realRoot?.(base) ?? base);
  const roots = [agent.workingRoot, ...own, here].filter((root) => root !== null);
  return [...new Map(roots.map((root) => [root.join("/"), root])).values()].slice(0, rootsMax);
}

/** Usable now, with approval if required: a skill needs no more of a grant. */
function isWithin(grant: Grant, agent: SkillHolder, reading: Reading, moment: Moment): boolean {
  if (grant.scopes.some(isNothing)) return false;
  // A grant for no user at all covers nothing, and nothing is within everything.
  const [user] = moment.principals ?? [];
  const conditions: Conditions = {
    ask: 2,
    calls: null,
    rate: null,
    tokens: null,
    money: null,
    per: null,
    expires: moment.now + 1,
    principals: user === undefined ? null : [user],
    pass: "use",
    clean: moment.clean,
  };
  const { protectedPaths } = reading.pathSettings;
  return within([{ ...grant, conditions }], agent.authority, { protectedPaths, delegating: false }).kind === "within";
}

/** Any grant of the verb in every link. Whether the links have a request in common is decided by the gate. */
function holdsSome(chain: Chain, { verb }: Need, moment: Moment): boolean {
  return chain.every(({ link }) =>
    link.grants.some(
      ({ verb: held, scopes, conditions: { expires, principals, pass, clean } }) =>
        held === verb &&
        !scopes.some(isNothing) &&
        (expires === null || moment.now < expires) &&
        principalsHold(principals, moment.principals ?? []) &&
        (link.role === "limit" || purposeAllowed(pass, "use")) &&
        (!clean || moment.clean),
    ),
  );
}
