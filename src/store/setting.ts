// Small values of the state itself, each change in one commit with its log entry. Readable synchronously, as of the
// last commit.
import type { Durable } from "../core/ports/stores/durable.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SettingStore } from "../core/ports/stores/secret-store.ts";
import type { CommitLoop } from "./commit-loop.ts";
import { appendEntry } from "./log/append.ts";
import { bytesOf, jsonOf, plainOf } from "./memory/memory-text.ts";

export const settingNameBytesMax: number = 512;
/** The pin of an MCP server with many tools is the largest. */
export const settingValueBytesMax: number = 2 * 1024 * 1024;
export const settingsMax: number = 10_000;

export class SqliteSettingStore implements SettingStore {
  readonly #loop: CommitLoop;
  #mirror: Map<string, string> = new Map();

  constructor(loop: CommitLoop) {
    this.#loop = loop;
    loop.mirror({
      load: (connection) => {
        const rows = connection.all("SELECT name, value FROM setting");
        this.#mirror = new Map(rows.map((row) => [plainOf(row["name"]), plainOf(row["value"])]));
      },
      drop: () => this.#mirror.clear(),
    });
  }

  get(name: string): string | null {
    return this.#mirror.get(name) ?? null;
  }

  /** Null removes it. */
  async set(name: string, value: string | null, entry: LogEntry): Durable<null> {
    const why = this.#tooMuch(name, value ?? "");
    if (why !== null) return { ok: false, code: "audit_unavailable", message: why };
    const kept = await this.#loop.write((connection) => {
      appendEntry(connection, entry);
      if (value === null) connection.run("DELETE FROM setting WHERE name = ?", jsonOf(name));
      else
        connection.run(
          "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          jsonOf(name),
          jsonOf(value),
        );
      return null;
    });
    if (!kept.ok) return kept;
    if (value === null) this.#mirror.delete(name);
    else this.#mirror.set(name, value);
    return kept;
  }

  #tooMuch(name: string, value: string): string | null {
    if (bytesOf(name) > settingNameBytesMax) return `a setting's name has at most ${settingNameBytesMax} bytes`;
    if (bytesOf(value) > settingValueBytesMax) return `a setting has at most ${settingValueBytesMax} bytes`;
    if (!this.#mirror.has(name) && this.#mirror.size >= settingsMax) return `there are at most ${settingsMax} settings`;
    return null;
  }
}
