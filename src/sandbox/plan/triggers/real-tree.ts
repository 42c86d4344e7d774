// The real tree as the rules see it: one name at a time, links not followed. A port; `sandbox/drafts/triggers` reads
// the disk.

type Path = readonly string[];

export interface TreeEntry {
  readonly kind: "file" | "folder" | "link" | "other";
  /** The text of a link; null where it cannot be read, and for everything that is no link. */
  readonly target: string | null;
  /** Of a file with several hard links: device and inode, as `1:2`. */
  readonly identity: string;
  /** Hard links. */
  readonly links: number;
  readonly isExecutable: boolean;
}

export interface ListedName {
  readonly name: string;
  readonly kind: TreeEntry["kind"];
}

/** Paths are absolute. Bytes that are not UTF-8 are single surrogates, in names and in texts. */
export interface RealTree {
  /** Null for what does not exist or cannot be examined. */
  at(path: Path): TreeEntry | null;
  /** Null for what is no folder, cannot be listed or has more names than `namesMax`. */
  list(path: Path, namesMax: number): readonly ListedName[] | null;
  /** Null for what is no file or is longer than `charactersMax`. */
  text(path: Path, charactersMax: number): string | null;
}

export interface FollowedPath {
  /** Free of links as far as the path exists, the rest as written; null for a link cycle. */
  readonly end: Path | null;
  /** The links on the path. */
  readonly links: readonly Path[];
  /** Names that a `..` goes up from: a link of such a name would lead elsewhere. */
  readonly ups: readonly Path[];
}

/** The kernel's own limit. */
const linksMax = 40;
const stepsMax = 4_096;

/** Resolves every link in a path. */
export function followPath(tree: RealTree, path: Path): FollowedPath {
  const links: Path[] = [];
  const ups: Path[] = [];
  let at: Path = [];
  let rest = [...path];
  for (let steps = 0; rest.length > 0; steps++) {
    if (steps > stepsMax) return { end: null, links, ups };
    const name = rest.shift() as string;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (at.length > 0) ups.push(at);
      at = at.slice(0, -1);
      continue;
    }
    const next = [...at, name];
    const entry = tree.at(next);
    if (entry?.kind !== "link") {
      at = next;
      continue;
    }
    links.push(next);
    if (entry.target === null || links.length > linksMax) return { end: null, links, ups };
    if (entry.target.startsWith("/")) at = [];
    rest = [...entry.target.split("/"), ...rest];
  }
  return { end: at, links, ups };
}

/**
 * A path written in a file: `~/` is the home folder, relative paths start at `base`. Null where it is ambiguous. Every `..` stays:
 * where it leads depends on links, which `followPath` resolves.
 */
export function writtenPath(text: string, base: Path, home: Path | null): Path | null {
  if (text === "" || text.includes("\0")) return null;
  const isHome = text === "~" || text.startsWith("~/");
  if (isHome && home === null) return null;
  const start = isHome ? (home as Path) : text.startsWith("/") ? [] : base;
  const names = (isHome ? text.slice(1) : text).split("/").filter((name) => name !== "" && name !== ".");
  return [...start, ...names];
}
