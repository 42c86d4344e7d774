// The store of delegations: created under a live parent, revoked with all descendants.
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { AgentName, CreatedAgent, LinkStore, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { CommitLoop } from "../commit-loop.ts";
import { type Connection, textOf } from "../connection.ts";
import { appendEntry } from "../log/append.ts";
import type { Row } from "../sqlite.ts";
import type { Mirror } from "../trusted-connection.ts";

/** Of the newest; old revocations are in the log. */
export const linksListedMax = 10_000;

export class SqliteLinkStore implements LinkStore {
  readonly #loop: CommitLoop;
  readonly #rows: LinkRows;

  constructor(loop: CommitLoop, rows: LinkRows) {
    this.#loop = loop;
    this.#rows = rows;
  }

  make(
    link: StoredLink,
    agent: CreatedAgent | null,
    entry: LogEntry,
    also: StoredLink | null = null,
    most: number | null = null,
  ): Durable<StoredLink | null> {
    const links = also === null ? [link] : [link, also];
    return this.#loop.write((connection) => {
      if (!this.#rows.make(connection, links, agent, most)) return null;
      appendEntry(connection, entry);
      return link;
    });
  }

  revoke(id: string, at: number, entry: LogEntry): Durable<readonly StoredLink[]> {
    return this.#loop.write((connection) => {
      const revoked = this.#revoke(connection, id, at);
      if (revoked.length > 0) appendEntry(connection, entry);
      return revoked;
    });
  }

  claim(id: string, token: string, holder: AgentName, entry: LogEntry): Durable<StoredLink | null> {
    return this.#loop.write((connection) => {
      const found = this.#rows.live(id);
      if (!isLive(found, entry.at) || found.holder !== null || found.token === null || found.token !== token)
        return null;
      const claimed = { ...found, holder };
      this.#rows.save(connection, claimed);
      appendEntry(connection, entry);
      return claimed;
    });
  }

  heldBy(name: AgentName): readonly StoredLink[] {
    return this.#loop.isReady() ? this.#rows.held(name) : [];
  }

  get(id: string): StoredLink | null {
    const read = this.#loop.readNow((connection) => this.#rows.live(id) ?? this.#rows.get(connection, id));
    return read.ok ? read.value : null;
  }

  all(): readonly StoredLink[] {
    const read = this.#loop.readNow((connection) =>
      connection.all("SELECT body FROM link ORDER BY number DESC LIMIT ?", linksListedMax).map(linkOf).reverse(),
    );
    return read.ok ? read.value : [];
  }

  made(name: AgentName): CreatedAgent | null {
    return this.#loop.isReady() ? (this.#rows.made(name) ?? null) : null;
  }

  allMade(): readonly CreatedAgent[] {
    return this.#loop.isReady() ? this.#rows.allMade() : [];
  }

  instruct(name: AgentName, before: string, body: string, entry: LogEntry): Durable<CreatedAgent | null> {
    return this.#loop.write((connection) => {
      const agent = this.#rows.made(name);
      if (agent === undefined || agent.ended !== null || agent.body !== before) return null;
      const instructed = { ...agent, body };
      this.#rows.saveMade(connection, instructed);
      appendEntry(connection, entry);
      return instructed;
    });
  }

  end(name: AgentName, at: number, entry: LogEntry): Durable<null> {
    return this.#loop.write((connection) => {
      const agent = this.#rows.made(name);
      if (agent === undefined || agent.ended !== null) return null;
      for (const id of [agent.link, ...this.#rows.held(name).map((link) => link.id)]) this.#revoke(connection, id, at);
      this.#rows.saveMade(connection, { ...agent, ended: at });
      appendEntry(connection, entry);
      return null;
    });
  }

  #revoke(connection: Connection, id: string, at: number): readonly StoredLink[] {
    const revoked = this.#rows.below(connection, id).map((link) => ({ ...link, revoked: at }));
    for (const link of revoked) this.#rows.save(connection, link);
    // A hired agent holds the link it was hired with and no other: it ends with it, and leaves its place to another one.
    const ids = new Set(revoked.map((link) => link.id));
    for (const agent of ids.size === 0 ? [] : this.#rows.allMade())
      if (agent.ended === null && agent.role !== undefined && ids.has(agent.link))
        this.#rows.saveMade(connection, { ...agent, ended: at });
    return revoked;
  }
}

/** Known, not revoked, and not expired. */
export function isLive(link: StoredLink | undefined, at: number): link is StoredLink {
  return link !== undefined && link.revoked === null && (link.expires === null || link.expires > at);
}

