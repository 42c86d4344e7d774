// The link graph of records: every written link resolved to an id, and the backlinks.
import type { WrittenLink } from "./link-scanner.ts";

/** The members of a record that links use. */
export interface LinkSource {
  readonly id: string;
  /** Relative to the records folder, with its extension. */
  readonly path: string;
  readonly links: readonly WrittenLink[];
}

export interface ResolvedLink extends WrittenLink {
  /** The target record; null if there is none, or more than one. */
  readonly to: string | null;
}

export interface LinkGraph {
  /** In the order written. */
  linksOf(id: string): readonly ResolvedLink[];
  /** Ids of other records that link to this one, sorted. INVARIANT: exactly those with a link whose `to` is this id. */
  backlinksOf(id: string): readonly string[];
}

export function linkGraph(records: readonly LinkSource[]): LinkGraph {
  const resolver = new Resolver(records);
  const forward = new Map<string, readonly ResolvedLink[]>();
  const backward = new Map<string, Set<string>>();
  for (const record of records) {
    const links = record.links.map((link) => ({ ...link, to: resolver.resolve(link, record) }));
    forward.set(record.id, links);
    for (const { to } of links) {
      if (to === null || to === record.id) continue;
      const from = backward.get(to);
      if (from === undefined) backward.set(to, new Set([record.id]));
      else from.add(record.id);
    }
  }
  return {
    linksOf: (id) => forward.get(id) ?? [],
    backlinksOf: (id) => [...(backward.get(id) ?? [])].sort(),
  };
}

class Resolver {
  readonly #ids = new Set<string>();
  readonly #byPath = new Map<string, string>();
  /** By the last part of the id; null if several records share it. */
  readonly #byName = new Map<string, string | null>();

  constructor(records: readonly LinkSource[]) {
    for (const { id, path } of records) {
      this.#ids.add(id);
      this.#byPath.set(path, id);
      const name = id.slice(id.lastIndexOf("/") + 1);
      this.#byName.set(name, this.#byName.has(name) ? null : id);
    }
  }

  resolve({ kind, target }: WrittenLink, from: LinkSource): string | null {
    if (kind === "path") return this.#byPath.get(beside(from.path, target) ?? "") ?? null;
    if (this.#ids.has(target)) return target;
    const near = beside(from.id, target);
    if (near !== null && this.#ids.has(near)) return near;
    return this.#byName.get(target) ?? null;
  }
}

/** Resolves a path relative to the folder of another one; null if it leaves the records folder. */
function beside(path: string, target: string): string | null {
  const segments = path.split("/").slice(0, -1);
  for (const segment of target.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return null;
  }
  return segments.join("/");
}
