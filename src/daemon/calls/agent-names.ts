// Names of agents. An agent with a record is named by workspace and id; one that was made for a user belongs to that user, so that
// another user's agent may have the same id.
import type { AgentName, LinkStore } from "../../core/ports/stores/link-store.ts";

export function sameName(left: AgentName, right: AgentName): boolean {
  return left.agent === right.agent && left.workspace === right.workspace && left.user === right.user;
}

/** The name of an agent that is made in a session of this user. */
export function newName({ workspace, agent }: AgentName, user: string | null): AgentName {
  return user === null ? { workspace, agent } : { workspace, agent, user };
}

/** Live agents of this id that agents made, for any user. */
export function madeNames(links: Pick<LinkStore, "allMade">, { workspace, agent }: AgentName): readonly AgentName[] {
  return links
    .allMade()
    .filter(({ name, ended }) => ended === null && name.workspace === workspace && name.agent === agent)
    .map(({ name }) => name);
}

/**
 * The made agent that this id means to a user: its own, else one that was made for no user. Without a user the only one there is.
 * INVARIANT: a user never reaches an agent that was made for another.
 */
export function madeName(links: Pick<LinkStore, "allMade">, plain: AgentName, user: string | null): AgentName | null {
  const names = madeNames(links, plain);
  const own = names.find((one) => one.user === (user ?? undefined)) ?? names.find((one) => one.user === undefined);
  return own ?? (user === null && names.length === 1 ? (names[0] ?? null) : null);
}

/** Whether an agent that was made exists for this user. */
export function isVisibleTo({ user: owner }: AgentName, user: string | null): boolean {
  return owner === undefined || user === null || owner === user;
}

const creatorsMax = 16;

/** From the agent that made it up to one that has a record; none for an agent with a record. */
export function creatorsOf(links: Pick<LinkStore, "made">, name: AgentName): readonly AgentName[] {
  const above: AgentName[] = [];
  for (let made = links.made(name); made !== null && above.length < creatorsMax; made = links.made(made.creator))
    above.push(made.creator);
  return above;
}
