// The names a draft adds, by folder: a landed folder has its current names and these.
import type { ClassifiedChange } from "./classify.ts";
import { nameKey, pathKey } from "./spelling.ts";

type Path = readonly string[];

export class DraftNames {
  readonly #root: Path;
  readonly #folders = new Map<string, Set<string>>();
  readonly #targets = new Map<string, string>();
  /** By folder path as written: many names share one. */
  readonly #keys = new Map<string, string>();

  constructor(root: Path) {
    this.#root = root;
  }

  add({ kind, path, target }: ClassifiedChange): void {
    const name = path.at(-1);
    if (kind === "delete" || name === undefined) return;
    const parent = [...this.#root, ...path.slice(0, -1)];
    const written = parent.join("/");
    const folder = this.#keys.get(written) ?? pathKey(parent);
    this.#keys.set(written, folder);
    const names = this.#folders.get(folder) ?? new Set();
    names.add(nameKey(name));
    this.#folders.set(folder, names);
    if (kind === "link" && target !== undefined) this.#targets.set(`${written}/${name}`, target);
  }

  /** Whether the draft adds a name with this key to the folder. */
  has(folder: Path, key: string): boolean {
    return this.#folders.size > 0 && this.#folders.get(pathKey(folder))?.has(key) === true;
  }

  /** The target of a link that the draft adds. */
  target(path: Path): string | null {
    return this.#targets.size === 0 ? null : (this.#targets.get(path.join("/")) ?? null);
  }
}
