// The real tree as the rules see it: one name at a time, links not followed. A port; `sandbox/drafts/triggers` reads
// the disk.

type Path = readonly string[];

export interface TreeEntry {
  readonly kind: "file" | "folder" | "link" | "other";
  /** The text of a link; null for bytes that are not UTF-8, and for everything that is no link. */
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

/** Paths are absolute. */
export interface RealTree {
  /** Null for what does not exist or cannot be examined. */
  at(path: Path): TreeEntry | null;
  /** Null for what is no folder, cannot be listed or has more names than `namesMax`. */
  list(path: Path, namesMax: number): readonly ListedName[] | null;
  /** Null for what is no file or is longer than `charactersMax`. Bytes that are not UTF-8 are read as Latin-1. */
  text(path: Path, charactersMax: number): string | null;
}

export interface FollowedPath {
  /** Free of links as far as the path exists, the rest as written; null for a link cycle. */
  readonly end: Path | null;
  /** The links on the path. */
  readonly links: readonly Path[];
}

/** The kernel's own limit. */
const linksMax = 40;
const stepsMax = 4_096;

/** Resolves every link in a path. */
export function followPath(tree: RealTree, path: Path): FollowedPath {
  const links: Path[] = [];
  let at: Path = [];
  let rest = [...path];
  for (let steps = 0; rest.length > 0; steps++) {
    if (steps > stepsMax) return { end: null, links };
    const name = rest.shift() as string;
    if (name === "" || name === ".") continue;
    if (name === "..") {
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
    if (entry.target === null || links.length > linksMax) return { end: null, links };
    if (entry.target.startsWith("/")) at = [];
    rest = [...entry.target.split("/"), ...rest];
  }
  return { end: at, links };
}

/** A path written in a file: `~/` is the home folder, relative paths start at `base`. Null where it is ambiguous. */
export function writtenPath(text: string, base: Path, home: Path | null): Path | null {
  if (text === "" || text.includes("\0")) return null;
  const isHome = text === "~" || text.startsWith("~/");
  if (isHome && home === null) return null;
  const start = isHome ? (home as Path) : text.startsWith("/") ? [] : base;
  const path = [...start];
  for (const name of (isHome ? text.slice(1) : text).split("/")) {
    if (name === "..") path.pop();
    else if (name !== "" && name !== ".") path.push(name);
  }
  return path;
}
