// The state of one user on one machine: one file, one commit loop, and every store that writes through it.
import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Digest } from "../core/ports/digest.ts";
import type { ApprovalStore } from "../core/ports/stores/approval-store.ts";
import type { ChainStore } from "../core/ports/stores/chain-rows.ts";
import type { DurableResult } from "../core/ports/stores/durable.ts";
import type { Ledger } from "../core/ports/stores/ledger.ts";
import type { LinkStore } from "../core/ports/stores/link-store.ts";
import type { MemoryStore, ObservationStore } from "../core/ports/stores/memory-store.ts";
import type { Notary } from "../core/ports/stores/notary.ts";
import type { ScheduleStore } from "../core/ports/stores/schedule-store.ts";
import type { SecretStore, SettingStore } from "../core/ports/stores/secret-store.ts";
import type { SharedStores } from "../core/ports/stores/shared-store.ts";
import type { TaskStore } from "../core/ports/stores/task-store.ts";
import { Generations } from "./accounts/account.ts";
import { SqliteApprovalStore } from "./approvals/approval.ts";
import { ApprovalRows } from "./approvals/approval-rows.ts";
import { CommitLoop, writeFailure } from "./commit-loop.ts";
import { Connection } from "./connection.ts";
import { BACKUP, machineEnvironment, prepareFolder, STATE_FILE, type StateEnvironment } from "./folder.ts";
import { SqliteLedger } from "./ledger.ts";
import { LinkRows, SqliteLinkStore } from "./links/link.ts";
import { SqliteChainStore } from "./log/chain.ts";
import { FactFiller, IndexFiller } from "./log/index-filler.ts";
import { LogReader } from "./log/log-reader.ts";
import { tailProblem } from "./log/tail.ts";
import { SqliteMemoryStore } from "./memory/memory.ts";
import { SqliteObservationStore } from "./memory/observation.ts";
import { importOldJournal } from "./old-journal.ts";
import { migrate, schema } from "./schema.ts";
import { SqliteSecretStore } from "./secret.ts";
import { SqliteSettingStore } from "./setting.ts";
import { SqliteSharedStores } from "./shared/shared-store.ts";
import { type Database, type Driver, loadDriver, NO_DRIVER } from "./sqlite.ts";
import { SqliteScheduleStore } from "./tasks/schedule.ts";
import { SqliteTaskStore } from "./tasks/task.ts";

export interface StateParts {
  readonly digest: Digest;
  /** The folder of our own package, from which the database driver is found. */
  readonly program: string;
  /** Signs every commit; without it none is signed. */
  readonly notary?: Notary;
  /** Facts about the machine; for tests. */
  readonly environment?: StateEnvironment;
  /** Milliseconds of a monotonic clock; for tests. */
  readonly elapsed?: () => number;
}

export interface State {
  readonly ledger: Ledger;
  readonly chain: ChainStore;
  readonly approvals: ApprovalStore;
  readonly links: LinkStore;
  readonly memory: MemoryStore;
  readonly observations: ObservationStore;
  readonly secrets: SecretStore;
  readonly settings: SettingStore;
  readonly tasks: TaskStore;
  readonly schedules: ScheduleStore;
  readonly shared: SharedStores;
  readonly loop: CommitLoop;
  /** Writes pending jobs; everything after it is refused. */
  close(): void;
}

