// Stops a program whose draft or live copy grows beyond its limits, or that leaves the disk of the drafts without space.
// What it wrote until then lands or is kept like that of any other command.
import { statfsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { pathText } from "../../core/authority/axes/path.ts";
import { linkedController } from "../../core/base/abort.ts";
import type { Ending, RunResult } from "../../core/ports/process.ts";
import type { Limits } from "../plan/plan.ts";
import type { Sandboxes } from "../plan/sandboxes.ts";
import { type DraftSize, draftSize, isGone } from "./draft-size.ts";

type DraftLimits = Pick<Limits, "draftBytes" | "draftFiles">;

/** Between two measurements; a draft that takes long to measure is measured less often. */
const pauseMilliseconds = 500;
const pauseFactor = 5;
/** Left for the log and the records: without them nothing can be decided or landed. */
const freeBytesMin = 16 * 1_048_576;
const mebibyte = 1_048_576;
/** A folder may be closed for a moment; one that stays closed would hide any number of files. */
const failuresMax = 3;

/** `upper`: the folder with the changes of a draft. */
export function boundedSandboxes(inner: Sandboxes, upper: (draft: string) => string): Sandboxes {
  return {
    run: async (owner, plan, command, sinks, judge, signal) => {
      const { root, limits } = plan;
      const isWritten = root?.mode === "draft" || root?.mode === "live";
      if (!isWritten && plan.home === undefined) return inner.run(owner, plan, command, sinks, judge, signal);
      const growth = new DraftGrowth(limits, signal);
      if (root?.copy !== undefined) growth.watchCopy(pathText(root.copy.path), root.copy.size);
      if (plan.home !== undefined) growth.watchHome(pathText(plan.home));
      const watched = {
        ...command,
        onDraft: (draft: Parameters<NonNullable<typeof command.onDraft>>[0]) => {
          command.onDraft?.(draft);
          if (root?.copy === undefined) growth.watch(upper(draft.id));
        },
      };
      try {
        return growth.told(await inner.run(owner, plan, watched, sinks, judge, growth.signal));
      } finally {
        growth.end();
      }
    },
    end: (agent) => inner.end(agent),
  };
}

class DraftGrowth {
  readonly #limits: DraftLimits;
  /** Cancels the command: with its call, or where it has grown too large. */
  readonly #cancel: ReturnType<typeof linkedController>;
  readonly #over = new AbortController();
  #reason: string | null = null;

  constructor(limits: DraftLimits, signal: AbortSignal | null) {
    this.#limits = limits;
    this.#cancel = linkedController(...(signal === null ? [] : [signal]));
  }

  get signal(): AbortSignal {
    return this.#cancel.controller.signal;
  }

  /** A live copy may be as large as the project, and grow by what a draft may have. */
  watchCopy(folder: string, start: DraftSize): void {
    void this.#run(folder, start);
  }

  watch(folder: string): void {
    void this.#run(folder, { bytes: 0, inodes: 0 });
  }

  /** The whole home counts: what earlier runs left in it, too. */
  watchHome(folder: string): void {
    void this.#run(folder, { bytes: 0, inodes: 0 }, HOME);
  }

  end(): void {
    this.#over.abort();
    this.#cancel.release();
  }

  /** The result with the reason why the command was stopped. */
  told(result: RunResult): RunResult {
    if (this.#reason === null || !result.ok || result.ran.ending.kind !== "ended") return result;
    const ending: Ending = { kind: "ended", because: "draft", reason: this.#reason };
    return { ok: true, ran: { ...result.ran, ending } };
  }

  async #run(folder: string, start: DraftSize, words = DRAFT): Promise<void> {
    let wait = pauseMilliseconds;
    let failures = 0;
    while (!this.#over.signal.aborted) {
      await pause(wait, undefined, { signal: this.#over.signal, ref: false }).catch(() => undefined);
      if (this.#over.signal.aborted) return;
      const began = performance.now();
      let reason: string | null = null;
      try {
        reason = await this.#reasonIn(folder, start, words);
        failures = 0;
      } catch (error) {
        // A whole folder that was renamed or removed is measured again: nothing can grow in it.
        if (!isGone(error) && ++failures === failuresMax) reason = unmeasured(words);
      }
      if (reason !== null) {
        this.#reason = reason;
        this.#cancel.controller.abort();
        return;
      }
      wait = Math.max(pauseMilliseconds, (performance.now() - began) * pauseFactor);
    }
  }

  async #reasonIn(folder: string, start: DraftSize, { holds }: Words): Promise<string | null> {
    const { draftBytes, draftFiles } = this.#limits;
    const { bsize, bavail } = statfsSync(folder);
    if (bsize * bavail < freeBytesMin) return "there is no space left on the disk of its draft";
    const { bytes, inodes } = await draftSize(folder);
    if (bytes - start.bytes > draftBytes)
      return `${holds} more than ${Math.floor(draftBytes / mebibyte)} MiB (limits: draft_mib)`;
    return inodes - start.inodes > draftFiles ? `${holds} more than ${draftFiles} files (limits: draft_files)` : null;
  }
}

interface Words {
  readonly folder: string;
  readonly holds: string;
}

const DRAFT: Words = { folder: "its draft", holds: "it wrote" };
const HOME: Words = { folder: "its home", holds: "its home has" };

/** INVARIANT: a program whose files cannot be counted does not run on: its limits would hold for nothing. */
function unmeasured({ folder }: Words): string {
  return `${folder} cannot be measured, because a folder in it cannot be listed`;
}
