// Which names file tools leave as they are on this machine: the names themselves, and where links among them lead.
import { findNames } from "../node/find-names.ts";
import { segmentsOf, type UserFolders } from "../node/folders.ts";
import { realRoot } from "../node/real-path.ts";
import type { FilePath } from "../ports/files.ts";
import { isKeptBy, keptPaths } from "../sandbox/kept-paths.ts";
import { type SeenLink, SeenLinks } from "./seen-links.ts";
import { SeenWorkspaces } from "./seen-workspaces.ts";
import { Stretch } from "./stretch.ts";

export interface KeptFilesAsked {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Of our package. */
  readonly program: string;
}

type IsKept = (path: FilePath) => boolean;

/** What cannot be listed is not written: then everything stays as it is. */
const EVERYTHING: IsKept = () => true;

/** What is looked at for one list of roots and one workspace. */
interface Known {
  readonly workspace: string | null;
  readonly workspaces: readonly string[];
  readonly patterns: readonly FilePath[];
  /** Folders that are known by where they lie as well as by their names. */
  readonly named: readonly FilePath[];
  readonly seen: SeenLinks;
  /** Those that `isKept` was made for. */
  links: readonly SeenLink[] | null;
  isKept: IsKept;
  stretch: number;
}

export class KeptFiles {
  readonly #asked: KeptFilesAsked;
  readonly #now: () => number;
  readonly #workspaces: SeenWorkspaces;
  readonly #stretch = new Stretch();
  /** By the list of roots itself: the same list as long as the same is granted. */
  readonly #known = new WeakMap<readonly FilePath[], Known>();

  /** `now`: the clock that files have their times from. */
  constructor(asked: KeptFilesAsked, now: () => number = Date.now) {
    this.#asked = asked;
    this.#now = now;
    this.#workspaces = new SeenWorkspaces(asked.folders.state, now);
  }

  /** As it is now: a link that was made, or a workspace that was trusted, before a call was asked for is known to it. */
  of(roots: readonly FilePath[], workspace: string | null): IsKept {
    const now = this.#stretch.now;
    const before = this.#known.get(roots);
    if (before?.stretch === now && before.workspace === workspace) return before.isKept;
    const workspaces = this.#workspaces.now();
    if (workspaces === null) return EVERYTHING;
    const isSame = before?.workspaces === workspaces && before.workspace === workspace;
    const known = isSame ? before : this.#begin(roots, workspaces, workspace);
    if (!isSame) this.#known.set(roots, known);
    known.isKept = this.#look(known, roots);
    known.stretch = now;
    return known.isKept;
  }

  #begin(roots: readonly FilePath[], known: readonly string[], workspace: string | null): Known {
    const { home, folders, program } = this.#asked;
    const workspaces = [...known, ...(workspace === null ? [] : [workspace])].map(segmentsOf);
    const ours = [folders.state, folders.config, program].flatMap((one) => (one === null ? [] : [segmentsOf(one)]));
    const homeNamed = home === null ? null : segmentsOf(home);
    const patterns = keptPaths({ home: homeNamed, workspaces, ours, roots });
    const named = [...workspaces, ...ours, ...(homeNamed === null ? [] : [homeNamed])];
    const seen = new SeenLinks([...patterns, ...named]);
    return { workspace, workspaces: known, patterns, named, seen, links: null, isKept: EVERYTHING, stretch: -1 };
  }

  #look(known: Known, roots: readonly FilePath[]): IsKept {
    const links = known.seen.look(this.#now());
    const before = known.links;
    known.links = null;
    if (links === null) return EVERYTHING;
    // Where a link is on the way to one of those folders, it has another name, and other names are kept by it.
    const isElsewhere = links.some(({ path }) => known.named.some((one) => path.every((name, at) => name === one[at])));
    if (isElsewhere) return keptFiles(this.#asked, roots, known.workspaces, known.workspace);
    known.links = links;
    if (before !== null && isSameLinks(before, links)) return known.isKept;
    return isKeptBy([...known.patterns, ...behind(known.patterns, links)]);
  }
}

/** The same without anything that is known from before: folders by the names they are known by, and by where they lie. */
function keptFiles(
  { home, folders, program }: KeptFilesAsked,
  roots: readonly FilePath[],
  known: readonly string[],
  workspace: string | null,
): IsKept {
  const workspaces = [...known, ...(workspace === null ? [] : [workspace])].flatMap(namesOf);
  const ours = [folders.state, folders.config, program].flatMap((one) => (one === null ? [] : namesOf(one)));
  const homeReal = home === null ? null : (realRoot(segmentsOf(home)) ?? segmentsOf(home));
  const patterns = keptPaths({ home: homeReal, workspaces, ours, roots });
  const found = findNames(patterns);
  if (found === null) return EVERYTHING;
  const links = found.filter(({ kind }) => kind === "link");
  return isKeptBy([...patterns, ...behind(patterns, links)]);
}

/** What patterns name behind links that they come by. */
function behind(patterns: readonly FilePath[], links: readonly SeenLink[]): readonly FilePath[] {
  return links.flatMap(({ path, target }) => {
    if (target === null) return [];
    return patterns
      .filter((pattern) => path.every((name, at) => pattern[at] === "*" || pattern[at] === name))
      .map((pattern) => [...target, ...pattern.slice(path.length)]);
  });
}

/** By the name it is known by, and by where it lies. */
function namesOf(path: string): readonly FilePath[] {
  const named = segmentsOf(path);
  const real = realRoot(named);
  return real === null ? [named] : [named, real];
}

function isSameLinks(left: readonly SeenLink[], right: readonly SeenLink[]): boolean {
  return left.length === right.length && left.every((one, at) => isSameLink(one, right[at] as SeenLink));
}

function isSameLink(left: SeenLink, right: SeenLink): boolean {
  return textOf(left.path) === textOf(right.path) && textOf(left.target) === textOf(right.target);
}

/** No name holds a slash. */
function textOf(path: FilePath | null): string | null {
  return path === null ? null : path.join("/");
}
