// Which links there are among names that are looked for again and again. Every folder on the way is looked at each time; what
// is in it only if it has changed, or changed so lately that the next change might not show.
import { readdirSync, type Stats } from "node:fs";
import { followedLink } from "../node/followed-link.ts";
import type { FilePath } from "../ports/files.ts";
import { factsAt, isSettled, isUnchanged } from "./settled.ts";

export interface SeenLink {
  readonly path: FilePath;
  /** Where it leads, there or not; null where that has no answer. */
  readonly target: FilePath | null;
}

const namesMax = 20_000;
/** As file systems count them: a few hundred names. */
const smallFolderBytesMax = 4096;

/** Names below each other; `*` is any one name. */
interface Wanted {
  readonly names: Map<string, Wanted>;
}

interface Looking {
  readonly now: number;
  readonly links: SeenLink[];
  names: number;
}

export class SeenLinks {
  readonly #root: Folder;

  constructor(patterns: readonly FilePath[]) {
    const wanted: Wanted = { names: new Map() };
    for (const pattern of patterns) {
      let at = wanted;
      for (const name of pattern) {
        const below = at.names.get(name) ?? { names: new Map() };
        at.names.set(name, below);
        at = below;
      }
    }
    this.#root = new Folder([], wanted);
  }

  /** Null where there is more to look at than we would. What lies behind a link is not looked at. */
  look(now: number): readonly SeenLink[] | null {
    const looking: Looking = { now, links: [], names: 0 };
    this.#root.look(looking);
    return looking.names > namesMax ? null : looking.links;
  }
}

class Folder {
  readonly #path: FilePath;
  readonly #text: string;
  readonly #wanted: Wanted;
  /** As it was before its names were looked at; null where that is nothing to go by. */
  #before: Stats | null = null;
  #folders: readonly Folder[] = [];
  #links: readonly FilePath[] = [];
  #names = 0;

  constructor(path: FilePath, wanted: Wanted) {
    this.#path = path;
    this.#text = `/${path.join("/")}`;
    this.#wanted = wanted;
  }

  look(looking: Looking): void {
    const facts = factsAt(this.#text);
    // Gone since, or no folder any more: its own folder tells of that the next time.
    if (facts === null || !facts.isDirectory()) return;
    if (this.#before === null || !isUnchanged(this.#before, facts)) this.#list(facts, looking);
    looking.names += this.#names;
    for (const path of this.#links) looking.links.push({ path, target: followedLink(path).target });
    for (const folder of this.#folders) if (looking.names <= namesMax) folder.look(looking);
  }

  #list(facts: Stats, looking: Looking): void {
    const folders: Folder[] = [];
    const links: FilePath[] = [];
    let names = 0;
    // To ask for all of a small folder is quicker than to ask for many names that are mostly not there.
    const isListed = facts.size <= smallFolderBytesMax && this.#wanted.names.size > 8;
    const present = isListed ? namesIn(this.#text) : null;
    for (const [wanted, below] of this.#wanted.names)
      for (const name of wanted === "*" ? (present ?? namesIn(this.#text) ?? []) : [wanted]) {
        if (looking.names + ++names > namesMax) break;
        if (present?.has(name) === false) continue;
        const path = [...this.#path, name];
        const found = factsAt(`/${path.join("/")}`);
        if (found?.isSymbolicLink() === true) links.push(path);
        else if (below.names.size > 0 && found?.isDirectory() === true) folders.push(new Folder(path, below));
      }
    this.#folders = folders;
    this.#links = links;
    this.#names = names;
    this.#before = isSettled(facts, looking.now) ? facts : null;
  }
}

/** Null where a folder cannot be listed: names in it may be there all the same. */
function namesIn(folder: string): ReadonlySet<string> | null {
  try {
    return new Set(readdirSync(folder));
  } catch {
    return null;
  }
}
