// File workers of sessions: one each, made when it is first needed, made anew when the session's trees are others or the
// worker is gone, and closed with the session.

import type { Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { ConfinedFiles, FILE_LIMITS } from "../../sandbox/files/confined-files.ts";
import type { WorkerRestrictions } from "../../sandbox/files/worker-setup.ts";
import type { GrantedTree } from "../../tools/files/trees.ts";
import { Stretch } from "../records/turn-cache.ts";
import type { Session } from "../session.ts";

/** Processes at once; the one that was idle longest makes room. */
const workersMax = 128;

interface Kept {
  readonly files: ConfinedFiles;
  trees: readonly GrantedTree[];
  /** When the names of the trees were last seen to lead where they did. */
  stretch: number;
  /** Calls under way. */
  uses: number;
  /** No longer its session's: closed after its last use. */
  isRetired: boolean;
}

export interface FilesAsked {
  readonly trees: readonly GrantedTree[];
  readonly judge: Judge;
  readonly protectedPaths: readonly (readonly string[])[];
}

export class SessionFiles {
  readonly #program: string;
  readonly #walls: WorkerRestrictions;
  readonly #most: number;
  /** In the order of their last use. */
  readonly #kept = new Map<Session, Kept>();
  readonly #watched = new WeakSet<Session>();
  readonly #stretch = new Stretch();

  constructor(program: string, walls: WorkerRestrictions, most: number = workersMax) {
    this.#program = program;
    this.#walls = walls;
    this.#most = most;
  }

  /** Whether a worker is kept for it, as far as is known. */
  has(session: Session): boolean {
    return this.#kept.has(session);
  }

  async use<T>(session: Session, asked: FilesAsked, act: (files: Files) => Promise<T>): Promise<T> {
    const kept = this.#of(session, asked);
    kept.uses++;
    try {
      return await act(kept.files.under(asked.judge, asked.protectedPaths));
    } finally {
      kept.uses--;
      // One that ended is not asked again: what made it end may be over by then.
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

  #of(session: Session, { trees, protectedPaths }: FilesAsked): Kept {
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
    const kept: Kept = { files: this.#make(trees, protectedPaths), trees, stretch, uses: 0, isRetired: false };
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
      // What is still under way is answered that there is nothing any more.
      last.files.close();
    });
  }

  #make(trees: readonly GrantedTree[], protectedPaths: FilesAsked["protectedPaths"]): ConfinedFiles {
    return new ConfinedFiles({
      program: this.#program,
      trees,
      // Nothing is decided by it: every use brings its own.
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

  #retire(session: Session, kept: Kept): void {
    kept.isRetired = true;
    if (this.#kept.get(session) === kept) this.#kept.delete(session);
    if (kept.uses === 0) kept.files.close();
  }
}

/** No name holds a slash. */
function isSameTrees(left: readonly GrantedTree[], right: readonly GrantedTree[]): boolean {
  if (left === right) return true;
  const isSame = (one: GrantedTree, other: GrantedTree | undefined): boolean =>
    one.mode === other?.mode && one.path.join("/") === other.path.join("/");
  return left.length === right.length && left.every((one, at) => isSame(one, right[at]));
}
