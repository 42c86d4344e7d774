// The power of the delegation tools: stored links with their tokens, the chains a session may pass on, and records as files.
// A delegation is a link with a parent, valid until it or a link above it is revoked.
import { delegationDepthMax } from "../../core/authority/delegation.ts";
import type { AgentName, CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { Who } from "../../core/ports/stores/log.ts";
import { useDenial, useFailure, useResult } from "../../runtime/context/use-result.ts";
import type { DelegationAccess, DelegationPowers, NewDelegation } from "../../tools/delegation/delegation-tools.ts";
import { type Granter, isAboutTools } from "../../tools/delegation/pass-on.ts";
import { isVisibleTo, madeName, madeNames, newName } from "../calls/agent-names.ts";
import type { Holdings } from "../calls/holding.ts";
import type { Entries } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { Session } from "../session.ts";
import type { PowersOptions } from "../tools/daemon-tool.ts";

const linksMax = 100_000;
const tokenStart = "ambit-token";

export class Delegations {
  readonly #parts: DaemonParts;
  readonly #entries: Entries;
  readonly #holdings: Holdings;

  constructor(parts: DaemonParts, entries: Entries, holdings: Holdings) {
    this.#parts = parts;
    this.#entries = entries;
    this.#holdings = holdings;
  }

  /** Claims a token as a link of this agent; null if it is invalid or meant for another agent. */
  async claim(token: string, name: AgentName, who: Who): Promise<StoredLink | null> {
    const [start, id, secret, ...rest] = token.split(".");
    if (start !== tokenStart || id === undefined || secret === undefined || rest.length > 0) return null;
    const { stores } = this.#parts;
    const entry = this.#entries.make("delegation", who, "claimed", { of: id });
    const claimed = await stores.links.claim(id, this.#tokenDigest(secret, name), name, entry);
    return claimed.ok ? claimed.value : null;
  }

  powers({ session, call }: Pick<PowersOptions, "session" | "call">): DelegationPowers {
    const { stores, records, agentRecords, now } = this.#parts;
    const { cwd, name, user } = session.facts;
    const plain = (agent: string): AgentName => ({ workspace: name.workspace, agent });
    const delegation: DelegationAccess = {
      granter: () => granterOf(session, this.#holdings, records),
      reading: () => records.readingAt(cwd),
      decided:
        call?.warrant.requests.find(({ delegation: given }) => given !== undefined)?.delegation?.proposed ?? null,
      now,
      hasRoom: () => stores.links.all().length < linksMax,
      exists: (agent) =>
        madeNames(stores.links, plain(agent)).some((made) => made.user === undefined || made.user === user) ||
        records.record(cwd, agent).ok,
      hasTools: (agent) => {
        const record = records.record(cwd, agent);
        const links = stores.links.all().filter(({ holder, revoked }) => {
          return revoked === null && holder?.agent === agent && holder.workspace === name.workspace;
        });
        return (
          (record.ok && record.value.authority.some(([{ link }]) => link.grants.some(isAboutTools))) ||
          links.some(({ specs, tools = [] }) => [...specs, ...tools].some((spec) => /^tool\.invoke(?:\{|$)/.test(spec)))
        );
      },
      ids: () => [
        ...records.agentIds(cwd),
        ...stores.links
          .allMade()
          .filter(({ name: other, ended }) => ended === null && other.workspace === name.workspace)
          .filter(({ name: other }) => isVisibleTo(other, user))
          .map(({ name: other }) => other.agent),
      ],
      store: (given) => this.#store(session, given),
      write: async ({ target, parent, specs, instructions }, limits) => {
        const more = { to: target, grants: specs, parent, ...limits };
        const who = session.who(this.#above(parent));
        const noted = await stores.ledger.append([
          this.#entries.make("delegation", who, "written", { of: target, more }),
        ]);
        if (!noted.ok) return useFailure(null, noted);
        const written =
          instructions === null
            ? agentRecords.grant(plain(target), specs, limits)
            : agentRecords.create(plain(target), specs, limits, instructions);
        return written.ok ? useResult({ record: written.value }) : useDenial("not_available", null, written.message);
      },
    };
    return { delegation };
  }

  async #store(session: Session, given: NewDelegation): ReturnType<DelegationAccess["store"]> {
    const { stores, now, id, records } = this.#parts;
    const { name, user } = session.facts;
    const { target, parent, specs, tools, seconds, calls, instructions } = given;
    const holder = this.#holderOf(session, target, instructions !== null);
    const secret = given.isToken ? `${id("t")}${id("t")}` : null;
    const isOneLink = tools === null || tools.parent === parent;
    const link: StoredLink = {
      id: id("l"),
      parent,
      granter: name,
      holder: secret === null ? holder : null,
      specs,
      ...(tools !== null && isOneLink ? { tools: tools.specs } : {}),
      calls,
      made: now(),
      expires: seconds === null ? null : now() + seconds * 1000,
      token: secret === null ? null : this.#tokenDigest(secret, holder),
      revoked: null,
      user,
      isClean: session.isClean,
      isUserLimited: user !== null && records.user(user) !== null,
    };
    const also: StoredLink | null = isOneLink
      ? null
      : { ...link, id: id("l"), parent: tools.parent, specs: [], tools: tools.specs, countsWith: link.id };
    const made: CreatedAgent | null =
      instructions === null
        ? null
        : { name: holder, creator: name, link: link.id, body: instructions, made: now(), ended: null };
    const grants = [...specs, ...(tools?.specs ?? [])];
    const more = { to: target, grants, parent, expires: link.expires, calls };
    const who = session.who(this.#above(parent));
    const entry = this.#entries.make("delegation", who, made === null ? "granted" : "created", { of: link.id, more });
    const stored = await stores.links.make(link, made, entry, also);
    if (!stored.ok) return useFailure(null, stored);
    if (stored.value === null)
      return useDenial("not_available", null, "the delegation could not be stored; call again");
    return useResult({ link: link.id, token: secret === null ? null : `${tokenStart}.${link.id}.${secret}` });
  }

  /** A new agent is the user's; an existing one is what its id means to the user. */
  #holderOf({ facts: { name, cwd, user } }: Session, agent: string, isNew: boolean): AgentName {
    const { stores, records } = this.#parts;
    const plain: AgentName = { workspace: name.workspace, agent };
    if (isNew) return newName(plain, user);
    return (records.record(cwd, agent).ok ? null : madeName(stores.links, plain, user)) ?? plain;
  }

  /** INVARIANT: only the agent that a token was made for has the digest. */
  #tokenDigest(secret: string, { workspace, agent, user }: AgentName): string {
    return this.#parts.digest(JSON.stringify([secret, workspace, agent, ...(user === undefined ? [] : [user])]));
  }

  /** From the root down to this link. */
  #above(id: string | null): readonly string[] {
    const { links } = this.#parts.stores;
    const path: string[] = [];
    for (let at = id; at !== null && path.length <= delegationDepthMax; at = links.get(at)?.parent ?? null)
      path.unshift(at);
    return path;
  }
}

/** What a session could pass on. */
export function granterOf(
  { facts: { name, cwd, user }, pledges }: Session,
  holdings: Holdings,
  records: DaemonParts["records"],
): Granter {
  return {
    ...{ id: name.agent, pledges },
    chains: holdings.passable(name),
    userLimits: user === null ? [] : (records.user(user)?.authority.flat() ?? []),
    protectedPaths: records.readingAt(cwd).pathSettings.protectedPaths,
  };
}
