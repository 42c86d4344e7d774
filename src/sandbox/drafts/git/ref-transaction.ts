// One transaction over refs in two steps, by a confined `git update-ref --stdin` that stays alive in between: once
// prepared, all refs are locked and their old values compared; then all of them move, or none.

import { readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitRefusal, type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { RefUpdate } from "../../plan/drafts/git/import-plan.ts";
import type { Plan } from "../../plan/plan.ts";
import type { ConfinedGit, GitOutput } from "./confined-git.ts";
import { InputQueue } from "./input-queue.ts";

const separator = "\0";

export interface RefTransactionParts {
  readonly git: ConfinedGit;
  readonly plan: Plan;
  readonly gitFolder: string;
  readonly updates: readonly RefUpdate[];
  /** For the logs of the refs. */
  readonly message: string;
}

export class RefTransaction {
  readonly #parts: RefTransactionParts;
  readonly #input = new InputQueue();
  readonly #ended: Promise<GitResult<GitOutput>>;
  #ending: GitResult<GitOutput> | null = null;
  #output = "";
  #isCommitSent = false;
  #wake: () => void = () => {};

  private constructor(parts: RefTransactionParts) {
    this.#parts = parts;
    this.#ended = parts.git.run(parts.plan, {
      words: ["update-ref", "--stdin", "-z", "-m", parts.message],
      input: this.#input,
      sink: (bytes) => {
        this.#output += Buffer.from(bytes).toString("latin1");
        this.#wake();
      },
    });
    void this.#ended.then((ending) => {
      this.#ending = ending;
      this.#wake();
    });
  }

  /** Afterwards every ref is locked, or none is. */
  static async prepare(parts: RefTransactionParts): Promise<GitResult<RefTransaction>> {
    const transaction = new RefTransaction(parts);
    transaction.#input.push(["start", ...parts.updates.flatMap(wordsOf), "prepare", ""].join(separator));
    const prepared = await transaction.#until("prepare: ok\n");
    if (prepared.ok) return value(transaction);
    transaction.#removeStaleLocks();
    return prepared;
  }

  async commit(): Promise<GitResult<null>> {
    this.#isCommitSent = this.#ending === null;
    this.#input.push(`commit${separator}`);
    const committed = await this.#until("commit: ok\n");
    this.#input.close();
    await this.#ended;
    if (!committed.ok) this.#removeStaleLocks();
    return committed;
  }

  async abort(): Promise<void> {
    this.#input.push(`abort${separator}`);
    this.#input.close();
    await this.#ended;
    this.#removeStaleLocks();
  }

  async #until(line: string): Promise<GitResult<null>> {
    while (!this.#output.includes(line)) {
      if (this.#ending !== null) return refusalOf(this.#ending);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return value(null);
  }

  /**
   * A killed git leaves its locks. Between "prepare: ok" and our commit every lock is this transaction's: no other git
   * can take an existing one. Before and after that, only a lock with the value this transaction writes is.
   */
  #removeStaleLocks(): void {
    if (this.#ending?.ok === true) return;
    const { gitFolder, updates } = this.#parts;
    const isOurs = this.#output.includes("prepare: ok\n") && !this.#isCommitSent;
    for (const { name, newId } of updates)
      if (isOurs || newId !== null) removeLock(join(gitFolder, `${name}.lock`), isOurs ? null : newId);
    if (!isOurs || !updates.some(({ newId }) => newId === null)) return;
    for (const name of ["packed-refs.new", "packed-refs.lock"]) removeLock(join(gitFolder, name), null);
  }
}

/** `id`: remove it only if it holds this id; null for any. */
function removeLock(path: string, id: string | null): void {
  try {
    if (id === null || readFileSync(path, "latin1") === `${id}\n`) unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

function refusalOf(ending: GitResult<GitOutput>): { readonly ok: false; readonly refusal: GitRefusal } {
  if (!ending.ok) return ending;
  const { errors } = ending.value;
  if (errors.includes(".lock")) return refuseGit("busy", `another git process holds a lock: ${errors}`);
  return refuseGit("conflict", `git could not update the refs: ${errors}`);
}

/** Symbolic refs are never followed: each name is the ref that is written. */
function wordsOf({ name, oldId, newId }: RefUpdate): readonly string[] {
  const option = "option no-deref";
  if (newId === null) return [option, `delete ${name}`, oldId ?? ""];
  if (oldId === null) return [option, `create ${name}`, newId];
  return [option, `update ${name}`, newId, oldId];
}
