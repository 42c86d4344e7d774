// Tasks in the database. INVARIANT: a task and the entry about its change are in one commit.
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import {
  isEnded,
  type RunEffects,
  type RunTime,
  type Task,
  type TaskChange,
  type TaskState,
  type TaskStore,
  type WaitingTask,
} from "../../core/ports/stores/task-store.ts";
import type { CommitLoop } from "../commit-loop.ts";
import type { Connection } from "../connection.ts";
import type { LinkRows } from "../links/link.ts";
import { appendEntry } from "../log/append.ts";
import { jsonOf, plainOf } from "../memory/memory-text.ts";
import { isFull, isScheduleFull, readTask, taskOf, writeSchedule, writeTask } from "./task-rows.ts";

/** The columns beside the body are what claims search by. */
export const taskTables: string = `
CREATE TABLE task (
  id TEXT PRIMARY KEY,
  workspace TEXT NOT NULL,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  created INTEGER NOT NULL,
  due INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX task_state ON task (state, workspace, due);
CREATE INDEX task_agent_state ON task (workspace, agent, state);
CREATE TABLE task_turn (
  workspace TEXT NOT NULL,
  agent TEXT NOT NULL,
  started INTEGER NOT NULL,
  PRIMARY KEY (workspace, agent)
) STRICT, WITHOUT ROWID;
`;

/** How long runs took, by the account of a budget. */
export const taskTimeTables: string = `
CREATE TABLE task_time (
  account TEXT PRIMARY KEY,
  milliseconds INTEGER NOT NULL CHECK (milliseconds >= 0)
) STRICT, WITHOUT ROWID;
`;

/** The approval that a parked task waits for: all of them are found without their bodies. */
export const taskApproval: string = `
ALTER TABLE task ADD COLUMN approval TEXT;
UPDATE task SET approval = json_extract(body, '$.waitsFor.approval') WHERE state = 'parked';
CREATE INDEX task_approval ON task (approval) WHERE approval IS NOT NULL;
`;

/** For the next run of an agent: what became of its directives. */
export const taskNotes: string = `
CREATE TABLE task_note (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  agent TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX task_note_agent ON task_note (workspace, agent);
`;

const notesMax = 20;
/** Tasks that have ended and are the oldest make room for new ones. */
const endedKeptMax = 20_000;

export class SqliteTaskStore implements TaskStore {
  readonly #loop: CommitLoop;
  readonly #links: LinkRows;

  constructor(loop: CommitLoop, links: LinkRows) {
    this.#loop = loop;
    this.#links = links;
  }

  add(task: Task, entry: LogEntry): Durable<boolean> {
    return this.#loop.write(
      (connection) => {
        if (isFull(connection)) return false;
        appendEntry(connection, entry);
        writeTask(connection, task);
        return true;
      },
      Buffer.byteLength(JSON.stringify(task)),
    );
  }

  get(id: string): Durable<Task | null> {
    return this.#loop.read((connection) => readTask(connection, id));
  }

  list(
    workspace: string | null,
    states: readonly TaskState[],
    count: number,
    before: string | null = null,
  ): Durable<readonly Task[]> {
    return this.#loop.read((connection) =>
      connection
        .all(
          `SELECT body FROM task WHERE state IN (SELECT value FROM json_each(?)) AND (?2 IS NULL OR workspace = ?2)
             AND (?4 IS NULL OR (created, id) < (SELECT created, id FROM task WHERE id = ?4))
           ORDER BY created DESC, id DESC LIMIT ?3`,
          JSON.stringify(states),
          workspace === null ? null : jsonOf(workspace),
          count,
          before === null ? null : jsonOf(before),
        )
        .map(taskOf),
    );
  }

  takeNotes(id: string): Durable<Task | null> {
    return this.#loop.write((connection) => {
      const before = readTask(connection, id);
      if (before === null) return null;
      const place = [jsonOf(before.workspace), jsonOf(before.agent)] as const;
      const rows = connection.all("SELECT text FROM task_note WHERE workspace = ? AND agent = ? ORDER BY id", ...place);
      if (rows.length === 0) return null;
      const after = { ...before, notes: rows.map((row) => plainOf(row["text"])).slice(-notesMax) };
      writeTask(connection, after);
      connection.run("DELETE FROM task_note WHERE workspace = ? AND agent = ?", ...place);
      return after;
    });
  }

  waiting(): Durable<readonly WaitingTask[]> {
    return this.#loop.read((connection) =>
      connection
        .all("SELECT id, approval FROM task WHERE approval IS NOT NULL AND state = 'parked'")
        .map((row) => ({ id: plainOf(row["id"]), approval: String(row["approval"]) })),
    );
  }

  change(
    id: string,
    change: TaskChange,
    entry: (task: Task) => LogEntry,
    time: RunTime | null = null,
    effects: RunEffects | null = null,
  ): Durable<Task | null> {
    return this.#loop.write((connection) => {
      const before = readTask(connection, id);
      const after = before === null ? null : change(before);
      if (after === null) return null;
      appendEntry(connection, entry(after));
      writeTask(connection, after);
      if (isEnded(after)) prune(connection);
      for (const account of time?.accounts ?? []) addTime(connection, account, time?.milliseconds ?? 0);
      if (effects !== null) writeEffects(connection, this.#links, after, effects);
      return after;
    });
  }

  timeOf(accounts: readonly string[]): Durable<ReadonlyMap<string, number>> {
    return this.#loop.read((connection) => {
      const text = "SELECT milliseconds FROM task_time WHERE account = ?";
      return new Map(accounts.map((one) => [one, Number(connection.get(text, jsonOf(one))?.["milliseconds"] ?? 0)]));
    });
  }

  claim(workspace: string, now: number, change: TaskChange, entry: (task: Task) => LogEntry): Durable<Task | null> {
    const place = jsonOf(workspace);
    return this.#loop.write((connection) => {
      const [row] = connection.all(NEXT, place, now);
      const after = row === undefined ? null : change(taskOf(row));
      if (after === null) return null;
      appendEntry(connection, entry(after));
      writeTask(connection, after);
      connection.run(
        "INSERT INTO task_turn (workspace, agent, started) VALUES (?, ?, ?) ON CONFLICT (workspace, agent) DO UPDATE SET started = max(started + 1, excluded.started)",
        place,
        jsonOf(after.agent),
        now,
      );
      return after;
    });
  }
}

