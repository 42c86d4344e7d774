// The files that `on file` schedules wait for: scanned when a runner claims, at most every two seconds. No watcher of the kernel:
// one that was not running would have missed the change, and the state of the files says it all the same.
import { type Dir, type Dirent, lstatSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { segmentOf } from "../../core/authority/patterns/segment.ts";
import { type Sequence, segmentsOf, sequenceMatches } from "../../core/authority/patterns/sequence.ts";
import type { FileState, Schedule } from "../../core/ports/stores/schedule-store.ts";
import { lateMilliseconds } from "../../org/schedules/schedule-life.ts";
import { parseWhen } from "../../org/schedules/when.ts";
import type { DaemonParts } from "../parts.ts";

const scanMilliseconds = 2000;
const entriesMax = 20_000;
/** Entries that are scanned before other work of the daemon gets its turn. */
const entriesPerTurn = 256;
const depthMax = 32;
/** Never scanned: what is in there changes with every command. */
const SKIPPED: ReadonlySet<string> = new Set([".git", ".ambit", "node_modules"]);

interface FileScan extends FileState {
  readonly workspace: string;
  readonly at: number;
}

export class WatchedFiles {
  readonly #parts: Pick<DaemonParts, "now" | "digest">;
  readonly #scans = new Map<string, FileScan>();
  readonly #scanning = new Set<string>();

  constructor(parts: Pick<DaemonParts, "now" | "digest">) {
    this.#parts = parts;
  }

  /** Null for other schedules, and if it was scanned a moment ago. */
  async scan({ id, when, workspace }: Schedule): Promise<FileState | null> {
    const read = when.startsWith("on file ") ? parseWhen(when) : null;
    if (read?.ok !== true || read.when.kind !== "file") return null;
    const { now, digest } = this.#parts;
    const before = this.#scans.get(id);
    const at = now();
    if (this.#scanning.has(id) || (before !== undefined && at - before.at < scanMilliseconds)) return null;
    this.#scanning.add(id);
    const states = await statesIn(workspace, read.when.pattern).finally(() => this.#scanning.delete(id));
    const state = states === null ? null : digest(JSON.stringify(states));
    const isSettled = before?.state === state;
    // A gap stays one until the files are still.
    const isMissed =
      before === undefined || at - before.at > lateMilliseconds || (before.isMissed && !before.isSettled);
    const scan: FileScan = { state, isSettled, isMissed, at, workspace };
    this.#scans.set(id, scan);
    return scan;
  }

  /** Forgets schedules of a workspace that are not among these any more. */
  retain(workspace: string, ids: ReadonlySet<string>): void {
    for (const [id, scan] of this.#scans) if (scan.workspace === workspace && !ids.has(id)) this.#scans.delete(id);
  }
}

/** Each file that matches, with what changes when it is written; null if there are too many. Links are not followed. */
async function statesIn(workspace: string, segments: readonly string[]): Promise<readonly string[] | null> {
  const pattern: Sequence = segments.map(segmentOf);
  const found: string[] = [];
  const open: (readonly string[])[] = [literalFolder(segments)];
  let entries = 0;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for await (const entry of entriesOf(workspace, folder)) {
      if (++entries > entriesMax) return null;
      const path = [...folder, entry.name];
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && path.length < depthMax) open.push(path);
      } else if (sequenceMatches(pattern, segmentsOf(path))) found.push(stateOf(workspace, path));
    }
  }
  return found.sort();
}

/** The folder that everything the pattern matches is in. */
function literalFolder(segments: readonly string[]): readonly string[] {
  const wild = segments.findIndex((segment) => segment.includes("*"));
  return segments.slice(0, wild < 0 ? segments.length - 1 : Math.min(wild, segments.length - 1));
}

function stateOf(workspace: string, path: readonly string[]): string {
  // A program may set the time of a change back; the time of the inode's change is the kernel's alone.
  const { size, ctimeMs, ino } = lstatSync(join(workspace, ...path), { throwIfNoEntry: false }) ?? {};
  return JSON.stringify([path, size, ctimeMs, ino]);
}

/** What cannot be read has no files, and neither has what is behind a link. */
async function* entriesOf(workspace: string, folder: readonly string[]): AsyncGenerator<Dirent> {
  let open: Dir;
  try {
    if (folder.some((name) => SKIPPED.has(name)) || hasLink(workspace, folder)) return;
    open = await opendir(join(workspace, ...folder), { bufferSize: entriesPerTurn });
  } catch {
    return;
  }
  try {
    for await (const entry of open) yield entry;
  } catch {
    // It is closed with the error; what was there before counts.
  }
}

function hasLink(workspace: string, folder: readonly string[]): boolean {
  return folder.some((_, end) => !lstatSync(join(workspace, ...folder.slice(0, end + 1))).isDirectory());
}
