// The git part of each landing of a draft, written beside it before the landing begins: from these values an undo and
// the recovery after a crash take it back.
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../../platform/write-whole.ts";
import type { RecordedChange } from "../plan/drafts/git/undo-plan.ts";
import type { RepositorySnapshot } from "./git/repository.ts";

export interface RepositoryChange {
  /** The git folder, below the root. */
  readonly repository: readonly string[];
  /** Null: the landing made the repository. */
  readonly change: RecordedChange | null;
}

export interface GitLandingEntry {
  /** `begun` and `undoing` were interrupted if nothing works on them: recovery takes both back. */
  readonly state: "begun" | "landed" | "undoing";
  /** Number of the landing of its files; 0 where it has none, or is not known yet. */
  readonly landing: number;
  /** Number of the newest landing of files before it. */
  readonly after: number;
  readonly repositories: readonly RepositoryChange[];
}

interface Content {
  readonly landings: readonly GitLandingEntry[];
  /**
   * HEAD and index that the program saw, by git folder: those of its start, where a change waits, or as a landing that
   * was taken back left them.
   */
  readonly seen: Readonly<Record<string, RepositorySnapshot>>;
}

const FILE = "git-landings.json";
const EMPTY: Content = { landings: [], seen: {} };

export class GitLandingLog {
  readonly #path: string;

  /** `folder`: that of the draft. */
  constructor(folder: string) {
    this.#path = join(folder, FILE);
  }

  /** Oldest first. Throws for a damaged file. */
  landings(): readonly GitLandingEntry[] {
    return this.#read().landings;
  }

  /** The entry that a crash interrupted; null for none. */
  interrupted(): GitLandingEntry | null {
    return this.landings().find(({ state }) => state !== "landed") ?? null;
  }

  seen(repository: readonly string[]): RepositorySnapshot | null {
    return this.#read().seen[repository.join("/")] ?? null;
  }

  see(repository: readonly string[], state: RepositorySnapshot): void {
    const { landings, seen } = this.#read();
    this.#write({ landings, seen: { ...seen, [repository.join("/")]: state } });
  }

  begin(repositories: readonly RepositoryChange[], after: number): void {
    const { landings, seen } = this.#read();
    this.#write({ landings: [...landings, { state: "begun", landing: 0, after, repositories }], seen });
  }

  /** The open entry is complete, or cannot be taken back. */
  close(landing: number): void {
    const { landings, seen } = this.#read();
    this.#write({
      landings: landings.map((one) => (one.state === "landed" ? one : { ...one, state: "landed", landing })),
      seen,
    });
  }

  reopen(entry: GitLandingEntry): void {
    const { landings, seen } = this.#read();
    const isSame = (one: GitLandingEntry): boolean => one.landing === entry.landing && one.after === entry.after;
    this.#write({ landings: landings.map((one) => (isSame(one) ? { ...one, state: "undoing" } : one)), seen });
  }

  /** The open entry is taken back, or never changed anything. */
  drop(left: readonly (readonly [repository: readonly string[], state: RepositorySnapshot])[]): void {
    const { landings, seen } = this.#read();
    const more = Object.fromEntries(left.map(([repository, state]) => [repository.join("/"), state]));
    this.#write({ landings: landings.filter(({ state }) => state === "landed"), seen: { ...seen, ...more } });
  }

  /** After a crash before the record said that a landing or an undo runs: the open entry changed nothing. */
  settle(): void {
    const { landings, seen } = this.#read();
    if (landings.every(({ state }) => state === "landed")) return;
    const settled = landings.filter(({ state }) => state !== "begun");
    this.#write({ landings: settled.map((one) => ({ ...one, state: "landed" as const })), seen });
  }

  #read(): Content {
    if (lstatSync(this.#path, { throwIfNoEntry: false }) === undefined) return EMPTY;
    // Written by us only, and whole.
    return JSON.parse(readFileSync(this.#path, "utf8")) as Content;
  }

  #write(content: Content): void {
    writeWhole(this.#path, JSON.stringify(content));
  }
}