/** The link and all its live descendants, parents first. */
const BELOW = `WITH RECURSIVE below (id) AS (SELECT ? UNION SELECT link.id FROM link JOIN below ON link.parent = below.id)
  SELECT body FROM link WHERE revoked IS NULL AND id IN below ORDER BY number`;

const NONE: readonly StoredLink[] = [];

/** Links in the database, and those that are not revoked in memory: by id, by holder. */
export class LinkRows implements Mirror {
  readonly #live = new Map<string, StoredLink>();
  readonly #held = new Map<string, Map<string, StoredLink>>();
  readonly #made = new Map<string, CreatedAgent>();

  load(connection: Connection): void {
    for (const row of connection.all("SELECT body FROM link WHERE revoked IS NULL ORDER BY number"))
      this.#mirror(linkOf(row));
    for (const row of connection.all("SELECT body FROM made_agent")) {
      const agent = JSON.parse(textOf(row, "body")) as CreatedAgent;
      this.#made.set(nameKey(agent.name), agent);
    }
  }

  drop(): void {
    for (const map of [this.#live, this.#held, this.#made]) map.clear();
  }

  live(id: string): StoredLink | undefined {
    return this.#live.get(id);
  }

  held(name: AgentName): readonly StoredLink[] {
    // Rarely any link exists, and every call asks.
    if (this.#held.size === 0) return NONE;
    return [...(this.#held.get(nameKey(name))?.values() ?? NONE)];
  }

  made(name: AgentName): CreatedAgent | undefined {
    return this.#made.get(nameKey(name));
  }

  allMade(): readonly CreatedAgent[] {
    return [...this.#made.values()];
  }

  /** False if one of the links cannot be made, if the agent exists, or if its creator has as many as it may have. */
  make(connection: Connection, links: readonly StoredLink[], agent: CreatedAgent | null, most: number | null): boolean {
    for (const one of links) {
      if (this.get(connection, one.id) !== null) return false;
      // A revoked link gets no new descendants.
      if (one.parent !== null && !isLive(this.live(one.parent), one.made)) return false;
    }
    if (agent !== null) {
      if (this.made(agent.name)?.ended === null) return false;
      const creator = nameKey(agent.creator);
      const others = this.allMade().filter((one) => one.ended === null && nameKey(one.creator) === creator);
      if (most !== null && others.length >= most) return false;
    }
    for (const one of links) this.add(connection, one);
    if (agent !== null) this.saveMade(connection, agent);
    return true;
  }

  get(connection: Connection, id: string): StoredLink | null {
    const row = connection.get("SELECT body FROM link WHERE id = ?", id);
    return row === undefined ? null : linkOf(row);
  }

  below(connection: Connection, id: string): readonly StoredLink[] {
    return connection.all(BELOW, id).map(linkOf);
  }

  add(connection: Connection, link: StoredLink): void {
    const { id, parent, expires, revoked } = link;
    connection.run(
      "INSERT INTO link (id, parent, expires, revoked, body) VALUES (?, ?, ?, ?, ?)",
      ...[id, parent, expires, revoked, JSON.stringify(link)],
    );
    this.#mirror(link);
  }

  save(connection: Connection, link: StoredLink): void {
    connection.run("UPDATE link SET revoked = ?, body = ? WHERE id = ?", link.revoked, JSON.stringify(link), link.id);
    this.#mirror(link);
  }

  saveMade(connection: Connection, agent: CreatedAgent): void {
    connection.run(
      `INSERT INTO made_agent (name, ended, body) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET ended = excluded.ended, body = excluded.body`,
      ...[nameKey(agent.name), agent.ended, JSON.stringify(agent)],
    );
    this.#made.set(nameKey(agent.name), agent);
  }

  #mirror(link: StoredLink): void {
    const before = this.#live.get(link.id);
    if (before?.holder) this.#held.get(nameKey(before.holder))?.delete(link.id);
    if (link.revoked !== null) {
      this.#live.delete(link.id);
      return;
    }
    this.#live.set(link.id, link);
    if (link.holder === null) return;
    const key = nameKey(link.holder);
    const held = this.#held.get(key) ?? new Map<string, StoredLink>();
    this.#held.set(key, held.set(link.id, link));
  }
}

export function linkOf(row: Row): StoredLink {
  return JSON.parse(textOf(row, "body")) as StoredLink;
}

/** All parts, so that no two names share a key. */
function nameKey({ workspace, agent, user }: AgentName): string {
  return JSON.stringify(user === undefined ? [workspace, agent] : [workspace, agent, user]);
}
