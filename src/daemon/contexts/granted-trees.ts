// The trees that a session's grants name, for the sandbox of its file worker. Every path is still decided by itself;
// the sandbox is the second barrier.
import type { Authority, Chain } from "../../core/authority/chain.ts";
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Sequence } from "../../core/authority/patterns/sequence.ts";
import type { FilePath } from "../../core/ports/files.ts";

type FileVerb = "fs.read" | "fs.write" | "fs.delete";

export interface GrantedTree {
  readonly path: FilePath;
  readonly mode: "read" | "write";
}

/** The worker's limit. */
const treesMax = 64;

type Roots = ReadonlyMap<string, FilePath>;
type LinkRoots = Readonly<Record<FileVerb, Roots>>;

export class GrantedTrees {
  /** A link is immutable, so its roots are computed once. */
  readonly #known = new WeakMap<CompiledLink, LinkRoots>();
  /** The last result for chains that begin with this link: the same links have the same trees. */
  readonly #last = new WeakMap<
    CompiledLink,
    { readonly authority: Authority; readonly trees: readonly GrantedTree[] }
  >();
  readonly #roots = new WeakMap<readonly GrantedTree[], readonly FilePath[]>();

  /** Those around or below `near` first, if there are too many. The same list for the same links. */
  of(authority: Authority, near: FilePath): readonly GrantedTree[] {
    const trees = this.#remembered(authority);
    if (trees.length <= treesMax) return trees;
    const isNear = ({ path }: GrantedTree): boolean => path.every((name, at) => name === near[at]);
    return [...trees.filter(isNear), ...trees.filter((tree) => !isNear(tree))].slice(0, treesMax);
  }

  /** The writable ones. The same list for the same trees. */
  writable(trees: readonly GrantedTree[]): readonly FilePath[] {
    const known = this.#roots.get(trees);
    if (known !== undefined) return known;
    const roots = trees.filter(({ mode }) => mode === "write").map(({ path }) => path);
    this.#roots.set(trees, roots);
    return roots;
  }

  #remembered(authority: Authority): readonly GrantedTree[] {
    const first = authority[0]?.[0];
    const last = first === undefined ? undefined : this.#last.get(first);
    if (last !== undefined && isSameAuthority(last.authority, authority)) return last.trees;
    const trees = this.#all(authority);
    if (first !== undefined) this.#last.set(first, { authority, trees });
    return trees;
  }

  #all(authority: Authority): readonly GrantedTree[] {
    const reading = this.#meets(authority, ["fs.read"]);
    const writing = this.#meets(authority, ["fs.write", "fs.delete"]);
    const around = this.#writable(authority);
    const modes = new Map<string, GrantedTree>();
    const add = (path: FilePath, mode: GrantedTree["mode"]): void => {
      // INVARIANT: a path that an agent could replace by a link is never opened by its name.
      const held = outermost(path, around);
      const key = keyOf(held);
      if (modes.get(key)?.mode !== "write") modes.set(key, { path: held, mode });
    };
    for (const path of writing.values()) add(path, "write");
    for (const path of reading.values()) add(path, "read");
    return [...modes.values()].sort((left, right) => (keyOf(left.path) < keyOf(right.path) ? -1 : 1));
  }

  #meets(authority: Authority, verbs: readonly FileVerb[]): Roots {
    const found = new Map<string, FilePath>();
    for (const chain of authority)
      for (const verb of verbs) for (const [key, path] of this.#meet(chain, verb)) found.set(key, path);
    return topmost(found);
  }

  #meet(chain: Chain, verb: FileVerb): Roots {
    const [first, ...rest] = chain.map((link) => this.#rootsOf(link)[verb]);
    return rest.reduce<Roots>((all, next) => meet(all, next), first ?? new Map());
  }

  /** Wherever an own link of an agent allows writing, whatever limits this call: another call may have no limit. */
  #writable(authority: Authority): Roots {
    const found = new Map<string, FilePath>();
    for (const chain of authority)
      for (const compiled of chain) {
        if (compiled.link.role !== "own") continue;
        for (const [key, path] of this.#rootsOf(compiled)["fs.write"]) found.set(key, path);
      }
    return found;
  }

  #rootsOf(compiled: CompiledLink): LinkRoots {
    const known = this.#known.get(compiled);
    if (known !== undefined) return known;
    const roots = { "fs.read": rootsOf(compiled, "fs.read"), "fs.write": rootsOf(compiled, "fs.write") };
    const made: LinkRoots = { ...roots, "fs.delete": rootsOf(compiled, "fs.delete") };
    this.#known.set(compiled, made);
    return made;
  }
}

function isSameAuthority(left: Authority, right: Authority): boolean {
  if (left === right) return true;
  return left.length === right.length && left.every((chain, at) => isSameChain(chain, right[at] as Chain));
}

function isSameChain(left: Chain, right: Chain): boolean {
  return left === right || (left.length === right.length && left.every((link, at) => link === right[at]));
}

function rootsOf({ link }: CompiledLink, verb: FileVerb): Roots {
  const found = new Map<string, FilePath>();
  for (const grant of link.grants)
    if (grant.verb.verb === verb) for (const path of rootsIn(grant)) found.set(keyOf(path), path);
  return topmost(found);
}

/** The folder a grant was written for; without one, the literal prefix of its patterns. */
function rootsIn({ scopes, root }: Grant): readonly FilePath[] {
  const [scope] = scopes;
  if (scope?.kind === "any") return [[]];
  if (scope?.kind !== "sequences") return [];
  return scope.of.map((pattern) => {
    const plain = plainStart(pattern);
    return root !== null && isWithin(plain, root) ? root : plain;
  });
}

function plainStart(pattern: Sequence): FilePath {
  const star = pattern.findIndex(({ kind }) => kind !== "literal");
  const plain = star < 0 ? pattern : pattern.slice(0, star);
  return plain.map((segment) => (segment.kind === "literal" ? segment.text : ""));
}

/** The intersection: of two trees the inner one. */
function meet(left: Roots, right: Roots): Roots {
  const found = new Map<string, FilePath>();
  for (const [key, path] of left) if (isBelowSome(path, right, 0)) found.set(key, path);
  for (const [key, path] of right) if (isBelowSome(path, left, 0)) found.set(key, path);
  return topmost(found);
}

function topmost(roots: Roots): Roots {
  return new Map([...roots].filter(([, path]) => !isBelowSome(path, roots, 1)));
}

/** `least`: minimum number of names further down; 0 includes the tree itself. */
function isBelowSome(path: FilePath, roots: Roots, least: number): boolean {
  for (let length = path.length - least; length >= 0; length--)
    if (roots.has(keyOf(path.slice(0, length)))) return true;
  return false;
}

function outermost(path: FilePath, roots: Roots): FilePath {
  for (let length = 0; length < path.length; length++) {
    const found = roots.get(keyOf(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return path;
}

function isWithin(path: FilePath, root: FilePath): boolean {
  return root.length <= path.length && root.every((name, at) => name === path[at]);
}

/** No name contains a slash. */
function keyOf(path: FilePath): string {
  return path.join("/");
}
