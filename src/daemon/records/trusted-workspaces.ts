// The workspaces a person has trusted, read again only when their files change.
import { readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { registeredWorkspaces } from "../../agents/disk/registered-workspaces.ts";
import { factsAt, isSettled, isUnchanged } from "./unchanged-files.ts";

interface WatchedFile {
  readonly path: string;
  /** Null if it did not exist. */
  readonly facts: Stats | null;
}

export class TrustedWorkspaces {
  readonly #state: string | null;
  readonly #now: () => number;
  #known: readonly string[] | null = [];
  /** The folder, and the file of each workspace; empty if they changed too recently to rely on. */
  #witnesses: readonly WatchedFile[] = [];

  constructor(state: string | null, now: () => number) {
    this.#state = state;
    this.#now = now;
  }

  /** The same list object while nothing changed; null if there are too many. */
  now(): readonly string[] | null {
    if (this.#state === null) return this.#known;
    if (this.#witnesses.length > 0 && this.#witnesses.every(isStill)) return this.#known;
    const before = this.#known;
    const at = this.#now();
    const witnesses = watchedFilesIn(join(this.#state, "trust"));
    const now = registeredWorkspaces(this.#state);
    this.#known = isSameList(before, now) ? before : now;
    this.#witnesses = witnesses.every(({ facts }) => facts === null || isSettled(facts, at)) ? witnesses : [];
    return this.#known;
  }
}

/** INVARIANT: taken before the data they guard is read. */
function watchedFilesIn(folder: string): readonly WatchedFile[] {
  const facts = factsAt(folder);
  return [{ path: folder, facts }, ...entriesIn(folder).map((path) => ({ path, facts: factsAt(path) }))];
}

function entriesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name, "project.json"));
  } catch {
    return [];
  }
}

function isStill({ path, facts }: WatchedFile): boolean {
  const now = factsAt(path);
  return facts === null || now === null ? facts === now : isUnchanged(facts, now);
}

function isSameList(left: readonly string[] | null, right: readonly string[] | null): boolean {
  if (left === null || right === null) return left === right;
  return left.length === right.length && left.every((one, at) => one === right[at]);
}
