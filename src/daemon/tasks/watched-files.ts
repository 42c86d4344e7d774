// The files that `on file` schedules wait for: looked at when a runner claims, at most every two seconds. No watcher of the kernel:
// one that was not running would have missed the change, and the state of the files says it all the same.
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { segmentOf } from "../../core/authority/patterns/segment.ts";
import { type Sequence, segmentsOf, sequenceMatches } from "../../core/authority/patterns/sequence.ts";
import type { FileState, Schedule } from "../../core/ports/stores/schedule-store.ts";
import { lateMilliseconds } from "../../org/schedules/schedule-life.ts";
import { parseWhen } from "../../org/schedules/when.ts";
import type { DaemonParts } from "../parts.ts";

const lookMilliseconds = 2000;
const entriesMax = 20_000;
const depthMax = 32;
/** Never looked into: what is in there changes with every command. */
const SKIPPED: ReadonlySet<string> = new Set([".git", ".ambit", "node_modules"]);

interface Look extends FileState {
  readonly at: number;
}

export class WatchedFiles {
  readonly #parts: Pick<DaemonParts, "now" | "digest">;
  readonly #looks = new Map<string, Look>();

  constructor(parts: Pick<DaemonParts, "now" | "digest">) {
    this.#parts = parts;
  }

  /** Null for other schedules, and if it was looked at a moment ago. */
  look({ id, when, workspace }: Schedule): FileState | null {
    const read = when.startsWith("on file ") ? parseWhen(when) : null;
    if (read?.ok !== true || read.when.kind !== "file") return null;
    const { now, digest } = this.#parts;
    const before = this.#looks.get(id);
    const at = now();
    if (before !== undefined && at - before.at < lookMilliseconds) return null;
    const state = digest(JSON.stringify(statesIn(workspace, read.when.pattern.map(segmentOf))));
    const isSettled = before?.state === state;
    // A gap stays one until the files are still.
    const isMissed =
      before === undefined || at - before.at > lateMilliseconds || (before.isMissed && !before.isSettled);
    const look: Look = { state, isSettled, isMissed, at };
    this.#looks.set(id, look);
    return look;
  }
}

/** Each file that matches, with what changes when it is written. Links are not followed. */
function statesIn(workspace: string, pattern: Sequence): readonly string[] {
  const found: string[] = [];
  const open: (readonly string[])[] = [[]];
  let entries = 0;
  for (let folder = open.pop(); folder !== undefined && entries < entriesMax; folder = open.pop()) {
    for (const entry of entriesOf(join(workspace, ...folder))) {
      if (++entries > entriesMax) break;
      const path = [...folder, entry.name];
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && path.length < depthMax) open.push(path);
      } else if (sequenceMatches(pattern, segmentsOf(path))) found.push(stateOf(workspace, path));
    }
  }
  return found.sort();
}

function stateOf(workspace: string, path: readonly string[]): string {
  const { size, mtimeMs, ino } = lstatSync(join(workspace, ...path), { throwIfNoEntry: false }) ?? {};
  return JSON.stringify([path, size, mtimeMs, ino]);
}

/** What cannot be read has no files. In one order, so that a limit always cuts off the same ones. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true, encoding: "utf8" });
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    return [];
  }
}