/** The message of a refusal says what is wrong with the folder or the file, and what to do. */
export function openState(folder: string, parts: StateParts): DurableResult<State> {
  const { digest, program, notary = null, environment = machineEnvironment() } = parts;
  const { elapsed = () => performance.now() } = parts;
  const driver = loadDriver(program);
  if (driver === null) return writeFailure(NO_DRIVER);
  const loop = new CommitLoop({
    elapsed,
    open: () => openConnection({ folder, driver, digest, environment, notary }),
  });
  const [generations, approvals, links] = [new Generations(), new ApprovalRows(), new LinkRows()];
  const facts = new FactFiller();
  for (const mirror of [generations, approvals, links, facts]) loop.mirror(mirror);
  new IndexFiller(loop, facts).begin();
  const reader = new LogReader(loop);
  const chain = new SqliteChainStore(loop);
  const secrets = new SqliteSecretStore(loop);
  const state: State = {
    ledger: new SqliteLedger(loop, { generations, approvals, links, secrets, reader }),
    chain,
    approvals: new SqliteApprovalStore(loop, approvals),
    links: new SqliteLinkStore(loop, links),
    memory: new SqliteMemoryStore(loop),
    observations: new SqliteObservationStore(loop),
    secrets,
    settings: new SqliteSettingStore(loop),
    tasks: new SqliteTaskStore(loop, links),
    schedules: new SqliteScheduleStore(loop),
    shared: new SqliteSharedStores(loop),
    loop,
    close: () => loop.close(),
  };
  const opened = loop.open();
  if (opened.ok) chain.resume();
  return opened.ok ? { ok: true, value: state } : opened;
}

export interface OpenParts {
  readonly folder: string;
  readonly driver: Driver;
  readonly digest: Digest;
  readonly environment: StateEnvironment;
  /** Null: commits are not signed, and existing ones need no signature. */
  readonly notary: Notary | null;
}

/** Name, value, and how it reads back. Drivers have weaker defaults, and some reset them when a file is opened again. */
const SETTINGS: readonly (readonly [name: string, value: string, read: number | string])[] = [
  ["busy_timeout", "5000", 5000],
  ["journal_mode", "wal", "wal"],
  ["synchronous", "full", 2],
  ["foreign_keys", "on", 1],
  ["trusted_schema", "off", 0],
  ["cell_size_check", "on", 1],
  ["cache_size", "-16384", -16_384],
  ["journal_size_limit", "67108864", 67_108_864],
];

/** On macOS a plain flush only reaches the disk's cache. */
const APPLE_SETTINGS: typeof SETTINGS = [
  ["fullfsync", "on", 1],
  ["checkpoint_fullfsync", "on", 1],
];

export function openConnection(parts: OpenParts): DurableResult<Connection> {
  const { folder, driver, digest, environment, notary } = parts;
  let connection: Connection | null = null;
  try {
    const wrong = prepareFolder(folder, environment);
    if (wrong !== null) return writeFailure(wrong);
    const path = join(folder, STATE_FILE);
    const database = driver(path, false);
    const opened = identityOf(path);
    connection = new Connection(database, digest, notary, () => opened !== null && identityOf(path) === opened);
    const problem =
      makeSettings(connection, environment) ??
      importOldJournal(connection, folder) ??
      migrate(connection, schema, (version) => keepBackup(database, path, version)) ??
      tailProblem(connection);
    if (problem === null) return { ok: true, value: connection };
    connection.close();
    return writeFailure(problem);
  } catch (error) {
    connection?.close();
    return writeFailure(
      `${join(folder, STATE_FILE)} cannot be opened: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** `state.db.version-5` is the whole file as that version left it, or it is not there: an interrupted copy has another name. */
function keepBackup(database: Database, path: string, version: number): void {
  const [kept, unfinished] = [`${path}${BACKUP}${version}`, `${path}.unfinished`];
  rmSync(unfinished, { force: true });
  database.exec(`VACUUM INTO '${unfinished.replaceAll("'", "''")}'`);
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, kept);
}

/** Null where the path leads to no file. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev} ${facts.ino}`;
}

function makeSettings(connection: Connection, { platform }: StateEnvironment): string | null {
  for (const [name, value, read] of platform === "darwin" ? [...SETTINGS, ...APPLE_SETTINGS] : SETTINGS) {
    connection.exec(`PRAGMA ${name} = ${value}`);
    // The column name sometimes differs from the setting's name.
    const found = Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0];
    if (found !== read)
      return `the database does not accept ${name} = ${value} (it is ${found}); without it, entries could be lost`;
  }
  return null;
}
