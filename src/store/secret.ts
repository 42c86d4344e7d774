// Sealed secrets: rows stored as given, each change in one commit with its log entry. Readable synchronously, as of the
// last commit.
import type { Durable } from "../core/ports/stores/durable.ts";
import type { SecretUse } from "../core/ports/stores/ledger.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SealedSecret, SecretStore } from "../core/ports/stores/secret-store.ts";
import type { CommitLoop } from "./commit-loop.ts";
import type { Connection } from "./connection.ts";
import { appendEntry } from "./log/append.ts";
import { bytesOf, jsonOf } from "./memory/memory-text.ts";
import type { Row } from "./sqlite.ts";

export const secretBytesMax: number = 256 * 1024;
export const secretsMax: number = 10_000;

export class SqliteSecretStore implements SecretStore {
  readonly #loop: CommitLoop;
  #mirror: Map<string, SealedSecret> = new Map();
  /** The same list object until something changes, so that callers can compare identities. */
  #list: readonly SealedSecret[] | null = null;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
    loop.mirror({
      load: (connection) => {
        this.#mirror = new Map(rows(connection).map((secret) => [secret.name, secret]));
        this.#list = null;
      },
      drop: () => {
        this.#mirror.clear();
        this.#list = null;
      },
    });
  }

  async put(secret: SealedSecret, entry: LogEntry): Durable<null> {
    const why = tooMuch(secret, this.#mirror);
    if (why !== null) return { ok: false, code: "audit_unavailable", message: why };
    const kept = await this.#loop.write((connection) => {
      appendEntry(connection, entry);
      return putRow(connection, secret);
    });
    if (!kept.ok) return kept;
    this.#mirror.set(secret.name, kept.value);
    this.#list = null;
    return { ok: true, value: null };
  }

  get(name: string): SealedSecret | null {
    return this.#mirror.get(name) ?? null;
  }

  /** By name. */
  all(): readonly SealedSecret[] {
    this.#list ??= [...this.#mirror.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
    return this.#list;
  }

  async delete(name: string, entry: LogEntry): Durable<boolean> {
    const kept = await this.#loop.write((connection) => {
      const removed = connection.run("DELETE FROM secret WHERE name = ?", jsonOf(name));
      if (removed > 0) appendEntry(connection, entry);
      return removed > 0;
    });
    if (kept.ok) this.#mirror.delete(name);
    this.#list = null;
    return kept;
  }

  async use(name: string, version: number, entry: LogEntry): Durable<boolean> {
    return this.#loop.write((connection) => {
      if (!this.isUsable(connection, { name, version })) return false;
      this.useIn(connection, { name, version });
      appendEntry(connection, entry);
      return true;
    });
  }

  /** False if no use is left, if the version has changed, or if it is a canary. For a job. */
  isUsable(connection: Connection, { name, version }: Pick<SecretUse, "name" | "version">): boolean {
    return connection.get(`SELECT 1 FROM secret WHERE ${USABLE}`, jsonOf(name), version) !== undefined;
  }

  /** Counts one use of a usable secret, without its entry. For a job. */
  useIn(connection: Connection, { name, version }: Pick<SecretUse, "name" | "version">): void {
    const row = connection.get(
      `UPDATE secret SET used = used + 1 WHERE ${USABLE} RETURNING body, used`,
      jsonOf(name),
      version,
    );
    if (row === undefined) throw new Error("a secret was used that is not usable");
    this.#mirror.set(name, secretOf(row));
    this.#list = null;
  }
}

const USABLE = "name = ? AND version = ? AND is_canary = 0 AND (uses IS NULL OR used < uses)";

function rows(connection: Connection): readonly SealedSecret[] {
  return connection.all("SELECT body, used FROM secret").map(secretOf);
}

function secretOf(row: Row): SealedSecret {
  return { ...(JSON.parse(String(row["body"])) as SealedSecret), used: Number(row["used"]) };
}

/** Writing the same version again changes its binding only: its uses stay counted. */
function putRow(connection: Connection, secret: SealedSecret): SealedSecret {
  const row = connection.get(
    `INSERT INTO secret (name, version, uses, used, is_canary, body) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET version = excluded.version, uses = excluded.uses,
       used = CASE WHEN version = excluded.version THEN max(used, excluded.used) ELSE excluded.used END,
       is_canary = excluded.is_canary, body = excluded.body RETURNING body, used`,
    ...[jsonOf(secret.name), secret.version, secret.binding.uses, secret.used],
    ...[secret.isCanary ? 1 : 0, JSON.stringify(secret)],
  );
  if (row === undefined) throw new Error("storing a secret returned no row");
  return secretOf(row);
}

function tooMuch(secret: SealedSecret, there: ReadonlyMap<string, SealedSecret>): string | null {
  if (bytesOf(JSON.stringify(secret)) > secretBytesMax) return `a sealed secret has at most ${secretBytesMax} bytes`;
  if (!there.has(secret.name) && there.size >= secretsMax) return `there are at most ${secretsMax} secrets`;
  return null;
}
