// Places that are protected on this machine besides what their names say: where links, hooks paths and includes lead.
import { nameKey } from "./spelling.ts";

type Path = readonly string[];

export interface ProtectedPlace {
  readonly class: "ask" | "never";
  readonly why: string;
}

interface Branch {
  readonly names: Map<string, Branch>;
  place: ProtectedPlace | null;
  /** Other names of what lies here: a protected link leads here. */
  aliases: readonly Path[];
}

export class ProtectedPlaces {
  readonly #root: Branch = branch();
  readonly #files = new Map<string, ProtectedPlace>();
  #partial: string | null = null;

  /** Everything at or below the path. */
  add(path: Path, place: ProtectedPlace): void {
    const at = this.#branch(path);
    at.place = stricter(at.place, place);
  }

  /** What lies at `path` is also reached by the name `alias`. */
  addAlias(path: Path, alias: Path): void {
    const at = this.#branch(path);
    if (!at.aliases.some((one) => one.join("/") === alias.join("/"))) at.aliases = [...at.aliases, alias];
  }

  /** A file with several names, by its identity. */
  addFile(identity: string, place: ProtectedPlace): void {
    this.#files.set(identity, stricter(this.#files.get(identity) ?? null, place));
  }

  /** Some triggers could not be looked at; the reason. */
  addPartial(reason: string): void {
    this.#partial ??= reason;
  }

  get partial(): string | null {
    return this.#partial;
  }

  file(identity: string): ProtectedPlace | null {
    return this.#files.get(identity) ?? null;
  }

  /** The strictest place that a path is or lies in. */
  find(path: Path): ProtectedPlace | null {
    let found: ProtectedPlace | null = null;
    for (const at of this.#way(path)) if (at.place !== null) found = stricter(found, at.place);
    return found;
  }

  /** The strictest place that lies below a path. */
  findBelow(path: Path): ProtectedPlace | null {
    const way = [...this.#way(path)];
    const start = way.length === path.length + 1 ? way[path.length] : undefined;
    return start === undefined ? null : strictestIn(start);
  }

  /** Other names of a path, through protected links. */
  aliases(path: Path): readonly Path[] {
    return [...this.#way(path)].flatMap((at, depth) => at.aliases.map((alias) => [...alias, ...path.slice(depth)]));
  }

  *#way(path: Path): Iterable<Branch> {
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

function stricter(left: ProtectedPlace | null, right: ProtectedPlace): ProtectedPlace {
  return left === null || (left.class === "ask" && right.class === "never") ? right : left;
}

/** Below a start, aliases count as well: a link in its way would lead them elsewhere. */
function strictestIn(start: Branch): ProtectedPlace | null {
  let found: ProtectedPlace | null = null;
  const waiting = [...start.names.values()];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at.place !== null) found = stricter(found, at.place);
    else if (at.aliases.length > 0) found = stricter(found, { class: "never", why: "a protected link leads below it" });
    waiting.push(...at.names.values());
  }
  return found;
}