/** One candidate for each agent: its oldest due task. */
const NEXT = `
SELECT body FROM task WHERE id = (
  SELECT first.id FROM (
    SELECT agent, (SELECT one.id FROM task one WHERE one.workspace = task.workspace
        AND one.agent = task.agent AND one.state = 'queued' AND one.due <= ?2 ORDER BY one.due, one.created, one.id LIMIT 1) AS id
    FROM task WHERE state = 'queued' AND workspace = ?1 AND due <= ?2 GROUP BY agent
  ) first
  LEFT JOIN task_turn turn ON turn.workspace = ?1 AND turn.agent = first.agent
  ORDER BY (SELECT count(*) FROM task run WHERE run.workspace = ?1 AND run.agent = first.agent AND run.state = 'running'),
    coalesce(turn.started, 0), first.id LIMIT 1
)`;

function writeEffects(
  connection: Connection,
  links: LinkRows,
  { workspace, agent }: Task,
  { tasks, schedules, hires, notes: told, entries }: RunEffects,
): void {
  const notes = [...told];
  for (const entry of entries) appendEntry(connection, entry);
  for (const { link, agent: hired, most, entry } of hires) {
    if (links.make(connection, [link], hired, most)) appendEntry(connection, entry);
    else
      notes.push(
        `${hired.name.agent} was not hired: it already existed, or you had ${most} agents, when your run ended.`,
      );
  }
  for (const { task, entry } of tasks) {
    if (isFull(connection)) {
      notes.push(`The task for ${task.agent} was not queued: there were too many tasks when your run ended.`);
      continue;
    }
    appendEntry(connection, entry);
    writeTask(connection, task);
  }
  for (const { schedule, entry } of schedules) {
    if (isScheduleFull(connection)) {
      notes.push(`The schedule \`${schedule.when}\` was not added: there were too many schedules when your run ended.`);
      continue;
    }
    appendEntry(connection, entry);
    writeSchedule(connection, schedule);
  }
  const place = [jsonOf(workspace), jsonOf(agent)];
  for (const note of notes)
    connection.run("INSERT INTO task_note (workspace, agent, text) VALUES (?, ?, ?)", ...place, jsonOf(note));
}

function addTime(connection: Connection, account: string, milliseconds: number): void {
  connection.run(
    `INSERT INTO task_time (account, milliseconds) VALUES (?, ?)
       ON CONFLICT (account) DO UPDATE SET milliseconds = milliseconds + excluded.milliseconds`,
    jsonOf(account),
    Math.max(0, Math.round(milliseconds)),
  );
}

function prune(connection: Connection): void {
  connection.run(
    `DELETE FROM task WHERE state IN ('done', 'failed', 'cancelled') AND created < (
      SELECT created FROM task WHERE state IN ('done', 'failed', 'cancelled') ORDER BY created DESC LIMIT 1 OFFSET ?)`,
    endedKeptMax,
  );
}
