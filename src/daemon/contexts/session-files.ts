// File workers of sessions: one each, created at first use, replaced when the session's trees change or the worker ends, and
// closed with the session.

import type { Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { ConfinedFiles, FILE_LIMITS } from "../../sandbox/files/confined-files.ts";
import type { WorkerRestrictions } from "../../sandbox/files/worker-setup.ts";
import { InputTurns } from "../records/unchanged-files.ts";
import type { Session } from "../session.ts";
import type { GrantedTree } from "./granted-trees.ts";

/** Concurrent processes; the one idle longest is closed to make room. */
const workersMax = 128;

interface SessionWorker {
  readonly files: ConfinedFiles;
  trees: readonly GrantedTree[];
  /** When the trees' paths were last verified to lead to the same folders. */
  stretch: number;
  /** Calls in progress. */
  uses: number;
  /** Detached from its session: closed after its last use. */
  isRetired: boolean;
}

export interface SessionFilesOptions {
  readonly trees: readonly GrantedTree[];
  readonly judge: Judge;
  readonly protectedPaths: readonly (readonly string[])[];
}

export class SessionFiles {
  readonly #program: string;
  readonly #walls: WorkerRestrictions;
  readonly #most: number;
  /** In order of last use. */
  readonly #kept = new Map<Session, SessionWorker>();
  readonly #watched = new WeakSet<Session>();
  readonly #stretch = new InputTurns();

  constructor(program: string, walls: WorkerRestrictions, most: number = workersMax) {
    this.#program = program;
    this.#walls = walls;
    this.#most = most;
  }

  /** Whether a worker exists for it, as far as is known. */
  has(session: Session): boolean {
    return this.#kept.has(session);
  }

  /** Whether the kernel restricts the session's worker, which has answered. */
  isKernelHeld(session: Session): boolean {
    return this.#kept.get(session)?.files.enforcement?.landlock === true;
  }

  async use<T>(session: Session, asked: SessionFilesOptions, act: (files: Files) => Promise<T>): Promise<T> {
    const kept = this.#of(session, asked);
    kept.uses++;
    try {
      return await act(kept.files.under(asked.judge, asked.protectedPaths));
    } finally {
      kept.uses--;
      // A worker that ended is not reused: the cause of its end may be gone.
      if (kept.files.processId === undefined || session.isClosed) this.#retire(session, kept);
      else if (kept.isRetired && kept.uses === 0) kept.files.close();
    }
  }

  close(): void {
    for (const [session, kept] of [...this.#kept]) {
      this.#retire(session, kept);
      kept.files.close();
    }
  }

  #of(session: Session, { trees, protectedPaths }: SessionFilesOptions): SessionWorker {
    const known = this.#kept.get(session);
    const stretch = this.#stretch.now;
    if (known !== undefined) {
      this.#kept.delete(session);
      if (isSameTrees(known.trees, trees) && (known.stretch === stretch || known.files.isCurrent())) {
        known.trees = trees;
        known.stretch = stretch;
        this.#kept.set(session, known);
        return known;
      }
      this.#retire(session, known);
    }
    this.#watch(session);
    const kept: SessionWorker = { files: this.#make(trees, protectedPaths), trees, stretch, uses: 0, isRetired: false };
    this.#kept.set(session, kept);
    this.#makeRoom();
    return kept;
  }

  #watch(session: Session): void {
    if (this.#watched.has(session)) return;
    this.#watched.add(session);
    session.onClose(() => {
      const last = this.#kept.get(session);
      if (last === undefined) return;
      this.#retire(session, last);
      // Calls in progress are answered as not available.
      last.files.close();
    });
  }

  #make(trees: readonly GrantedTree[], protectedPaths: SessionFilesOptions["protectedPaths"]): ConfinedFiles {
    return new ConfinedFiles({
      program: this.#program,
      trees,
      // It decides nothing: every use brings its own check.
      judge: () => ({ outcome: "deny", code: "capability_absent", at: null }),
      protectedPaths,
      pinned: [],
      restrictions: this.#walls,
      limits: FILE_LIMITS,
    });
  }

  #makeRoom(): void {
    for (const [session, kept] of this.#kept) {
      if (this.#kept.size <= this.#most) return;
      if (kept.uses === 0) this.#retire(session, kept);
    }
  }

  #retire(session: Session, kept: SessionWorker): void {
    kept.isRetired = true;
    if (this.#kept.get(session) === kept) this.#kept.delete(session);
    if (kept.uses === 0) kept.files.close();
  }
}

/** No name contains a slash. */
function isSameTrees(left: readonly GrantedTree[], right: readonly GrantedTree[]): boolean {
  if (left === right) return true;
  const isSame = (one: GrantedTree, other: GrantedTree | undefined): boolean =>
    one.mode === other?.mode && one.path.join("/") === other.path.join("/");
  return left.length === right.length && left.every((one, at) => isSame(one, right[at]));
}
