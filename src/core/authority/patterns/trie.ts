// Many patterns in one structure: the cost of a look-up grows with the value and with the patterns that are
// still possible, not with the number of patterns.
import { globMatches } from "./segment.ts";
import type { Segments, Sequence } from "./sequence.ts";

interface Glob {
  readonly parts: readonly string[];
  readonly node: Node;
}

/** Globs of one node, by the text before their first star: only those that can begin so are tried. */
interface Globs {
  readonly byText: Map<string, Glob>;
  readonly byPrefix: Map<string, Glob[]>;
  readonly prefixLengths: number[];
}

/** Most places hold one grant or none: a number, then, and a list only where there are more. */
type Grants = number | number[];
const NONE = -1;

/**
 * Most literals end a pattern, and nothing else passes through them: such a leaf is a number in its parent, the grant
 * with what follows it. A look-up among many then touches one place of memory less, and a leaf costs nothing of its own.
 */
type Child = Node | number;
const LEAF_END = 0;
const LEAF_TAIL = 1;
const LEAF_REST = 2;
const LEAF_BITS = 2;

class Node {
  /** The one literal child, as long as there is only one. Most nodes never have a second. */
  text: string | null = null;
  child: Child | null = null;
  literals: Map<string, Child> | null = null;
  globs: Globs | null = null;
  one: Node | null = null;
  deep: Node | null = null;
  /** Grants whose pattern ends here. */
  ends: Grants = NONE;
  /** Grants that cover from here on as long as nothing guarded follows: their last segment is a deep star. */
  tails: Grants = NONE;
  /** Grants that cover from here on, whatever follows. */
  rests: Grants = NONE;
  /** This node is behind a deep star: it stays active over any unguarded segment. */
  readonly stays: boolean;
  /** The look-up that reached this node last; keeps the active set a set. */
  seen = 0;

  constructor(stays: boolean) {
    this.stays = stays;
  }
}

export class Trie {
  readonly #root = new Node(false);
  #lookup = 0;
  #found: number[] = [];
  #count = 0;
  /** Scratch, reused so that a decision makes no garbage. Nothing awaits while it is in use. */
  #here: Node[] = [];
  #next: Node[] = [];

  add(pattern: Sequence, grant: number): void {
    let node = this.#root;
    for (let at = 0; at < pattern.length; at++) {
      const segment = pattern[at] as Sequence[number];
      switch (segment.kind) {
        case "literal": {
          const leaf = leafKind(pattern, at + 1);
          if (leaf !== null && childOf(node, segment.text) === undefined) {
            setChild(node, segment.text, (grant << LEAF_BITS) | leaf);
            return;
          }
          node = literalNode(node, segment.text);
          break;
        }
        case "glob":
          node.globs ??= { byText: new Map(), byPrefix: new Map(), prefixLengths: [] };
          node = globNode(node.globs, segment.parts);
          break;
        case "one":
          node.one ??= new Node(false);
          node = node.one;
          break;
        case "deep":
          if (at === pattern.length - 1) {
            node.tails = withGrant(node.tails, grant);
            return;
          }
          node.deep ??= new Node(true);
          node = node.deep;
          break;
        case "rest":
          node.rests = withGrant(node.rests, grant);
          return;
      }
    }
    node.ends = withGrant(node.ends, grant);
  }

  /**
   * Puts the grants whose pattern matches into `found` behind the first `from`, and answers how many are there now. A
   * grant may come more than once.
   */
  find(value: Segments, found: number[], from: number): number {
    const { segments, guarded } = value;
    let here = this.#here;
    let next = this.#next;
    this.#lookup++;
    this.#found = found;
    this.#count = from;
    let count = this.#enter(this.#root, here, 0, guarded, 0);
    for (let at = 0; at < segments.length && count > 0; at++) {
      const text = segments[at] as string;
      const literalOnly = guarded !== null && guarded[at] === true;
      this.#lookup++;
      let size = 0;
      for (let index = 0; index < count; index++) {
        const node = here[index] as Node;
        const child = node.literals === null ? (node.text === text ? node.child : null) : node.literals.get(text);
        if (typeof child === "number") this.#leaf(child, guarded, at + 1, segments.length);
        else if (child != null) size = this.#enter(child, next, size, guarded, at + 1);
        if (literalOnly) continue;
        if (node.stays) size = this.#enter(node, next, size, guarded, at + 1);
        if (node.one !== null) size = this.#enter(node.one, next, size, guarded, at + 1);
        if (node.globs === null) continue;
        for (const length of node.globs.prefixLengths) {
          const globs = node.globs.byPrefix.get(text.slice(0, length));
          if (globs === undefined) continue;
          for (const glob of globs)
            if (globMatches(glob.parts, text)) size = this.#enter(glob.node, next, size, guarded, at + 1);
        }
      }
      const swap = here;
      here = next;
      next = swap;
      count = size;
    }
    for (let index = 0; index < count; index++) this.#append((here[index] as Node).ends);
    return this.#count;
  }

