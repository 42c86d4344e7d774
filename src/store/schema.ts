// All tables, by version. A released version is never edited, only followed by the next.
import { accountCosts, accountsOfLeaves, accountTables } from "./accounts/account-schema.ts";
import { approvalTables } from "./approvals/approval-schema.ts";
import type { Connection } from "./connection.ts";
import { numberOf } from "./connection.ts";
import { linkTables } from "./links/link-schema.ts";
import { entryTables, leafNote } from "./log/entry-schema.ts";
import { factTables } from "./log/fact-schema.ts";
import { memoryTables } from "./memory/memory-schema.ts";
import { sharedStoreTables } from "./shared/shared-store.ts";
import { scheduleTables } from "./tasks/schedule.ts";
import { taskApproval, taskNotes, taskTables, taskTimeTables } from "./tasks/task.ts";

export const BY_A_NEWER_ONE = "was written by a newer ambit";

/** The migration from each version to the next; the first initialises an empty file. */
export const schema: readonly (readonly string[])[] = [
  [entryTables, factTables, accountTables, approvalTables, linkTables, memoryTables],
  [leafNote],
  [accountsOfLeaves],
  // Names of agents may hold a user. INVARIANT: no older program reads them, because it would mix the agents of two users.
  [],
  [accountCosts],
  [taskTables],
  [taskTimeTables],
  [scheduleTables, taskApproval],
  [sharedStoreTables],
  [taskNotes],
];

/** "AMBT" in the file header; another program's database is left alone. */
const applicationNumber = 0x414d4254;

/**
 * Null once the file has our newest version; else what is wrong. One transaction: it has the old version or the new. `backup` is
 * called before a file with entries is changed; where it throws, the file stays as it is.
 */
export function migrate(
  connection: Connection,
  versions: readonly (readonly string[])[] = schema,
  backup: (version: number) => void = () => undefined,
): string | null {
  const found = versionOf(connection);
  if (found > versions.length)
    return `state.db ${BY_A_NEWER_ONE} (version ${found}, this one supports ${versions.length}): use the newer ambit, or another state folder`;
  const owner = numberOf(connection.get("PRAGMA application_id"), "application_id");
  const isEmpty = numberOf(connection.get("SELECT count(*) AS count FROM sqlite_schema"), "count") === 0;
  if (owner !== applicationNumber && !(isEmpty && found === 0))
    return "state.db is not an ambit database: move it away";
  if (found > 0 && !hasLeaves(connection)) return WITHOUT_LEAVES;
  if (found === versions.length) return null;
  if (found > 0) backup(found);
  connection.begin();
  try {
    // Another process may have been faster.
    const from = versionOf(connection);
    for (const part of versions.slice(from).flat()) connection.exec(part);
    connection.exec(
      `PRAGMA application_id = ${applicationNumber}; PRAGMA user_version = ${Math.max(from, versions.length)}`,
    );
    connection.commit();
    return null;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

/** Files from before the first release have the same number and another log. */
function hasLeaves(connection: Connection): boolean {
  return connection.get("SELECT 1 AS there FROM sqlite_schema WHERE name = 'leaf'") !== undefined;
}

const WITHOUT_LEAVES = "state.db was written by an ambit older than the first release: move it away to start a new log";

function versionOf(connection: Connection): number {
  return numberOf(connection.get("PRAGMA user_version"), "user_version");
}
