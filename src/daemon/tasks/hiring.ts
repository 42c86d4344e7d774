// Agents that agents of an org hire. A hired agent is a delegation: it holds what its hirer may pass on, as long as the hirer holds
// it. INVARIANT: nothing else gives it grants, so it never holds more than its hirer.
import { readWholeOrg } from "../../agents/disk/org-members.ts";
import type { Scope } from "../../core/authority/axes/scope.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { meetGrants } from "../../core/authority/meet.ts";
import { DEEP, literal } from "../../core/authority/patterns/segment.ts";
import { alikeAgentId } from "../../core/base/agent-id.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import { grantOf, sequences } from "../../core/notation/grants.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { HiredAgent } from "../../core/ports/daemon/task-messages.ts";
import type { AgentName, CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { Hire } from "../../core/ports/stores/task-store.ts";
import { invalid, type UseResult, useDenial, useResult } from "../../runtime/context/use-result.ts";
import { hasCountedPledge, mayPassInSession, passableWhole } from "../../tools/delegation/pass-on.ts";
import { creatorsOf, madeName, newName } from "../calls/agent-names.ts";
import { Holdings } from "../calls/holding.ts";
import { granterOf } from "../contexts/delegations.ts";
import type { Entries } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { Session } from "../session.ts";

/** Agents that one agent has hired and that are still there. */
const hiredByAgentMax = 5;
const hiredInWorkspaceMax = 50;
/** A hired agent may hire, and those it hires may not. */
const hiresDeepMax = 2;

export class Hiring {
  readonly #parts: DaemonParts;
  readonly #entries: Entries;
  readonly #holdings: Holdings;

  constructor(parts: DaemonParts, entries: Entries) {
    this.#parts = parts;
    this.#entries = entries;
    this.#holdings = new Holdings(parts.records, parts.stores.links);
  }

  /** An agent that is not stored yet. `staged`: what the same run hires besides. */
  hire(session: Session, agent: string, role: string, instructions: string, staged: readonly Hire[]): UseResult<Hire> {
    const { stores, records, redacting, now, id } = this.#parts;
    const { name, cwd, user } = session.facts;
    const { workspace } = name;
    if (workspace === null)
      return invalid(null, "agents can be hired only in a workspace, and there is no workspace here");
    if (redacting.known !== null && redacting.text(`${role}\n${instructions}`) !== `${role}\n${instructions}`)
      return invalid(null, "the instructions contain the value of a secret: write the secret's name instead");
    const above = creatorsOf(stores.links, name);
    if (!this.#isOfOrg(name, above))
      return invalid(null, "only agents of an org file can hire, and you are not in an org file");
    if (above.length >= hiresDeepMax)
      return useDenial("quota", null, `agents can be hired at most ${hiresDeepMax} levels deep: do the work yourself`);
    const all = [...this.#hiredIn(workspace), ...staged.map((one) => one.agent)];
    const own = all.filter(({ creator }) => creator.agent === name.agent);
    const isThere = records.record(cwd, agent).ok || all.some((one) => one.name.agent === agent);
    if (isThere) return invalid(null, `you have already hired ${agent}: delegate to it`);
    const ids = [...records.agentIds(cwd), ...all.map((one) => one.name.agent)];
    const alike = alikeAgentId(agent, ids);
    if (alike !== null) return invalid(null, `${agent} looks like the agent ${alike}`);
    if (own.length >= hiredByAgentMax || all.length >= hiredInWorkspaceMax)
      return useDenial("quota", null, `you can hire at most ${hiredByAgentMax} agents: delegate to those you have`);
    const passed = this.#passed(session, agent);
    if (!passed.ok) return passed;
    const holder = newName({ workspace, agent }, user);
    const link: StoredLink = {
      ...{ id: id("l"), parent: passed.value.parent, granter: name, holder, specs: passed.value.specs, calls: null },
      ...{ made: now(), expires: null, token: null, revoked: null, user, isClean: session.isClean },
      isUserLimited: user !== null && records.user(user) !== null,
    };
    const created: CreatedAgent = {
      ...{ name: holder, creator: name, link: link.id, body: instructions, made: now(), ended: null, role },
    };
    const more = { to: agent, role, grants: link.specs, parent: link.parent };
    const entry = this.#entries.make("delegation", session.who([]), "hired", { of: link.id, more });
    return useResult({ link, agent: created, most: hiredByAgentMax, entry });
  }

  /** For the runner: what a hired agent is, and the agent of the org file whose client and capabilities it has. */
  facts(workspace: string, agent: string): HiredAgent | null {
    const { stores, records } = this.#parts;
    if (records.record(workspace, agent).ok) return null;
    const name = madeName(stores.links, { workspace, agent }, null);
    const made = name === null ? null : stores.links.made(name);
    if (name === null || made?.role === undefined) return null;
    const top = creatorsOf(stores.links, name).at(-1);
    return top === undefined ? null : { role: made.role, instructions: made.body, member: top.agent };
  }

  /** The manager of each hired agent. */
  superiors(workspace: string): ReadonlyMap<string, string> {
    return new Map(this.#hiredIn(workspace).map(({ name, creator }) => [name.agent, creator.agent]));
  }

  #hiredIn(workspace: string): readonly CreatedAgent[] {
    const { links } = this.#parts.stores;
    return links
      .allMade()
      .filter(({ name, ended, role }) => name.workspace === workspace && ended === null && role !== undefined);
  }

  /** An agent of the org file, or one that was hired below one: others pass grants on with agent_create. */
  #isOfOrg(name: AgentName, above: readonly AgentName[]): boolean {
    const { links } = this.#parts.stores;
    const path = [name, ...above];
    const members = readWholeOrg(name.workspace)?.org.agents ?? [];
    return (
      path.slice(0, -1).every((one) => links.made(one)?.role !== undefined) &&
      members.some(({ id }) => id === path.at(-1)?.agent)
    );
  }

  #passed(
    session: Session,
    agent: string,
  ): UseResult<{ readonly parent: string | null; readonly specs: readonly string[] }> {
    const { records } = this.#parts;
    const granter = granterOf(session, this.#holdings, records);
    if (hasCountedPledge(granter))
      return useDenial(
        "exceeds_grantor_authority",
        null,
        "this session's pledge has a budget or an expiry and cannot be delegated",
      );
    const whole = passableWhole(granter, agent);
    if (whole === null) return useDenial("exceeds_grantor_authority", null, "you have no grant that you may delegate");
    const specs = withOwnArtifacts(whole.grants, agent).map(compactText);
    // INVARIANT: what is stored is what is read back later, so that is compared with what may be passed on.
    const read = parseSpecs(specs, records.readingAt(session.facts.name.workspace ?? "/"));
    if (read === null || !mayPassInSession(granter, agent, whole.parent, read))
      return useDenial("exceeds_grantor_authority", null, "your grants cannot be written as a delegation");
    return useResult({ parent: whole.parent, specs });
  }
}

/** Artifacts are left and read below the hired agent's own id. */
function withOwnArtifacts(grants: readonly Grant[], agent: string): readonly Grant[] {
  const path = sequences([[literal("artifacts"), ...agent.split("/").map(literal), DEEP]]);
  const by = { span: null, implied: "org (base)" };
  return grants.flatMap((grant) => {
    const at = grant.verb.axes.findIndex(({ name }) => name === "class");
    if (!isArtifactAlone(grant.scopes[at])) return [grant];
    return meetGrants([grant], [grantOf(grant.verb.verb, { path }, by)]).grants;
  });
}

function isArtifactAlone(scope: Scope | undefined): boolean {
  return scope?.kind === "sequences" && JSON.stringify(scope.of) === ARTIFACT;
}

const ARTIFACT = JSON.stringify([[literal("artifact")]]);
