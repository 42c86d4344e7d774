// Takes one landing back, files and git together: nothing of it where something was changed since.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { DraftRecord } from "./draft-records.ts";
import type { RepositoryChange } from "./git-landing-log.ts";
import type { GitUndos } from "./git-undo.ts";
import type { LandWorkers } from "./lander/land-workers.ts";
import { problemText } from "./landing-reasons.ts";

export interface LandingToUndo {
  /** Number of the landing of its files; 0 for none. */
  readonly landing: number;
  readonly repositories: readonly RepositoryChange[];
}

export type UndoneLanding =
  | { readonly ok: true; readonly notes: readonly string[] }
  | {
      readonly ok: false;
      readonly code: DenialCode;
      readonly reason: string;
      /** False: some of it is taken back, and recovery has to go on. */
      readonly isUnchanged: boolean;
    };

const namesMax = 5;

/**
 * The order makes it all or nothing: git's locks are taken and its values compared, the files go back, then refs, HEAD
 * and index. INVARIANT: the caller holds the lock of the root, and its log has an open entry if there are repositories.
 */
export async function undoLanding(
  { git, workers }: { readonly git: GitUndos; readonly workers: LandWorkers },
  record: DraftRecord,
  { landing, repositories }: LandingToUndo,
): Promise<UndoneLanding> {
  const prepared = await git.prepare(record, repositories);
  if (!prepared.ok) return { ...prepared, isUnchanged: true };
  let isOver = false;
  try {
    const failed = landing === 0 ? null : await undoFiles(workers, record, landing);
    if (failed !== null) return failed;
    isOver = true;
    const done = await prepared.commit();
    return done.ok
      ? { ok: true, notes: prepared.notes }
      : { ok: false, code: "not_landed", reason: done.reason, isUnchanged: false };
  } finally {
    if (!isOver) await prepared.abort();
  }
}

async function undoFiles(workers: LandWorkers, record: DraftRecord, landing: number): Promise<UndoneLanding | null> {
  const worker = await workers.at(record);
  if (!worker.ok) return { ok: false, code: "not_landed", reason: worker.message, isUnchanged: true };
  const result = await worker.value.undo(record.draft, landing);
  switch (result.status) {
    case "undone":
      return null;
    case "conflict": {
      const names = result.conflicts.listed.slice(0, namesMax).map(({ path }) => path);
      return { ok: false, code: "draft_conflict", reason: `changed since: ${names.join(", ")}`, isUnchanged: true };
    }
    case "refused":
      return { ok: false, code: "not_landed", reason: result.reason, isUnchanged: true };
    case "lost":
    case "stuck":
      return { ok: false, code: "not_landed", reason: problemText(result), isUnchanged: false };
    default:
      return result satisfies never;
  }
}
