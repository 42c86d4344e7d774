// A real store in a folder of its own, for tests.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DurableResult } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { MemoryStore } from "../../core/ports/stores/memory-store.ts";
import type { SecretStore, SettingStore } from "../../core/ports/stores/secret-store.ts";
import type { Job } from "../commit-loop.ts";
import { rowsBetween } from "../log/leaf.ts";
import { SqliteObservationStore } from "../memory/observation.ts";
import { loadDriver } from "../sqlite.ts";
import { openState } from "../state.ts";

export interface TestStore {
  readonly memory: MemoryStore;
  readonly observations: SqliteObservationStore;
  readonly secrets: SecretStore;
  readonly settings: SettingStore;
  /** The stored value; a refusal fails the test. */
  value<T>(kept: DurableResult<T>): T;
  write<T>(job: Job<T>): Promise<T>;
  read<T>(job: Job<T>): T;
  /** The database's error for this statement. */
  refuses(text: string): string;
  entries(): readonly LogEntry[];
  /** Opens the same file again, without in-memory state. */
  again(): TestStore;
  remove(): void;
}

const program = fileURLToPath(new URL("../../..", import.meta.url));

export function testStore(folder: string = mkdtempSync(join(tmpdir(), "ambit-store-"))): TestStore {
  const driver = loadDriver(program);
  if (driver === null) throw new Error("there is no database driver");
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const state = keptValue(openState(folder, { digest, program }));
  const { memory, secrets, settings, loop } = state;
  const observations = new SqliteObservationStore(loop);
  const made: TestStore[] = [];
  return {
    ...{ memory, observations, secrets, settings },
    value: keptValue,
    write: async (job) => keptValue(await loop.write(job)),
    read: (job) => keptValue(loop.readNow(job)),
    refuses: (text) => {
      const database = driver(join(folder, "state.db"), false);
      try {
        database.exec(text);
        return "";
      } catch (error) {
        return String(error);
      } finally {
        database.close();
      }
    },
    entries: () =>
      keptValue(loop.readNow((connection) => [...rowsBetween(connection, 1, Number.MAX_SAFE_INTEGER)])).map(
        ({ body }) => JSON.parse(body) as LogEntry,
      ),
    again: () => {
      const next = testStore(folder);
      made.push(next);
      return next;
    },
    remove: () => {
      for (const each of made) each.remove();
      state.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function keptValue<T>(kept: DurableResult<T>): T {
  if (!kept.ok) throw new Error(kept.message);
  return kept.value;
}
