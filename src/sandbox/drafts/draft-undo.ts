// Takes back what a draft landed: for a person (`ambit undo`), and after a crash that interrupted a landing or an undo.
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
import type { ChangesReport } from "../../core/ports/drafts.ts";
import type { Change } from "../plan/drafts/change.ts";
import type { DraftRecord } from "./draft-records.ts";
import type { GitLandingEntry } from "./git-landing-log.ts";
import type { Landing, LandingContext, LandingParts } from "./landing.ts";
import { undoLanding } from "./undo-landing.ts";

export interface DraftUndoParts extends LandingParts {
  /** Classifies names for an undo, which restores names. */
  classifier(record: DraftRecord): LandingContext["classifier"];
}

interface LandedPart {
  readonly landing: number;
  /** Null where it changed no repository. */
  readonly git: GitLandingEntry | null;
}

/** INVARIANT: callers hold the lock of the root. */
export class DraftUndo {
  readonly #parts: DraftUndoParts;
  readonly #landing: Landing;

  constructor(parts: DraftUndoParts, landing: Landing) {
    this.#parts = parts;
    this.#landing = landing;
  }

  /** Newest landing first; stops at the first that cannot be undone as a whole. The value says what stays. */
  async undo(record: DraftRecord): Promise<Answer<readonly string[]>> {
    const { records, git, gitUndos, workers } = this.#parts;
    const log = git.log(record);
    const parts = landedParts(record, log.landings());
    if (record.repositories.length > 0 && parts.every((one) => one.git === null))
      return refuse(
        "not_landed",
        `commits or refs of it landed in ${record.repositories.join(", ")} without a record of the old values; nothing was undone`,
        "git revert, or git reset with the old value from git reflog",
      );
    const trigger = await this.#restoredTrigger(record);
    if (trigger !== null) return refuse("self_modification", `${trigger}; nothing was undone`);
    let now = record;
    const notes: string[] = [];
    for (const { landing, git: entry } of parts) {
      // Until its end is recorded, an undo counts as interrupted.
      if (entry !== null) log.reopen(entry);
      records.write({ ...now, state: "running" });
      const repositories = entry?.repositories ?? [];
      const undone = await undoLanding({ git: gitUndos, workers }, now, { landing, repositories });
      if (!undone.ok && !undone.isUnchanged) {
        await this.recover(now, "its undo was interrupted");
        return refuse("not_landed", `the undo was interrupted: ${undone.reason}`, `ambit changes show ${record.draft}`);
      }
      if (!undone.ok) {
        if (entry !== null) log.close(landing);
        records.write(now);
        return refuse(undone.code, `${undone.reason}; nothing of that landing was undone`);
      }
      if (entry !== null) log.drop(gitUndos.stateOf(now, repositories));
      notes.push(...undone.notes);
      now = this.#without(now, landing);
      records.write(now);
    }
    return { ok: true, value: notes };
  }

  /** Takes back what was interrupted, and keeps the rest. Null where a person has to intervene, or nothing new waits. */
  async recover(record: DraftRecord, reason: string): Promise<ChangesReport | null> {
    const { records, workers, git, note } = this.#parts;
    await git.recover(record.draft, note);
    const worker = await workers.at(record);
    const recovered = worker.ok ? await worker.value.recover(record.draft) : null;
    if (recovered?.status !== "recovered") {
      records.write({ ...record, state: "broken" });
      note(
        `draft ${record.draft}: an interrupted landing could not be recovered; see ambit changes show ${record.draft}`,
      );
      return null;
    }
    const done = recovered.landings.filter(({ state }) => state === "done").map(({ number }) => number);
    const { landings, left } = await this.#takeBackGit(record, done);
    const now = this.#withLandings(record, landings);
    const hadLanded = record.landings.length > 0 || record.repositories.length > 0;
    const isNew = landings.some((one) => !record.landings.includes(one));
    if (hadLanded && !isNew && left === null) {
      // An undo, or a second landing: what waited before still waits.
      records.write(now);
      return null;
    }
    const told = left ?? (isNew ? `${reason}; its files had already landed, its other changes did not` : reason);
    return this.#landing.keepAll({ ...record, landings, repositories: now.repositories }, told);
  }

  /** Of an interrupted landing or undo with git changes, both parts go back. `left`: why they did not. */
  async #takeBackGit(
    record: DraftRecord,
    done: readonly number[],
  ): Promise<{ readonly landings: readonly number[]; readonly left: string | null }> {
    const { git, gitUndos, workers, note } = this.#parts;
    const log = git.log(record);
    const open = log.interrupted();
    if (open === null) return { landings: done, left: null };
    const own = open.landing > 0 ? open.landing : (done.find((one) => !record.landings.includes(one)) ?? 0);
    const landing = done.includes(own) ? own : 0;
    const repositories = await gitUndos.begun(record, open.repositories);
    const undone = await undoLanding({ git: gitUndos, workers }, record, { landing, repositories });
    if (undone.ok) {
      log.drop(gitUndos.stateOf(record, repositories));
      return { landings: done.filter((one) => one !== own), left: null };
    }
    log.close(landing);
    const left = `it was interrupted and is partly applied to the project: ${undone.reason}`;
    note(`draft ${record.draft}: ${left}`);
    return { landings: done, left };
  }

  #without(record: DraftRecord, landing: number): DraftRecord {
    return this.#withLandings(
      record,
      record.landings.filter((one) => one !== landing),
    );
  }

  #withLandings(record: DraftRecord, landings: readonly number[]): DraftRecord {
    const entries = this.#parts.git.log(record).landings();
    const repositories = entries.flatMap((one) => one.repositories.map(({ repository }) => repository.join("/")));
    const isLanded = landings.length > 0 || entries.length > 0;
    return {
      ...record,
      ...{ landings, repositories: [...new Set(repositories)] },
      state: record.kept.length > 0 ? "kept" : isLanded ? "landed" : "undone",
      landed: isLanded ? record.landed : 0,
    };
  }

  /** A restored name may complete a trigger that was harmless without it. */
  async #restoredTrigger(record: DraftRecord): Promise<string | null> {
    const steps = this.#parts.records.steps(record.draft);
    if (steps === null) return "the original content is unknown";
    const restored = steps.flatMap(({ path, base }): Change[] =>
      base === null || base === "other"
        ? []
        : base === "folder"
          ? [{ kind: "folder", path, base: null }]
          : [{ kind: "file", path, bytes: 0, isExecutable: false, base: null }],
    );
    const classify = await this.#parts.classifier(record)(restored);
    for (const change of restored) {
      const found = classify(change);
      if (found.class === "never") return `it would restore ${change.path.join("/")}: ${found.why}`;
      if (found.class === "git") return `it would restore ${change.path.join("/")}, which is in a git folder`;
    }
    return null;
  }
}

/** Newest first. A landing without files comes after the newest one before it. */
function landedParts({ landings }: DraftRecord, entries: readonly GitLandingEntry[]): readonly LandedPart[] {
  const files = landings.filter((landing) => !entries.some((entry) => entry.landing === landing));
  const order = ({ landing, git }: LandedPart): number => (landing > 0 ? landing : (git?.after ?? 0) + 0.5);
  return [
    ...files.map((landing): LandedPart => ({ landing, git: null })),
    ...entries.map((git): LandedPart => ({ landing: git.landing, git })),
  ].sort((left, right) => order(right) - order(left));
}

function refuse(code: string, message: string, fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}
