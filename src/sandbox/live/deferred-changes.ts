// Changes of the program that did not land while it runs: they wait for its end.
import type { UnlandedChange } from "../../core/ports/drafts.ts";
import type { SideChange } from "./compare-sides.ts";
import { keyOf } from "./live-plan.ts";

const attemptsMax = 3;

export const CONFLICT = "the project changed there while the program ran; nothing was overwritten";
const KINDS = { file: "write", folder: "folder", link: "link" } as const;

type Changed = Pick<SideChange, "path" | "copy">;

export function unlandedOf({ path, copy }: Changed, code: UnlandedChange["code"], reason: string): UnlandedChange {
  return { path: keyOf(path), kind: copy === null ? "delete" : KINDS[copy.kind], code, reason };
}

export class DeferredChanges {
  readonly #changes = new Map<string, UnlandedChange>();
  readonly #attempts = new Map<string, number>();

  has(key: string): boolean {
    return this.#changes.has(key);
  }

  isConflict(key: string): boolean {
    return this.#changes.get(key)?.code === "draft_conflict";
  }

  add(change: SideChange, code: UnlandedChange["code"], reason: string): void {
    this.set(keyOf(change.path), unlandedOf(change, code, reason));
  }

  set(key: string, change: UnlandedChange): void {
    this.#changes.set(key, change);
  }

  delete(key: string): void {
    this.#changes.delete(key);
  }

  /** Counts an attempt; true after too many. */
  isGivenUp(key: string): boolean {
    const count = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, count);
    return count >= attemptsMax;
  }
}
