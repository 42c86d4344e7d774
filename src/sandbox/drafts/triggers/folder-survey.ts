// Finds folders below a root that have repositories, links or triggers of their own: what those lead to is protected in
// the whole root. Listings are kept while the times of a folder stay the same, so that a later survey reads times alone.
import type { Stats } from "node:fs";
import { segmentsOf } from "../../../platform/folders.ts";
import type { ListedName } from "../../plan/triggers/real-tree.ts";
import { isAuthorityName, isGitName } from "../../plan/triggers/spelling.ts";
import type { TriggerTable } from "../../plan/triggers/trigger-table.ts";
import { DiskTree, factsAt } from "./disk-tree.ts";

type Path = readonly string[];

interface Listing {
  readonly facts: Stats;
  /** Read so soon after a change that another one may have left the same times. */
  readonly isFresh: boolean;
  /** Subfolders to survey. */
  readonly below: readonly string[];
  /** Names of folders and links that may be triggers. */
  readonly names: readonly string[];
  readonly isRepository: boolean;
}

/** Which names begin a trigger. */
type StartNames = Pick<TriggerTable, "isStart">;

interface RootSurvey {
  listings: ReadonlyMap<string, Listing>;
  found: readonly Path[];
  table: StartNames | null;
  /** Until when `recent` surveys nothing. */
  restsUntil: number;
}

/** Shallow folders first. */
const surveyedFoldersMax = 2_048;
const foundMax = 512;
const rootsMax = 64;
const namesMax = 20_000;
/** Longer than the coarsest timestamps of a file system. */
const freshMilliseconds = 3_000;
/** Package managers fill it, and nothing in it is a project of the person's. */
const PACKAGES = "node_modules";
/** A survey for file tools rests this many times as long as it took. */
const restFactor = 10;

export class FolderSurvey {
  readonly #roots = new Map<string, RootSurvey>();
  readonly #now: () => number;
  readonly #foldersMax: number;

  /** `now`: the clock of file timestamps. */
  constructor(now: () => number = Date.now, foldersMax: number = surveyedFoldersMax) {
    this.#now = now;
    this.#foldersMax = foldersMax;
  }

  /** The same array as before where nothing changed. */
  folders(root: Path, table: StartNames): readonly Path[] {
    const began = this.#now();
    const survey = this.#surveyOf(root.join("/"));
    const found: Path[] = [];
    const listings = new Map<string, Listing>();
    const top = `/${root.join("/")}`;
    const waiting = [top];
    for (let at = 0; at < waiting.length && at < this.#foldersMax; at++) {
      const folder = waiting[at] as string;
      const listing = this.#listing(folder, survey.listings.get(folder));
      if (listing === null) continue;
      listings.set(folder, listing);
      const isInner = folder !== top && found.length < foundMax;
      if (isInner && (listing.isRepository || listing.names.some((name) => table.isStart(name))))
        found.push(segmentsOf(folder));
      for (const name of listing.below) if (waiting.length < this.#foldersMax) waiting.push(`${folder}/${name}`);
    }
    survey.listings = listings;
    if (!isSame(survey.found, found)) survey.found = found;
    survey.table = table;
    const now = this.#now();
    survey.restsUntil = now + (now - began) * restFactor;
    return survey.found;
  }

  /** The same, at most every so often that it takes a small part of the time. */
  recent(root: Path, table: StartNames): readonly Path[] {
    const known = this.#roots.get(root.join("/"));
    const isResting = known?.table === table && this.#now() < known.restsUntil;
    return isResting ? known.found : this.folders(root, table);
  }

  #surveyOf(key: string): RootSurvey {
    const survey = this.#roots.get(key) ?? { listings: new Map(), found: [], table: null, restsUntil: 0 };
    this.#roots.delete(key);
    this.#roots.set(key, survey);
    for (const oldest of this.#roots.keys()) {
      if (this.#roots.size <= rootsMax) break;
      this.#roots.delete(oldest);
    }
    return survey;
  }

  #listing(folder: string, known: Listing | undefined): Listing | null {
    const facts = factsAt(folder);
    if (facts?.isDirectory() !== true) return null;
    if (known !== undefined && !known.isFresh && isUnchanged(known.facts, facts)) return known;
    const isFresh = this.#now() - facts.ctimeMs <= freshMilliseconds;
    const names = new DiskTree().list(segmentsOf(folder), namesMax) ?? [];
    return {
      facts,
      isFresh,
      below: names.filter(isSurveyed).map(({ name }) => name),
      names: names.filter(({ kind }) => kind === "folder" || kind === "link").map(({ name }) => name),
      isRepository: names.some(({ name }) => name === "HEAD" || isGitName(name)),
    };
  }
}

function isSurveyed({ name, kind }: ListedName): boolean {
  return kind === "folder" && name !== PACKAGES && !isGitName(name) && !isAuthorityName(name);
}

function isUnchanged(before: Stats, now: Stats): boolean {
  return (
    before.ctimeMs === now.ctimeMs && before.mtimeMs === now.mtimeMs && before.ino === now.ino && before.dev === now.dev
  );
}

function isSame(left: readonly Path[], right: readonly Path[]): boolean {
  return left.length === right.length && left.every((path, at) => path.join("/") === right[at]?.join("/"));
}
