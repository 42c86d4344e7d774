// Links in the database, and those that are not revoked in memory: by id, by holder.
import type { AgentName, CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import { type Connection, textOf } from "../connection.ts";
import type { Row } from "../sqlite.ts";
import type { Mirror } from "../trusted-connection.ts";

/** The link and all its live descendants, parents first. */
const BELOW = `WITH RECURSIVE below (id) AS (SELECT ? UNION SELECT link.id FROM link JOIN below ON link.parent = below.id)
  SELECT body FROM link WHERE revoked IS NULL AND id IN below ORDER BY number`;

const NONE: readonly StoredLink[] = [];

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

/** Both parts, so that no two names share a key. */
function nameKey({ workspace, agent }: AgentName): string {
  return JSON.stringify([workspace, agent]);
}
