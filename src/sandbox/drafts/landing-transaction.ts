// Carries decided changes into the project, files and git together: all of them, or none. Throws where that is
// uncertain, and the draft has to be recovered.
import { setImmediate } from "node:timers/promises";
import type { Change } from "../plan/drafts/change.ts";
import { stepOf } from "../plan/drafts/land-request.ts";
import type { NameClass, UnlandedDecision } from "../plan/drafts/landing.ts";
import type { DraftRecord, DraftRecords } from "./draft-records.ts";
import { abortAll, type CommittedGit, type GitGroup } from "./git-groups.ts";
import type { GitLandings } from "./git-landing.ts";
import type { GitLandingLog, RepositoryChange } from "./git-landing-log.ts";
import type { GitUndos } from "./git-undo.ts";
import type { LandWorkers } from "./lander/land-workers.ts";
import { notLanded, problemText } from "./landing-reasons.ts";
import { undoLanding } from "./undo-landing.ts";

export interface LandingTransactionParts {
  readonly records: DraftRecords;
  readonly workers: LandWorkers;
  readonly git: GitLandings;
  readonly gitUndos: GitUndos;
}

export interface AppliedLanding extends CommittedGit {
  /** All of the changes that were to land, or none. */
  readonly landed: readonly Change[];
  /** 0 where no file changed. */
  readonly landing: number;
  readonly kept: readonly UnlandedDecision[];
}

/** Names classified in one event-loop turn. */
const namesPerTurn = 200;

export class LandingTransaction {
  readonly #parts: LandingTransactionParts;

  constructor(parts: LandingTransactionParts) {
    this.#parts = parts;
  }

  /** `classesAfter`: classifies names with the project as it is once the files have landed. */
  async run(
    record: DraftRecord,
    land: readonly Change[],
    groups: readonly GitGroup[],
    classesAfter: () => Promise<(change: Change) => NameClass>,
  ): Promise<AppliedLanding> {
    // A repository is removed once it is committed, or its commit has failed: neither can be aborted.
    const uncommitted = new Set(groups.filter(({ git }) => git.ok));
    try {
      return await this.#run(record, land, uncommitted, classesAfter);
    } finally {
      await abortAll([...uncommitted]);
    }
  }

  async #run(
    record: DraftRecord,
    land: readonly Change[],
    uncommitted: Set<GitGroup>,
    classesAfter: () => Promise<(change: Change) => NameClass>,
  ): Promise<AppliedLanding> {
    const committed: GitGroup[] = [];
    const begun: RepositoryChange[] = [];
    const nothing = (reasonFor: (change: Change) => UnlandedDecision, gitReason: string): AppliedLanding => ({
      ...{ landed: [], landing: 0, committed: [], gitReason },
      kept: land.map(reasonFor),
    });
    const worker = await this.#parts.workers.at(record);
    if (!worker.ok)
      return nothing((change) => ({ change, code: "not_landed", reason: worker.message }), worker.message);
    const log = this.#begin(record, land, [...uncommitted].flatMap(changeOf));
    let landing = 0;
    if (land.length > 0) {
      const result = await worker.value.land(record.draft, land.map(stepOf), BigInt(record.start));
      if (result.status === "lost" || result.status === "stuck") throw new Error(problemText(result));
      if (result.status !== "landed") {
        log?.drop([]);
        return nothing((change) => notLanded(change, result), "its files did not land");
      }
      ({ landing } = result);
    }
    const takeBack = async (code: UnlandedDecision["code"], reason: string): Promise<AppliedLanding> => {
      await abortAll([...uncommitted]);
      uncommitted.clear();
      const undone = await this.#undo(record, landing, begun, log);
      if (undone === null) return nothing((change) => ({ change, code, reason }), reason);
      // It is in the project, and a person has to intervene.
      const [first] = land;
      const told = `${reason}; it is still in the project, because the rollback failed: ${undone}`;
      return {
        ...{ landed: land, landing, committed, gitReason: told },
        kept: first === undefined ? [] : [{ change: first, code, reason: told }],
      };
    };
    // Checked again with the current project: two drafts that are harmless alone can complete a trigger together.
    const classify = await classesAfter();
    const made = land.filter(({ kind }) => kind !== "delete");
    const trigger = [...(await inTurns(made, classify))].find(([, found]) => isTrigger(found))?.[0];
    if (trigger !== undefined)
      return takeBack("self_modification", `${trigger.path.join("/")} would run code on this machine`);
    for (const group of [...uncommitted]) {
      uncommitted.delete(group);
      begun.push(...changeOf(group));
      const done = group.git.ok ? await group.git.commit() : { ok: true as const };
      if (!done.ok) return takeBack("not_landed", done.reason);
      committed.push(group);
    }
    log?.close(landing);
    return { landed: land, landing, committed, kept: [], gitReason: null };
  }

  /** Durable first: after a power failure the records name the originals in the draft and the old values of git. */
  #begin(
    record: DraftRecord,
    land: readonly Change[],
    repositories: readonly RepositoryChange[],
  ): GitLandingLog | null {
    if (land.length === 0 && repositories.length === 0) return null;
    const log = repositories.length === 0 ? null : this.#parts.git.log(record);
    log?.begin(repositories, record.landings.at(-1) ?? 0);
    this.#parts.records.beginLanding(
      record,
      land.map(({ path, base }) => ({ path, base: base?.kind ?? null })),
    );
    return log;
  }

  /** Null where the project is as before; else why it is not. */
  async #undo(
    record: DraftRecord,
    landing: number,
    repositories: readonly RepositoryChange[],
    log: GitLandingLog | null,
  ): Promise<string | null> {
    const { gitUndos, workers } = this.#parts;
    // A new repository that was not placed is nowhere in the project.
    const placed = await gitUndos.begun(record, repositories);
    const undone = await undoLanding({ git: gitUndos, workers }, record, { landing, repositories: placed });
    if (undone.ok) log?.drop(gitUndos.stateOf(record, placed));
    else if (undone.isUnchanged) log?.close(landing);
    else throw new Error(undone.reason);
    return undone.ok ? null : undone.reason;
  }
}

function changeOf({ git }: GitGroup): readonly RepositoryChange[] {
  return git.ok && git.change !== null ? [git.change] : [];
}

/** Classifies thousands of names in parts, so that the daemon answers other requests in between. */
export async function inTurns<T>(
  changes: readonly Change[],
  look: (change: Change) => T,
): Promise<ReadonlyMap<Change, T>> {
  const found = new Map<Change, T>();
  for (const [at, change] of changes.entries()) {
    if (at > 0 && at % namesPerTurn === 0) await setImmediate();
    found.set(change, look(change));
  }
  return found;
}

function isTrigger({ class: found }: NameClass): boolean {
  return found === "never" || found === "git";
}