  /** Makes a node active, and the one behind its deep star, which may stand for nothing. */
  #enter(first: Node, active: Node[], from: number, guarded: Segments["guarded"], at: number): number {
    let size = from;
    for (let node: Node | null = first; node !== null && node.seen !== this.#lookup; node = node.deep) {
      node.seen = this.#lookup;
      active[size++] = node;
      if (node.rests !== NONE) this.#append(node.rests);
      if (node.tails !== NONE && (guarded === null || guarded.indexOf(true, at) < 0)) this.#append(node.tails);
    }
    return size;
  }

  #leaf(leaf: number, guarded: Segments["guarded"], at: number, length: number): void {
    const kind = leaf & ((1 << LEAF_BITS) - 1);
    if (kind === LEAF_END && at !== length) return;
    if (kind === LEAF_TAIL && guarded !== null && guarded.indexOf(true, at) >= 0) return;
    this.#found[this.#count++] = leaf >> LEAF_BITS;
  }

  #append(grants: Grants): void {
    if (typeof grants !== "number")
      for (let index = 0; index < grants.length; index++) this.#found[this.#count++] = grants[index] as number;
    else if (grants !== NONE) this.#found[this.#count++] = grants;
  }
}

function withGrant(grants: Grants, grant: number): Grants {
  if (grants === NONE) return grant;
  if (typeof grants === "number") return [grants, grant];
  grants.push(grant);
  return grants;
}

/** What kind of leaf a literal is, from what follows it; null where more of the pattern does. */
function leafKind(pattern: Sequence, next: number): number | null {
  if (next === pattern.length) return LEAF_END;
  const { kind } = pattern[next] as Sequence[number];
  if (next !== pattern.length - 1) return null;
  return kind === "deep" ? LEAF_TAIL : kind === "rest" ? LEAF_REST : null;
}

function childOf(node: Node, text: string): Child | undefined {
  if (node.literals !== null) return node.literals.get(text);
  return node.text === text && node.child !== null ? node.child : undefined;
}

function setChild(node: Node, text: string, child: Child): void {
  if (node.literals !== null) node.literals.set(text, child);
  else if (node.child === null || node.text === text) {
    node.text = text;
    node.child = child;
  } else {
    node.literals = new Map([
      [node.text as string, node.child],
      [text, child],
    ]);
  }
}

/** The node of a literal; a leaf that stood there moves into it. */
function literalNode(parent: Node, text: string): Node {
  const child = childOf(parent, text);
  if (typeof child === "object") return child;
  const node = new Node(false);
  if (child !== undefined) {
    const grant = child >> LEAF_BITS;
    const kind = child & ((1 << LEAF_BITS) - 1);
    if (kind === LEAF_END) node.ends = grant;
    else if (kind === LEAF_TAIL) node.tails = grant;
    else node.rests = grant;
  }
  setChild(parent, text, node);
  return node;
}

function globNode(globs: Globs, parts: readonly string[]): Node {
  const prefix = parts[0] as string;
  const text = parts.join("*");
  let glob = globs.byText.get(text);
  if (glob !== undefined) return glob.node;
  glob = { parts, node: new Node(false) };
  globs.byText.set(text, glob);
  const list = globs.byPrefix.get(prefix);
  if (list === undefined) {
    globs.byPrefix.set(prefix, [glob]);
    if (!globs.prefixLengths.includes(prefix.length)) globs.prefixLengths.push(prefix.length);
  } else list.push(glob);
  return glob.node;
}
