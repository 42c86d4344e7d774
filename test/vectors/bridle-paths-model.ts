// A layout as text, and where a path in it leads: a second implementation of our rule and the seed's, without a disk.
import type { JsonObject } from "../../src/core/base/json.ts";
import { layoutEntries } from "./layout.ts";
import { HOME, WORK } from "./machine.ts";
import { isAtOrBelow, pathWords } from "./model-words.ts";
import { textOr } from "./row.ts";

/** The layout of the first of the two families, for the second, which only refers to it. */
const SHARED = [
  "<ROOT>/allowed/sub/",
  "<ROOT>/allowed/escape->../secret",
  "<ROOT>/allowed/inlink->sub",
  "<ROOT>/allowed/dangling-><ROOT>/nowhere",
  "<ROOT>/secret/loot.txt",
  "<ROOT>/alias->allowed",
  "<ROOT>/allowedx/",
].join(", ");

export function layoutOf(header: JsonObject): string {
  const words = textOr(header, "layout", "");
  return words.includes("<ROOT>") ? words : SHARED;
}

const linksMax = 40;

export class ModelDisk {
  readonly #links = new Map<string, string>();
  readonly #there = new Set<string>();

  constructor(words: string) {
    for (const entry of layoutEntries(words)) {
      const [path, target] = entry.split("->").map((part) => part.trim()) as [string, string | undefined];
      const names = wordsOf(path);
      for (let depth = 1; depth <= names.length; depth++) this.#there.add(names.slice(0, depth).join("/"));
      if (target !== undefined) this.#links.set(names.join("/"), target);
    }
  }

  /** Follows every link, whether or not its target exists. Null for a cycle. */
  follow(path: readonly string[]): readonly string[] | null {
    let here: string[] = [];
    const ahead = [...path];
    for (let links = 0; ahead.length > 0; ) {
      const name = ahead.shift() as string;
      if (name === "..") here.pop();
      if (name === ".." || name === "." || name === "") continue;
      const target = this.#links.get([...here, name].join("/"));
      if (target === undefined) {
        here.push(name);
        continue;
      }
      if (++links > linksMax) return null;
      if (isAbsolute(target)) here = [];
      ahead.unshift(...target.split("/"));
    }
    return here;
  }

  /** Whether a link on the way leads to a path that the layout does not have. */
  dangles(path: readonly string[]): boolean {
    return path.some((_, at) => {
      const part = path.slice(0, at + 1);
      const end = this.follow(part);
      return this.#meets(part) && (end === null || !this.#exists(end));
    });
  }

  /** The deepest existing part, resolved, and the rest as written: a dangling link is a name. */
  canonical(path: readonly string[]): readonly string[] | null {
    for (let depth = path.length; depth >= 0; depth--) {
      const end = this.follow(path.slice(0, depth));
      if (end === null || !this.#exists(end)) continue;
      const rest = path.slice(depth);
      return rest.includes("..") ? null : [...end, ...rest];
    }
    return null;
  }

  #meets(path: readonly string[]): boolean {
    const parent = this.follow(path.slice(0, -1));
    return parent !== null && this.#links.has([...parent, path.at(-1) as string].join("/"));
  }

  /** Paths outside the layout are the machine's own: its top folders are assumed to exist. */
  #exists(path: readonly string[]): boolean {
    return path.length === 0 || this.#there.has(path.join("/")) || (path[0] !== "<ROOT>" && path.length === 1);
  }
}

function isAbsolute(text: string): boolean {
  return text.startsWith("/") || text.startsWith("<ROOT>");
}

/** `<ROOT>` stands for a folder at the top. */
export function wordsOf(path: string): readonly string[] {
  return pathWords(path.startsWith("<ROOT>") ? `/${path}` : path, WORK, HOME);
}

/** Our rule: by the requested name, and by its target; a protected path only under a root that names it. */
export function isCovered(
  disk: ModelDisk,
  path: readonly string[],
  roots: readonly (readonly string[])[],
  guards: readonly (readonly string[])[],
): boolean {
  const opens = (asked: readonly string[], root: readonly string[]): boolean =>
    isAtOrBelow(asked, root) &&
    guards.every(
      (guard) => !isAtOrBelow(asked, guard.map(anyName(asked))) || isAtOrBelow(root, guard.map(anyName(root))),
    );
  const end = disk.follow(path);
  // A root that is a dangling link could become anything: it opens nothing.
  const firm = roots.filter((root) => !disk.dangles(root));
  if (end === null || !firm.some((root) => opens(path, root))) return false;
  return firm.some((root) => opens(end, disk.follow(root) ?? root) || opens(end, root));
}

function anyName(path: readonly string[]): (name: string, at: number) => string {
  return (name, at) => (name === "*" ? (path[at] ?? name) : name);
}
