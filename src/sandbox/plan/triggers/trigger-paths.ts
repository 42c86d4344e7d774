// Paths that are triggers on this machine in addition to trigger names: targets of links, hooks paths and includes.
import { nameKey } from "./spelling.ts";

type Path = readonly string[];

export interface TriggerPath {
  readonly class: "ask" | "never";
  readonly why: string;
}

interface Branch {
  readonly names: Map<string, Branch>;
  place: TriggerPath | null;
  /** Other names of this path: a protected link leads here. */
  aliases: readonly Path[];
}

export class TriggerPaths {
  readonly #root: Branch = branch();
  readonly #files = new Map<string, TriggerPath>();
  #partial: string | null = null;

  /** Everything at or below the path. */
  add(path: Path, place: TriggerPath): void {
    const at = this.#branch(path);
    at.place = stricter(at.place, place);
  }

  /** `path` is also reached by the name `alias`. */
  addAlias(path: Path, alias: Path): void {
    const at = this.#branch(path);
    if (!at.aliases.some((one) => one.join("/") === alias.join("/"))) at.aliases = [...at.aliases, alias];
  }

  /** A file with several hard links, by its identity. */
  addFile(identity: string, place: TriggerPath): void {
    this.#files.set(identity, stricter(this.#files.get(identity) ?? null, place));
  }

  /** Some triggers could not be examined; the reason. */
  addPartial(reason: string): void {
    this.#partial ??= reason;
  }

  get partial(): string | null {
    return this.#partial;
  }

  file(identity: string): TriggerPath | null {
    return this.#files.get(identity) ?? null;
  }

  /** The strictest trigger that a path is or lies in. */
  find(path: Path): TriggerPath | null {
    let found: TriggerPath | null = null;
    for (const at of this.#branches(path)) if (at.place !== null) found = stricter(found, at.place);
    return found;
  }

  /** The strictest trigger below a path. */
  findBelow(path: Path): TriggerPath | null {
    const branches = [...this.#branches(path)];
    const start = branches.length === path.length + 1 ? branches[path.length] : undefined;
    return start === undefined ? null : strictestIn(start);
  }

  /** Other names of a path, through protected links. */
  aliases(path: Path): readonly Path[] {
    return [...this.#branches(path)].flatMap((at, depth) =>
      at.aliases.map((alias) => [...alias, ...path.slice(depth)]),
    );
  }

  *#branches(path: Path): Iterable<Branch> {
    let at: Branch | undefined = this.#root;
    yield at;
    for (const name of path) {
      at = at.names.get(nameKey(name));
      if (at === undefined) return;
      yield at;
    }
  }

  #branch(path: Path): Branch {
    let at = this.#root;
    for (const name of path) {
      const key = nameKey(name);
      const next = at.names.get(key) ?? branch();
      at.names.set(key, next);
      at = next;
    }
    return at;
  }
}

function branch(): Branch {
  return { names: new Map(), place: null, aliases: [] };
}

function stricter(left: TriggerPath | null, right: TriggerPath): TriggerPath {
  return left === null || (left.class === "ask" && right.class === "never") ? right : left;
}

/** Aliases below a path count as well: a link on their path would lead them elsewhere. */
function strictestIn(start: Branch): TriggerPath | null {
  let found: TriggerPath | null = null;
  const waiting = [...start.names.values()];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at.place !== null) found = stricter(found, at.place);
    else if (at.aliases.length > 0) found = stricter(found, { class: "never", why: "a protected link leads below it" });
    waiting.push(...at.names.values());
  }
  return found;
}
